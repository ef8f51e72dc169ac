"""Made messages of agents, for the fit alone: questions, calls and results, as session files hold them: texts in JSON strings.

What they say is of other chunks (code, documentation) or made of words; what a tool answers has the forms that programs print.
"""

import json
import re

from texts import WORDS, noise

TEXTS = 1600
# About the characters of each.
LENGTHS = (3000, 1500, 1500, 600, 3000, 1500)
FOLDERS = ("src", "lib", "core", "api", "test", "tests", "utils", "server", "client", "docs", "config", "app", "internal", "pkg", "scripts", "packages")
# What a session is about: code of a kind, and the endings of its files.
LANGUAGES = (
    ("code, JavaScript", ("js", "js", "js", "mjs", "test.js", "jsx", "json", "md")),
    ("code, Python", ("py", "py", "py", "_test.py", "toml", "md", "yml", "csv")),
    ("code, TypeScript", ("ts", "ts", "ts", "tsx", "test.ts", "json", "md")),
    ("code, JavaScript", ("js", "js", "ts", "vue", "spec.js", "css", "json", "html")),
    ("code, Python", ("py", "py", "py", "cfg", "json", "rst", "txt", "sh")),
    ("code", ("rs", "go", "rb", "php", "java", "c", "h", "md", "toml", "yml")),
    ("code, Rust", ("rs", "rs", "rs", "toml", "md")),
)
STEMS = "Al Bel Cor Dan Ed Fal Gar Hel In Jo Kar Lun Mar Nor Ol Per Quin Ros Sal Tor Ul Ver Wil Yar Zen".split()
TAILS = "a an den e er ia in is la line lo mar na ne on ra ric sen ta ton us vik".split()
LATER = ("Inc", "Ltd", "North", "South", "Group", "Bay", "Park", "& Sons", "II", "Labs", "West")


SENTENCE = re.compile(r"[A-Z][^.\n`*|:]{20,120}(?:\n[^.\n`*|:]{5,120})?[.:]")


class Writer:
    """Chooses by a hash chain: the same on every run."""

    def __init__(self, seed, code, endings, prose, sentences):
        self.seed, self.code, self.endings, self.prose, self.sentences = seed, code, endings, prose, sentences
        self.order, self.at = noise(8_000, seed), 0

    def number(self, below):
        if self.at + 4 > len(self.order):
            self.order, self.at = noise(8_000, self.seed + str(self.order[-8:])), 0
        found = int.from_bytes(self.order[self.at : self.at + 4])
        self.at += 4
        return found % below

    def pick(self, choices):
        return choices[self.number(len(choices))]

    def word(self):
        return self.pick(WORDS)

    def name(self):
        form = self.number(6)
        one, two = self.word(), self.word()
        return (one, f"{one}_{two}", f"{one}-{two}", one + two.capitalize(), one, two)[form]

    def path(self):
        folders = "/".join(self.pick(FOLDERS) if n == 0 else self.word() for n in range(self.number(3)))
        return "/".join(filter(None, (folders, f"{self.name()}.{self.pick(self.endings)}".replace("._", "_"))))

    def title(self):
        """A proper name."""
        name = self.pick(STEMS) + self.pick(TAILS)
        return f"{name} {self.pick(LATER)}" if self.number(3) else name

    def date(self):
        day = f"20{19 + self.number(9)}-{self.number(12) + 1:02d}-{self.number(28) + 1:02d}"
        clock = f"{self.number(24):02d}:{self.number(60):02d}"
        form = self.number(4)
        return (day, f"{day}T{clock}Z", f"{day} {clock}:{self.number(60):02d}", f"{day}T{clock}:{self.number(60):02d}.{self.number(1000):03d}Z")[form]

    def span(self):
        return self.pick((f"{self.number(24):02d}h {self.number(60):02d}m", f"{self.number(9)}d {self.number(24):02d}h", f"{self.number(90)}.{self.number(10)}s", f"{self.number(900)}ms", f"{self.number(59)} min", f"{self.number(24)}:{self.number(60):02d}:{self.number(60):02d}"))

    def mark(self):
        """A short one, of a place or a part."""
        return chr(65 + self.number(26)) + self.pick(("", chr(65 + self.number(26)), "-")) + str(1 + self.number(self.pick((9, 40))))

    def money(self):
        return self.pick((f"{self.number(9)},{self.number(1000):03d}.{self.number(100):02d}", f"{self.number(900)}.{self.number(100):02d}", str(self.number(20000))))

    def sentence(self):
        return self.pick(self.sentences)

    def phrase(self):
        """What a test or a commit is called."""
        words = self.sentence().rstrip(".:").split()
        return " ".join(words[: 3 + self.number(7)]).lower()

    def lines(self, least, most):
        """Lines of code, one after another."""
        found = [line for line in self.pick(self.code).splitlines() if line.strip()]
        count = least + self.number(most - least)
        first = self.number(max(1, len(found) - count))
        return found[first : first + count] or ["pass"]


def tests(it):
    """What a test runner prints."""
    form, out = it.number(6), []
    count = 4 + it.number(26)
    for n in range(count):
        if form == 0:
            out += [f"ok {n + 1} - {it.phrase()}", "  ---", f"  duration_ms {it.number(900)}{it.pick(('', '.', '.5'))}", "  ..."]
        elif form == 1:
            out.append(f"tests/test_{it.word()}.py::test_{it.phrase().replace(' ', '_')} {it.pick(('PASSED', 'PASSED', 'FAILED'))}")
        elif form == 2:
            out.append(f"test {it.word()}::tests::{it.phrase().replace(' ', '_')} ... ok")
        elif form == 3:
            out.append(f" ✓ {it.path()} ({it.number(40)} tests) {it.number(900)}ms")
        elif form == 4:
            out.append(f"  ✔ {it.phrase()} ({it.number(90)}.{it.number(999999)}ms)")
        else:
            out.append(f"--- PASS: Test{it.name().title()} (0.{it.number(100):02d}s)")
    if form in (0, 4):
        mark = "#" if form == 0 else "ℹ"
        out += [f"1..{count}"] * (form == 0) + [f"{mark} {name} {it.number(30)}" for name in ("tests", "suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms")]
    else:
        out.append(it.pick((f"=== {count} passed in {it.number(90)}.{it.number(100):02d}s ===", f"test result: ok. {count} passed; 0 failed; 0 ignored", f" Tests  {count} passed ({count})")))
    return out


def table(it):
    """Columns of even width, or cells by a mark."""
    columns = [it.pick((it.title, it.date, it.span, it.money, it.word, it.name, lambda: str(it.number(400)), it.mark, lambda: it.pick(("yes", "no", "true", "false", "-", "ok", "n/a")), lambda: f"{it.number(300)} {it.pick(('m', 'kB', 'MB', 'ms', 'kg', '%'))}")) for _ in range(4 + it.number(4))]
    rows = [[it.word() for _ in columns]] + [[make() for make in columns] for _ in range(6 + it.number(20))]
    form = it.number(4)
    if form == 0:
        return ["| " + " | ".join(row) + " |" for row in rows[:1]] + ["|" + "---|" * len(columns)] + ["| " + " | ".join(row) + " |" for row in rows[1:]]
    if form == 1:
        return [",".join(f'"{cell}"' if "," in cell else cell for cell in row) for row in rows]
    wide = [max(len(row[n]) for row in rows) for n in range(len(columns))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, wide)).rstrip() for row in rows]


def happenings(it):
    """What a program says has happened: when, what, to whom."""
    wide = it.number(4)
    day, clock = 1 + it.number(28), it.number(1440)
    start, form = f"20{19 + it.number(9)}-{it.number(12) + 1:02d}-", it.number(3)
    verbs = [it.word() for _ in range(3 + it.number(4))]
    codes = [it.mark() for _ in range(6)]
    out = []
    for _ in range(8 + it.number(30)):
        clock += it.number(90)
        day, clock = min(28, day + clock // 1440), clock % 1440
        hour, minute = divmod(clock, 60)
        when = (f"{start}{day:02d}T{hour:02d}:{minute:02d}Z", f"{start}{day:02d} {hour:02d}:{minute:02d}", f"{hour:02d}:{minute:02d}:{it.number(60):02d}")[form]
        detail = it.pick((it.span, it.word, it.money, it.phrase, lambda: f"{it.word()} {it.title()}, {it.word()} {it.span()}", lambda: f"{it.word()}={it.number(9000)}"))()
        cells = (it.pick(verbs), it.title(), it.pick((it.pick(codes), "-")), detail)
        out.append("  ".join((when, *(cell.ljust(size) for cell, size in zip(cells, (9, 18, 4, 0))))) if wide else " ".join((when, *cells)))
    return out


def listing(it):
    """Files of a folder."""
    form = it.number(4)
    paths = sorted(it.path() for _ in range(5 + it.number(25)))
    if form == 0:
        return [f"{path} {it.number(30000)}" for path in paths]
    if form == 1:
        return paths
    if form == 2:
        return [f"{it.number(30000):7d}  {path}" for path in paths]
    return [f"total {it.number(400)}"] + [f"-rw-r--r--  1 user  staff  {it.number(40000):6d} {it.pick(('Jan', 'Mar', 'Jun', 'Sep', 'Nov'))} {1 + it.number(28):2d} {it.number(24):02d}:{it.number(60):02d} {path.rpartition('/')[2]}" for path in paths]


def matches(it):
    """Lines that a search finds."""
    out = []
    space, trim = it.pick((" ", "")), it.number(2)
    for _ in range(2 + it.number(6)):
        path, at = it.path(), 1
        for line in it.lines(1, 4):
            at += 1 + it.number(40)
            out.append(f"{path}:{at}:{space}{line.strip() if trim else line}")
    return out if it.number(8) else [it.pick(("no match", "No matches found", "(no output)"))]


def change(it):
    """What git says has changed."""
    form = it.number(4)
    paths = [it.path() for _ in range(1 + it.number(5))]
    if form == 0:
        wide = max(len(path) for path in paths)
        out = [f" {path.ljust(wide)} | {it.number(40):2d} {'+' * (1 + it.number(12))}{'-' * it.number(9)}" for path in paths]
        return [*out, f" {len(paths)} files changed, {it.number(90)} insertions(+), {it.number(90)} deletions(-)"]
    if form == 1:
        return [f"{it.number(2**28):07x} {it.phrase()}" for _ in range(4 + it.number(12))]
    out = []
    for path in paths[:3]:
        body = it.lines(4, 18)
        at = 1 + it.number(300)
        out += [f"diff --git a/{path} b/{path}", f"index {it.number(2**28):07x}..{it.number(2**28):07x} 100644", f"--- a/{path}", f"+++ b/{path}", f"@@ -{at},{len(body)} +{at},{len(body)} @@"]
        out += [it.pick((" ", " ", " ", "-", "+")) + line for line in body]
    return out


def numbered(it):
    """A file with the numbers of its lines."""
    first, form = 1 + it.number(400), it.number(3)
    return [(f"{first + n:6d}\t{line}", f"{first + n}: {line}", f"{first + n:5d}→{line}")[form] for n, line in enumerate(it.lines(10, 60))]


def errors(it):
    """What a compiler or an interpreter complains of."""
    out, form = [], it.number(4)
    for _ in range(1 + it.number(6)):
        path, line, place = it.path(), it.number(900), it.number(80)
        if form == 0:
            out.append(f"{path}({line},{place}): error TS{2000 + it.number(900)}: Property '{it.name()}' does not exist on type '{it.name().title()}'.")
        elif form == 1:
            out += [f"error[E0{it.number(700):03d}]: {it.phrase()}", f"  --> {path}:{line}:{place}", "   |", f"{line} |     {it.lines(1, 2)[0].strip()}", "   |     ^^^^^^^^^"]
        elif form == 2:
            out += [f'  File "/home/user/{path}", line {line}, in {it.name()}', f"    {it.lines(1, 2)[0].strip()}"]
        else:
            out.append(f"    at {it.name()} (file:///app/{path}:{line}:{place})")
    first = {2: ["Traceback (most recent call last):"], 3: [f"Error: {it.phrase()}"]}.get(form, [])
    return [*first, *out, *it.pick(([], [f"{it.name().title()}Error: {it.phrase()}"], [f"exit code {it.number(3) + 1}"]))]


def prose(it):
    """Documentation, as it is."""
    text = it.pick(it.prose)
    start = it.number(max(1, len(text) - 1500))
    return text[start : start + 400 + it.number(1500)].splitlines()


def notes(it):
    """Rules and decisions in a list."""
    mark = it.pick(("- ", "* ", "{}. ", "D{} "))
    return [it.pick((f"# {it.phrase().capitalize()}", f"## {it.phrase().capitalize()}")), ""] + [mark.format(n + 1) + " ".join(it.sentence() for _ in range(1 + it.number(3))) for n in range(3 + it.number(8))]


def source(it):
    """A file of code."""
    text = it.pick(it.code)
    start = text.find("\n", it.number(max(1, len(text) - 1200))) + 1
    return text[start : start + 300 + it.number(2500)].splitlines()


def short(it):
    """What a tool says that has done something."""
    path = it.path()
    return [it.pick((f"The file {path} has been updated.", f"wrote {it.number(9000)} bytes to {path}", "ok", f"Applied 1 edit to {path}", f"{it.number(40)} files, {it.number(9000)} lines", f"{path}: {it.number(900)} lines", f"Successfully replaced text in {path}."))]


ANSWERS = (source, source, source, numbered, numbered, matches, matches, listing, table, happenings, tests, tests, change, change, errors, prose, prose, notes, short)


def call(it):
    """A tool's name and arguments."""
    path, name = it.path(), it.name()
    return it.pick(
        (
            lambda: ("read", {"path": path}),
            lambda: ("read_file", {"path": path, "offset": 1 + it.number(900), "limit": 40 * (1 + it.number(9))}),
            lambda: ("Read", {"file_path": f"/home/user/{it.word()}/{path}"}),
            lambda: ("grep", {"pattern": it.pick((name, f"\\b{name}\\b", f"^export |{name}", f"def {name}\\(")), "path": it.pick((".", "src", path))}),
            lambda: ("run", {"command": it.pick((f"node --test test/{it.word()}.test.js", f"pytest -q {path}", "git diff --stat", f"git log --oneline -{it.number(30)} -- {path}", f"sed -n '{it.number(99)},{100 + it.number(99)}p' {path}", f"grep -rn \"{name}\" {it.word()}/ | head -{it.number(60)}", f"cargo test -p {it.word()} 2>&1 | tail -{it.number(60)}", f"ls -la {it.pick(FOLDERS)}"))}),
            lambda: ("bash", {"command": f"cd /home/user/{it.word()} && {it.pick(('npm test', 'make', 'npx tsc --noEmit', 'git status --short', 'cat ' + path))}", "timeout": 1000 * it.number(120)}),
            lambda: ("edit", {"path": path, "old": "\n".join(it.lines(1, 6)), "new": "\n".join(it.lines(1, 8))}),
            lambda: ("Edit", {"file_path": path, "old_string": "\n".join(it.lines(1, 6)), "new_string": "\n".join(it.lines(1, 8)), "replace_all": False}),
            lambda: ("write", {"path": path, "content": "\n".join(it.pick((source, notes))(it))}),
            lambda: ("list", {"path": it.pick((".", it.pick(FOLDERS)))}),
        )
    )()


def remark(it):
    """What the model says beside its calls."""
    return it.pick(
        (
            lambda: f"I read `{it.path()}` first. {it.sentence()}",
            lambda: f"{it.sentence()} {it.sentence()}\n\n- {it.sentence()}\n- {it.sentence()}",
            lambda: f"The {it.word()} in {it.path()} is wrong: {it.sentence()} Next I run the tests.",
            lambda: " ".join(it.sentence() for _ in range(3)),
        )
    )()


# Each: a model's message and the results of its calls, as the parts of one format; `calls` are (id, name, arguments, answer).
def anthropic(text, calls):
    parts = [{"type": "text", "text": text}] if text else []
    yield [*parts, *({"type": "tool_use", "id": key, "name": name, "input": arguments} for key, name, arguments, _ in calls)]
    yield [{"type": "tool_result", "tool_use_id": key, "content": [{"type": "text", "text": answer}]} for key, _, _, answer in calls]


def plain(text, calls):
    yield [{"type": "text", "text": text}, *({"type": "tool_use", "id": key, "name": name, "input": arguments} for key, name, arguments, _ in calls)]
    for key, _, _, answer in calls:
        yield [{"tool_use_id": key, "type": "tool_result", "content": answer, "is_error": False}]


def pi(text, calls):
    parts = [{"type": "text", "text": text}] if text else []
    yield [*parts, *({"type": "toolCall", "id": key, "name": name, "arguments": arguments} for key, name, arguments, _ in calls)]
    for _, _, _, answer in calls:
        yield [{"type": "text", "text": answer}]


def openai(text, calls):
    pack = lambda arguments: json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    yield {"role": "assistant", "content": text or None, "tool_calls": [{"id": key, "type": "function", "function": {"name": name, "arguments": pack(arguments)}} for key, name, arguments, _ in calls]}
    for key, _, _, answer in calls:
        yield {"role": "tool", "tool_call_id": key, "content": answer}


def bare(text, calls):
    for key, name, arguments, answer in calls:
        yield {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": key}
        yield answer
    if text:
        yield text


FORMATS = (anthropic, plain, pi, openai, bare)


def sessions(sources):
    """Texts of messages, each a JSON value a line."""
    code = {kind: [one["text"] for one in sources if one["kind"] == kind] for kind, _ in LANGUAGES}
    english = [one["text"] for one in sources if one["kind"] == "English"]
    sentences = [re.sub(r"\s+", " ", found) for text in english for found in SENTENCE.findall(text)]
    out = []
    for at in range(TEXTS):
        kind, endings = LANGUAGES[at % len(LANGUAGES)]
        it = Writer(f"session {at}", code[kind], endings, english, sentences)
        form, wanted = FORMATS[at % len(FORMATS)], LENGTHS[at % len(LENGTHS)]
        style, count = it.number(4), it.number(300)
        lines = []
        while sum(map(len, lines)) < wanted:
            calls = []
            for _ in range(1 + it.number(3)):
                count += 1
                key = (f"call_{count:05d}", f"call_{it.number(2**32):08x}{it.number(2**32):08x}", f"toolu_01{it.number(2**40):x}", str(count))[style]
                answer = "\n".join(it.pick(ANSWERS)(it))[: it.pick((400, 1200, 3000))]
                calls.append((key, *call(it), answer))
            text = remark(it) if it.number(3) == 0 else ""
            lines += [json.dumps(part, ensure_ascii=False, separators=(",", ":")) for part in form(text, calls)]
            if it.number(6) == 0:
                lines.append(json.dumps([{"type": "text", "text": f"{it.sentence()} {it.sentence()}"}], ensure_ascii=False, separators=(",", ":")))
        text = "\n".join(lines)
        start = it.number(max(1, len(text) - wanted))
        out.append({"kind": "session", "language": "", "package": "made", "text": text[start : start + wanted]})
    return out
