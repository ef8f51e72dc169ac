//! Rules for paths: Markdown files whose front matter names the files that they are about (A61-A64).

use super::section::Section;

/// A rule file that the host has read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Where it stands; its name is the file's without `.md`.
    pub path: String,
    /// Front matter and body.
    pub content: String,
}

/// Base priority of rules (A31).
const PRIORITY: u32 = 88;
/// Patterns of a rule that are read, and characters of one: what has more is no rule.
const MOST_PATTERNS: usize = 100;
const LONGEST_PATTERN: usize = 500;
/// UTF-8 bytes of a file's path, and folders from which on an absolute one is looked at: what is longer is no file.
const LONGEST_PATH: usize = 4_096;
const MOST_FOLDERS: usize = 64;
/// Ways that the braces of a pattern may come to.
const MOST_WAYS: usize = 500;

/// The rules that are about one of these files, as sections `rules:<name>`, by name; of two with the same name the first
/// given. A rule without front matter, patterns or body is none.
pub fn match_rules(rules: &[Rule], files: &[String]) -> Vec<Section<'static>> {
    let files: Vec<Vec<String>> = files.iter().map(|file| spellings(file)).collect();
    let mut sections: Vec<Section<'static>> = Vec::new();
    if files.is_empty() {
        return sections;
    }
    for rule in rules {
        let Some((patterns, body)) = parse(&rule.content) else { continue };
        let hit = files.iter().find_map(|file| {
            let pattern =
                patterns.iter().find(|pattern| file.iter().any(|file| matches(pattern, file)))?;
            Some((pattern, file.first()?))
        });
        let Some((pattern, file)) = hit else { continue };
        let name = name_of(&rule.path);
        sections.push(Section {
            key: format!("rules:{name}").into(),
            content: format!(
                "# Path-Based Rules: {name}\n\nApplies to: {}\n\n{body}\n\n",
                patterns.join(", ")
            )
            .into(),
            priority: PRIORITY,
            source: Some("rules".into()),
            scope: Some("task-local".into()),
            reason: Some(format!("{pattern} matches {file}").into()),
            evidence: vec![rule.path.clone()],
            ..Section::default()
        });
    }
    sections.sort_by(|a, b| a.key.cmp(&b.key));
    sections.dedup_by(|later, first| later.key == first.key);
    sections
}

fn name_of(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".md").unwrap_or(file)
}

/// A file under the names by which a pattern may know it: as given, and, of an absolute path, from each folder on.
fn spellings(file: &str) -> Vec<String> {
    let file = file.trim().replace('\\', "/");
    let absolute = file.starts_with('/') || file.as_bytes().get(1) == Some(&b':');
    let file = file.trim_start_matches("./").trim_start_matches('/').to_owned();
    if file.is_empty() || file.len() > LONGEST_PATH {
        return Vec::new();
    }
    let from_folders =
        |at: (usize, &str)| file.get(at.0.saturating_add(1)..).map(ToOwned::to_owned);
    let rest: Vec<String> = if absolute {
        file.match_indices('/').take(MOST_FOLDERS).filter_map(from_folders).collect()
    } else {
        Vec::new()
    };
    std::iter::once(file.clone()).chain(rest).collect()
}

/// A pattern without `/` is about a file's name wherever it stands; any other about its path from the root.
fn matches(pattern: &str, file: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_start_matches('/');
    let file = if pattern.contains('/') { file } else { file.rsplit('/').next().unwrap_or(file) };
    fast_glob::glob_match(pattern, file)
}

/// Whether a pattern is short enough, means no "all but", and tries no more than a few hundred ways: every brace multiplies them.
fn is_sane(pattern: &str) -> bool {
    let ways = |ways: usize, group: &str| {
        ways.saturating_mul(group.matches(',').count().saturating_add(1))
    };
    let pattern_ways = pattern.split('{').skip(1).fold(1, ways);
    pattern.len() <= LONGEST_PATTERN && !pattern.starts_with('!') && pattern_ways <= MOST_WAYS
}

/// The patterns and the body of a rule.
fn parse(content: &str) -> Option<(Vec<String>, String)> {
    let content = content.trim_start_matches('\u{feff}');
    let mut lines = content.split_inclusive('\n');
    if lines.next()?.trim() != "---" {
        return None;
    }
    let mut patterns: Vec<String> = Vec::new();
    let (mut in_paths, mut in_brackets, mut closed) = (false, false, false);
    let mut read = content.find('\n').map_or(content.len(), |end| end.saturating_add(1));
    for line in lines {
        read = read.saturating_add(line.len());
        let text = line.trim();
        if text == "---" {
            closed = true;
            break;
        }
        // A list in brackets may take several lines.
        let goes_on = (in_brackets || in_paths && text.starts_with('[')) && !text.starts_with('#');
        let named = text.strip_prefix("paths:").or_else(|| text.strip_prefix("globs:"));
        if let Some(inline) = named.or_else(|| goes_on.then_some(text)) {
            let inline = uncommented(inline);
            in_paths = inline.is_empty();
            let opened = inline
                .strip_prefix('[')
                .filter(|list| list.is_empty() || list.ends_with([',', ']']));
            in_brackets |= opened.is_some();
            let mut list = opened.unwrap_or(inline);
            if let Some(last) = list.strip_suffix(']').filter(|_| in_brackets) {
                (list, in_brackets) = (last, false);
            }
            for item in split_items(list) {
                add(&mut patterns, item);
            }
        } else if let Some(item) = text.strip_prefix('-').filter(|_| in_paths) {
            add(&mut patterns, uncommented(item));
        } else if !text.is_empty() && !text.starts_with('#') {
            in_paths = false;
        }
    }
    let body = content.get(read..)?.trim();
    (closed && !patterns.is_empty() && !body.is_empty()).then(|| (patterns, body.to_owned()))
}

/// Without a comment after it, and without white space.
fn uncommented(text: &str) -> &str {
    let quoted = text.trim_start().starts_with(['"', '\'', '[']);
    let end = if quoted { None } else { text.find(" #") };
    end.map_or(text, |end| text.get(..end).unwrap_or(text)).trim()
}

/// Items parted by commas outside braces and quotes.
fn split_items(list: &str) -> Vec<&str> {
    let (mut depth, mut quote) = (0usize, None);
    list.split(move |c: char| {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('{', None) => depth = depth.saturating_add(1),
            ('}', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0 && quote.is_none()
    })
    .collect()
}

fn add(patterns: &mut Vec<String>, item: &str) {
    let item = item.trim();
    let bare = ['"', '\'']
        .iter()
        .find_map(|quote| item.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(item);
    if !bare.is_empty() && is_sane(bare) && patterns.len() < MOST_PATTERNS {
        patterns.push(bare.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(path: &str, content: &str) -> Rule {
        Rule { path: path.into(), content: content.into() }
    }

    #[track_caller]
    fn applies(pattern: &str, file: &str) -> bool {
        let rules = [rule("r.md", &format!("---\npaths:\n  - \"{pattern}\"\n---\nbody"))];
        !match_rules(&rules, &[file.to_owned()]).is_empty()
    }

    /// A61: both styles of list, quotes, CRLF, a comment; what is no rule is left out and the others still count.
    /// Row A61.
    #[test]
    fn paths_of_a_rule_are_read_from_its_front_matter() {
        for content in [
            "---\npaths:\n  - \"**/*.ts\"\n---\nBe strict.",
            "---\npaths: [\"**/*.ts\", 'x/*.rs']\n---\nBe strict.\n",
            "---\r\npaths:\r\n  - '**/*.ts' \r\n---\r\nBe strict.\r\n",
            "\u{feff}---\ndescription: d\npaths: **/*.ts\nother: 1\n---\n\nBe strict.",
            "---\n# a comment\npaths:\n\n  # another\n  - **/*.ts # why\n  - {a,b}/*.rs\n---\nBe strict.",
            "---\nglobs: **/*.{ts,tsx}, src/*.js\n---\nBe strict.",
            "---\npaths:\n  [\n    \"x/*.rs\",\n    # a comment, too\n\n    \"**/*.ts\",\n  ]\n---\nBe strict.",
            "---\npaths: [\"x/*.rs\",\n  '**/*.ts']\nother: [\n---\nBe strict.",
        ] {
            let sections =
                match_rules(&[rule("rules/typescript.md", content)], &["src/a.ts".to_owned()]);
            assert_eq!(sections.len(), 1, "{content}");
            assert_eq!((&*sections[0].key, sections[0].priority), ("rules:typescript", 88));
            assert!(
                sections[0].content.ends_with("\n\nBe strict.\n\n"),
                "{:?}",
                sections[0].content
            );
        }
        for content in [
            "no front matter",
            "---\npaths: []\n---\nx",
            "---\npaths: a\nx",
            "---\nother: a\n---\nx",
            "",
            "---",
            "---\npaths: a\n---\n",
        ] {
            assert!(
                match_rules(&[rule("x.md", content)], &["a".to_owned()]).is_empty(),
                "{content}"
            );
        }
        let good = rule("good.md", "---\npaths: a\n---\nx");
        assert_eq!(match_rules(&[rule("bad.md", "---\n: ["), good], &["a".to_owned()]).len(), 1);
    }

    #[test]
    fn a_comma_in_quotes_belongs_to_the_pattern() {
        let content = "---\npaths: \"a,b.rs\", 'it\"s,c.rs', d.rs\n---\nx";
        let patterns = ["a,b.rs", "it\"s,c.rs", "d.rs"].map(str::to_owned).to_vec();
        assert_eq!(parse(content), Some((patterns, "x".to_owned())));
    }

    #[test]
    fn patterns_after_the_hundredth_are_ignored() {
        let names: Vec<String> = (1..=101).map(|at| format!("{at}.rs")).collect();
        let (patterns, _) = parse(&format!("---\npaths: {}\n---\nx", names.join(","))).unwrap();
        assert_eq!(patterns, names[..100]);
    }

    #[test]
    fn a_path_of_more_than_four_thousand_and_ninety_six_bytes_is_no_file() {
        assert!(applies("*.rs", &format!("{}.rs", "a".repeat(4_093))));
        assert!(!applies("*.rs", &format!("{}.rs", "a".repeat(4_094))));
    }

    #[test]
    fn a_section_of_rules_names_its_file_and_what_matched() {
        let rules = [rule("rules/rust.md", "---\npaths: '*.ts', src/*.rs\n---\nNo panics.")];
        assert_eq!(
            match_rules(&rules, &["src/a.rs".to_owned()]),
            [Section {
                key: "rules:rust".into(),
                content: "# Path-Based Rules: rust\n\nApplies to: *.ts, src/*.rs\n\nNo panics.\n\n"
                    .into(),
                priority: 88,
                protected: false,
                source: Some("rules".into()),
                scope: Some("task-local".into()),
                reason: Some("src/*.rs matches src/a.rs".into()),
                evidence: vec!["rules/rust.md".into()],
                stable: false,
            }]
        );
    }

    /// A62: no files, no rules; a name counts once.
    /// Row A62.
    #[test]
    fn a_rule_that_matches_several_files_is_included_once() {
        let rules = [
            rule("b/x.md", "---\npaths: '*'\n---\nfirst"),
            rule("a/x.md", "---\npaths: '*'\n---\nsecond"),
            rule("a.md", "---\npaths: '*'\n---\nz"),
        ];
        let files = ["f.rs".to_owned(), "g.rs".to_owned()];
        let sections = match_rules(&rules, &files);
        let keys: Vec<_> = sections.iter().map(|it| &*it.key).collect();
        assert_eq!(keys, ["rules:a", "rules:x"]);
        assert!(sections[1].content.contains("first"));
        assert!(match_rules(&rules, &[]).is_empty());
        assert!(match_rules(&rules, &[String::new(), " ".into()]).is_empty());
    }

    /// A64: what Java's globs miss, we match.
    /// Row A64.
    #[test]
    fn patterns_match_root_files_folders_and_other_spellings() {
        for (pattern, file, expected) in [
            ("**/*.java", "App.java", true),
            ("**/*.java", "a/b/App.java", true),
            ("*.ts", "src/a.ts", true),
            ("*.ts", "a.ts", true),
            ("src/*.ts", "src/a/b.ts", false),
            ("src/**", "src/a/b.ts", true),
            ("src/**/*.ts", "src/b.ts", true),
            ("src/*.ts", "./src/a.ts", true),
            ("./src/*.ts", "src/a.ts", true),
            ("src/*.ts", "/home/me/project/src/a.ts", true),
            ("src/*.ts", "C:\\project\\src\\a.ts", true),
            ("src/*.ts", "lib/src/a.ts", false),
            ("**/*.{ts,tsx}", "src/a.tsx", true),
            ("[ab].rs", "b.rs", true),
            ("[!ab].rs", "b.rs", false),
            ("a?.rs", "ab.rs", true),
            ("src/a.ts", "src/a.ts", true),
            ("*.ts", "a.tsx", false),
        ] {
            assert_eq!(applies(pattern, file), expected, "{pattern} {file}");
        }
    }

    /// Every brace multiplies the ways to try: patterns that would take for ever are left out.
    #[test]
    fn hostile_patterns_are_ignored_or_matched_quickly() {
        let file = format!("{}b", "a".repeat(200));
        for pattern in [
            "{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,b}}}}}}}}}}}}",
            &"{a,b,c}".repeat(10),
            &"*a".repeat(15),
            &"**/".repeat(60),
            "!x",
            "[",
            "{",
            "\\",
        ] {
            let _ = applies(pattern, &file);
        }
        assert!(!applies(&"{a,b,c}".repeat(10), "aaaaaaaaaa"));
        assert!(!applies("!x", "y"));
        assert!(applies(&format!("{}b", "*a".repeat(15)), &file));
    }

    /// Row A64.
    #[test]
    fn a_line_of_dashes_in_the_body_belongs_to_it() {
        let sections =
            match_rules(&[rule("x.md", "---\npaths: a\n---\none\n---\ntwo")], &["a".to_owned()]);
        assert!(sections[0].content.ends_with("one\n---\ntwo\n\n"));
    }
}
