//! Session files as tables: which member of which record says what. `reader` carries them out.

use super::usage::Dialect;

/// How the records of one writer are read.
pub(super) struct Script {
    /// What comes before a value, and the path to it: together the kind of a record.
    pub(super) kind: &'static [(&'static str, &'static str)],
    /// When a record was written.
    pub(super) time: &'static str,
    /// Stands in the records of a subagent.
    pub(super) aside: &'static str,
    /// The first that names the kind counts.
    pub(super) rules: &'static [Rule],
}

/// What the records of some kinds say.
pub(super) struct Rule {
    /// Kinds; `*` at the end stands for anything.
    pub(super) kinds: &'static [&'static str],
    /// What such a record must hold; without it the record is broken.
    pub(super) needs: &'static str,
    /// Nothing: such records are known and no context.
    pub(super) acts: &'static [Act],
}

/// Something that a record says. The texts are paths.
pub(super) enum Act {
    /// The system prompt, beside the messages; the last one counts.
    System(&'static str),
    /// The tools.
    Tools(&'static str),
    /// The model's window.
    Window(&'static str),
    /// The model in use.
    Model(&'static str),
    /// A model call begins, unless it is the one of this key that is open.
    Step(&'static str),
    /// The same, and what follows is told by the first record of that call alone.
    First(&'static str),
    /// A model call begins if all that the open one asked for was answered, or none is open.
    GoesOn,
    /// The model says, in the call that is open.
    Say(&'static str),
    /// The model thinks.
    Think(&'static str),
    /// Who of several speaks.
    Speaker(&'static str),
    /// Calls in a list, or the record itself where the list is "".
    Calls { list: &'static str, id: &'static str, name: &'static str, arguments: &'static str },
    /// The items of a response: what the model thinks and says, and its calls.
    Items(&'static str),
    /// A result, of the call that was asked for where the id is "", and a note of the agent to it.
    Result { id: &'static str, content: &'static str, note: &'static str },
    /// A message of this role.
    Hear(&'static str, &'static str),
    /// The model says a text with an action in it, told again beside it or fenced.
    /// Where there are calls too, it is a text and no more.
    Acting { content: &'static str, action: &'static str, calls: &'static str },
    /// The answer to an action, where one is open; else a user's message.
    Reply(&'static str),
    /// What the call cost.
    Cost(&'static str, &'static Dialect),
    /// Everything before was folded.
    Fold {
        summary: &'static str,
        head: &'static str,
        before: &'static str,
        after: &'static str,
        unless: &'static str,
    },
    /// What the next fold removes ends here.
    FoldEnd,
    /// That fold removed the records of these ids alone, or those whose ids are from the first to the last.
    Forget { ids: &'static str, first: &'static str, last: &'static str },
    /// That fold left the newest messages in whose records this is there, so many of them.
    Keep { there: &'static str, this: &'static str, count: &'static str },
    /// The rest is told by records alone that hold this there.
    Only(&'static str, &'static str),
    /// An action: results name it as their cause, or the call that it makes.
    Action { id: &'static str, call: &'static str },
    /// A result of that call, or of what an action does that is not the model's: the rest is not told by such a one.
    Asked { call: &'static str, cause: &'static str },
}
