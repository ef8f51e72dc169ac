//! The most that each part of the package may weigh, each with the reason for its figure.
//!
//! A gate is set by design, 1 to 2 % above what the part is meant to weigh. It is raised with what was added, and its
//! reason says so.

use anyhow::{Context, Result};

use crate::wasm::WASMS;

/// What of a part is weighed.
#[derive(Clone, Copy)]
enum Weight {
    Bytes,
    /// Compressed as a web server does.
    Brotli,
    /// Compressed as every web server does.
    Gzip,
}

struct Gate {
    part: &'static str,
    weight: Weight,
    most: u64,
    reason: &'static str,
}

#[rustfmt::skip]
const GATES: [Gate; 8] = [
    Gate { part: "plimsoll.wasm", weight: Weight::Bytes, most: 720_000,
        reason: "eight message formats, eight providers, ten presets, ten tokenizer families; 37,000 for pins that outlive their message, hosts that forget, cache markers and rules checked as a request grows; 20,000 for requests merged into the host's body, why one does not fit, thresholds of a model and lines that quote commands; 10,000 for the ContextBudget, which was inspect.wasm's; 10,000 for what a preset's system says in a summary, a forecast of the next edit, what was done in messages that are only shortened, and the sizes of documents; 17,000 for measures that are kept: 10,000 messages that are known are taken up in a third of the time, or an eighth in a new process; 13,000 for lines of results that stay word for word, in stubs and heads; 7,000 for lists that copies of a session share; 5,000 for what messages share with each other: a session takes a quarter less memory, and wakes and follows a late edit in a sixth to a quarter less time; 8,000 for calls that a host renames, of which the results follow, and for what is asked of a session before its messages come; 3,000 for private keys whose lines a tool has numbered, and for answers that are no summary; 4,000 for programs that call tools, whose results stay as they are in every format, and for sessions that are restored between a change of model and their next request; 8,000 for documents that are text, pictures inside blocks that are carried, items of OpenAI's that LangChain keeps beside the content, and 40 more forms of secrets with their places; 5,000 for messages that are read in one pass and long texts that come beside their JSON: a first request takes a sixth less time, in a new process a quarter; 1,700 for secrets in settings, code and command lines; 800 for an edit of an old message, which leaves what was decided before it; 3,500 for edits that build and check only what follows them: their turns take half the time; 2,500 for logins of curl and crafted texts, which take a fifth of the time; 2,500 for items with tools and settings that outlive a fold, Gemini's own tools in two contents, and toolsets of results; 11,500 less since an error is one word and options are refused in one place; replays and recorded views are in sessions.wasm; the aim is 540,000" },
    Gate { part: "plimsoll-node.wasm", weight: Weight::Bytes, most: 873_500,
        reason: "plimsoll.wasm for Node, built for speed: a cold request takes four fifths of the time, and 120,000 bytes more lie on a disk and cross no wire; 10,000 for lists that copies of a session share; 4,000 for what messages share and 8,000 for calls that a host renames, 3,000 for keys with numbered lines and answers that are no summary, 5,000 for programs that call tools and sessions restored after a change of model, as above; 10,000 for documents that are text, items beside the content and more forms of secrets, as above; 7,000 for messages that are read in one pass and long texts beside their JSON, as above; 3,000 for more secrets and edits of old messages, as above; 18,500 for the default weights of tokens, undecoded, which takes 2 ms off a start of 35; 3,000 for edits that build only what follows them, 2,500 for secrets and 3,500 for items that outlive a fold, as above; 4,000 for messages of Anthropic's that set tools or effort, its own compactions and newer kinds of content: before, one stopped the session or made the API refuse the request; 13,500 less for errors and options, as above" },
    Gate { part: "sessions.wasm", weight: Weight::Bytes, most: 842_500,
        reason: "replays and recorded views with all that they decide by, so that a page needs no other Wasm; 9,000 for messages that are compressed, which saves a quarter of the page's memory; 160,000 for the table of each agent's session files and the default tokenizer's table; 3,000 for Claude's managed agents, roles that no provider has, and ids that come twice; 2,000 for checkpoints; 10,000 for copies of sessions without secrets; 13,000 for files in pieces and messages that stay in the core, which save half of the memory of a read and a replay; 12,000 for summaries in a replay, which are planned and committed by the code of a live session; 13,000 for lines of results that stay word for word; 18,000 for lists that copies of a session share, inlined: the copies of a replay of 20 MB take a quarter of what they did; 9,000 for what agents write today: prompts typed while the model works, compactions that keep a part, subagents, turns taken back, models, responses as answers, and agents that are refused by name; 11,000 for documents that are text and more forms of secrets, as in plimsoll.wasm; 4,500 for messages that are read in one pass, the same code; 10,500 for sessions of Gemini CLI, with histories that are set anew; 2,000 for more secrets, as in plimsoll.wasm; 3,000 for edits that build only what follows them, as in plimsoll.wasm; 8,000 for sessions of Qwen Code, whose branches and compressions show what was sent, and for tasks of Roo Code; 10,000 for sessions of the newest agents: pi 1, whose files take messages back, replace them and keep the prompt; what Codex and Kimi keep through a compaction; and the prompt, the tools and the attachments of Claude Code; 3,500 less for errors and options, as above" },
    Gate { part: "inspector.html", weight: Weight::Gzip, most: 442_000,
        reason: "the page, which carries sessions.wasm: 359,000 of it, 7,000 of them for copies that share; the rest, 59,000, is the screens and the worker around the Wasm; 7,000 more of sessions.wasm for what agents write today and for documents and secrets, as its gate says: without them the page shows messages that were not sent and leaves out some that were; 2,600 more for messages that are read in one pass, as sessions.wasm's gate says; 6,000 more for sessions of Gemini CLI and more secrets, as sessions.wasm's gate says: whoever works with Gemini CLI could open none; 6,000 more for sessions of Qwen Code, logins and edits, as sessions.wasm's gate says, and 8,000 less since small functions are not inlined; 4,000 more for sessions of the newest agents, as sessions.wasm's gate says: without them the page shows what was not sent, and most of what Claude Code sends as unseen; 2,000 more for Anthropic's settings and compactions, as plimsoll-node.wasm's gate says; the aim is 420,000" },
    Gate { part: "prompt.wasm", weight: Weight::Bytes, most: 189_500,
        reason: "built for speed: a prompt is put together before an engine has optimized anything; 10,000 for AceClaw's order, the focus as a section, blocks for cache markers and the tools of every provider; 2,000 for answers of one value, whose glue in JavaScript is 6,000 bytes shorter; 3,000 less for errors, as above" },
    Gate { part: "compact.wasm", weight: Weight::Bytes, most: 164_500,
        reason: "the summarizer's job with redaction, and the default tokenizer's table; 2,500 for private keys whose lines a tool has numbered, and for answers that are no summary; 700 for an echo that is found in time linear in the transcript; 3,000 for what the user asked, two calls at a time, and retries that name what was missing; 9,000 for the library's search in texts, which takes no longer on crafted ones; 2,000 for 40 more forms of secrets, and secrets of several words; 1,500 for secrets in settings, code and command lines; 2,500 for logins of curl and crafted texts, which take a fifth of the time" },
    Gate { part: "candidates.wasm", weight: Weight::Bytes, most: 165_500,
        reason: "HMAC and the store, with the default tokenizer's table; 3,300 less for errors, as above" },
    Gate { part: "main", weight: Weight::Brotli, most: 334_000,
        reason: "a bundle of everything but session files, replays and the system prompt; 30,000 of it are what plimsoll.wasm's gate names, 5,000 for measures that are kept, 5,000 for lines of results that stay, 600 for typed arrays that cross by js-sys, 2,000 for keys with numbered lines, answers that are no summary, and compactions that a listener joins, and 1,500 for programs that call tools and sessions restored after a change of model; 2,500 for documents, items beside the content and secrets, as plimsoll.wasm's gate says; 2,000 for messages that are read in one pass and long texts beside their JSON; 1,500 for more secrets and edits of old messages, as plimsoll.wasm's gate says; 3,500 for edits that build only what follows them, logins and crafted texts, as there; 2,500 for Anthropic's settings and compactions, as plimsoll-node.wasm's gate says, and for adapters that refuse a manager of another format; the aim is 245,000, as plimsoll.wasm's is 540,000" },
];

/// A part of the package as it was measured.
pub struct Size {
    pub part: String,
    pub bytes: u64,
    pub brotli: u64,
    pub gzip: u64,
}

impl Size {
    /// Reads `NAME BYTES BROTLI GZIP`.
    pub fn read(words: &[&str]) -> Result<Self> {
        let [part, bytes, brotli, gzip] = words else { anyhow::bail!("unknown size: {words:?}") };
        let number = |text: &str| text.parse::<u64>().with_context(|| format!("{part}: {text}"));
        let part = (*part).to_string();
        Ok(Self { bytes: number(bytes)?, brotli: number(brotli)?, gzip: number(gzip)?, part })
    }
}

/// A line for each part with how much of its gate it uses, and what is wrong.
pub fn judge(sizes: &[Size]) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut broken) = (Vec::new(), Vec::new());
    for Size { part, bytes, brotli, gzip } in sizes {
        let Some(gate) = GATES.iter().find(|gate| gate.part == part) else {
            if WASMS.iter().any(|wasm| part.strip_suffix(".wasm") == Some(wasm.name)) {
                broken.push(format!("{part} has no gate: give it one in xtask/src/gates.rs"));
            }
            lines.push(format!("{part:<16} {bytes:>9} bytes, brotli {brotli}"));
            continue;
        };
        let Gate { most, reason, .. } = gate;
        let (weight, unit) = match gate.weight {
            Weight::Bytes => (*bytes, "bytes"),
            Weight::Brotli => (*brotli, "bytes of brotli"),
            Weight::Gzip => (*gzip, "bytes of gzip"),
        };
        let tenths = weight.saturating_mul(1000) / most;
        let used = format!("{}.{} %", tenths / 10, tenths % 10);
        lines.push(format!("{part:<16} {weight:>9} of {most:>7} {unit}, {used}: {reason}"));
        if weight > *most {
            broken
                .push(format!("{part} has {weight} {unit}, its gate is {most} ({used}): {reason}"));
        }
    }
    for gate in GATES.iter().filter(|gate| sizes.iter().all(|size| size.part != gate.part)) {
        broken.push(format!("{} has a gate and was not measured", gate.part));
    }
    (lines, broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_their_gates() -> Vec<Size> {
        let size = |Gate { part, most, .. }: &Gate| Size {
            part: (*part).to_string(),
            bytes: *most,
            brotli: *most,
            gzip: *most,
        };
        GATES.iter().map(size).collect()
    }

    #[test]
    fn a_part_may_use_its_gate_to_the_last_byte() {
        let (lines, broken) = judge(&at_their_gates());
        assert!(broken.is_empty(), "{broken:?}");
        assert!(lines.iter().all(|line| line.contains("100.0 %")), "{lines:?}");
    }

    #[test]
    fn one_byte_more_is_named_with_the_gate_and_its_reason() {
        for (at, gate) in GATES.iter().enumerate() {
            let mut sizes = at_their_gates();
            let size = &mut sizes[at];
            match gate.weight {
                Weight::Bytes => size.bytes += 1,
                Weight::Brotli => size.brotli += 1,
                Weight::Gzip => size.gzip += 1,
            }
            let (_, broken) = judge(&sizes);
            let [line] = broken.as_slice() else { panic!("{broken:?}") };
            for word in [gate.part, &gate.most.to_string(), gate.reason] {
                assert!(line.contains(word), "{line}");
            }
        }
    }

    #[test]
    fn every_wasm_has_a_gate() {
        for wasm in &WASMS {
            let name = format!("{}.wasm", wasm.name);
            assert!(GATES.iter().any(|gate| gate.part == name), "{name}");
        }
    }

    #[test]
    fn a_part_that_was_not_measured_is_named() {
        let mut sizes = at_their_gates();
        sizes.pop();
        assert_eq!(judge(&sizes).1, ["main has a gate and was not measured"]);
    }
}
