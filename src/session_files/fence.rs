//! Actions that a model writes into its text, between fences.

/// Languages of a block that is an action.
const LANGUAGES: [&str; 4] = ["mswea_bash_command", "bash", "sh", ""];
const FENCE: &str = "```";

/// The text without the action's block, and the action. `told`: the action as the file tells it beside the text; without it
/// the first block of a shell is one. Nothing: there is no action.
pub(super) fn fenced(text: &str, known_action: Option<&str>) -> Option<(String, String)> {
    let known_action = known_action.map(str::trim).filter(|action| !action.is_empty());
    let mut from = 0_usize;
    while let Some(start) = opening(text, from) {
        let (language, inside_at) = first_line(text, start.saturating_add(FENCE.len()));
        let inside = text.get(inside_at..).unwrap_or_default();
        // What is told may itself hold fences.
        let len = match known_action {
            Some(action) => {
                let skipped = inside.len().saturating_sub(inside.trim_start().len());
                inside
                    .trim_start()
                    .starts_with(action)
                    .then(|| skipped.saturating_add(action.len()))
            }
            None => LANGUAGES
                .contains(&language)
                .then(|| inside.find("\n```").or_else(|| inside.find(FENCE)))
                .flatten(),
        };
        if let Some(len) = len {
            let (command, rest) = inside.split_at_checked(len)?;
            let rest = rest.trim_start();
            let after = rest.strip_prefix(FENCE).unwrap_or(rest);
            let thought = [text.get(..start).unwrap_or_default(), after].concat();
            return Some((thought, command.to_owned()));
        }
        let closed = inside.find("\n```").map_or(0, |end| end.saturating_add(4));
        from = inside_at.saturating_add(closed);
    }
    known_action.map(|action| (text.to_owned(), action.to_owned()))
}

/// Where a line begins with a fence.
fn opening(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut at = 0_usize;
    loop {
        let found = at.saturating_add(rest.get(at..)?.find(FENCE)?);
        let place = from.saturating_add(found);
        if text.get(..place).is_some_and(|before| before.is_empty() || before.ends_with('\n')) {
            return Some(place);
        }
        at = found.saturating_add(FENCE.len());
    }
}

/// What stands until the end of the line, and where the next begins.
fn first_line(text: &str, at: usize) -> (&str, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    let next = at.saturating_add(rest.find('\n').map_or(rest.len(), |end| end.saturating_add(1)));
    (line.trim(), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, known_action: Option<&str>, expected: Option<(&str, &str)>) {
        let found = fenced(text, known_action);
        assert_eq!(found.as_ref().map(|(thought, action)| (&**thought, &**action)), expected);
    }

    #[test]
    fn the_first_block_of_a_shell_is_the_action() {
        check("a\n\n```bash\nls\n```\nb", None, Some(("a\n\n\nb", "ls")));
        check(
            "```json\n{}\n```\n```mswea_bash_command\ncat <<x\ny\n```",
            None,
            Some(("```json\n{}\n```\n", "cat <<x\ny")),
        );
        check("no `code` ``` here", None, None);
        check("```bash\nnever closed", None, None);
        check("```", None, None);
    }

    #[test]
    fn the_action_in_the_file_wins() {
        check(
            "t\n```\nedit 1:1\n```x```\nend\n```",
            Some("edit 1:1\n```x```\nend\n"),
            Some(("t\n", "edit 1:1\n```x```\nend")),
        );
        check("<run>ls</run>", Some("ls"), Some(("<run>ls</run>", "ls")));
        check("nothing", Some(" "), None);
    }
}
