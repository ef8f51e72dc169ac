//! The rules of the providers once more, slowly, as each would apply them: an oracle for cases and properties.

use super::is_unsent;
use crate::model::{Kind, Piece, Role};
use crate::validity::*;
use Provider::{Anthropic, Bedrock, DeepSeek, Gemini, Kimi, Mistral, OpenAiChat, OpenAiResponses};

/// Whether the provider takes these; what is wrong with them. Roles are looked at where `as_placed` says that they stand as the
/// host puts them.
pub(super) fn accept(
    outlines: &[Outline],
    provider: Provider,
    options: Options,
) -> Result<(), String> {
    if provider == Gemini {
        return accept_contents(outlines);
    }
    if options.as_placed {
        roles_take_turns(outlines, provider, options.inline)?;
    }
    let merges = matches!(provider, Anthropic | OpenAiResponses);
    let sent = || outlines.iter().filter(|it| !is_unsent(it)).flat_map(|it| &it.pieces);
    let marks: u32 = sent().map(|it| it.marks.count_ones()).sum();
    let mut marked = sent().filter(|piece| piece.kind == Kind::Thinking && piece.marks > 0);
    if matches!(provider, Anthropic | Bedrock) && (marks > 4 || marked.next().is_some()) {
        return Err("cache markers".into());
    }
    let mut turns: Vec<(bool, Vec<&Piece>)> = Vec::new();
    for outline in outlines.iter().filter(|outline| !is_unsent(outline)) {
        if outline.pieces.is_empty() {
            return Err("an empty message".into());
        }
        let assistant = outline.role == Role::Assistant;
        match turns.last_mut() {
            Some((last, pieces)) if *last == assistant && (!assistant || merges) => {
                pieces.extend(&outline.pieces);
            }
            _ => turns.push((assistant, outline.pieces.iter().collect())),
        }
    }
    let mut used = Vec::new();
    for (at, (assistant, pieces)) in turns.iter().enumerate() {
        for piece in pieces {
            let wrong = if *assistant { Kind::Result } else { Kind::Call };
            if piece.kind == wrong || piece.blank || piece.broken_unicode || piece.bad_arguments {
                return Err(format!("{piece:?}"));
            }
        }
        if !assistant {
            let results = pieces.iter().filter(|piece| piece.kind == Kind::Result).count();
            if provider == Mistral && results > 0 && results < pieces.len() {
                return Err("the user after a tool".into());
            }
            let before = if at == 0 { [].as_slice() } else { turns[at - 1].1.as_slice() };
            let calls = before.iter().filter(|piece| piece.kind == Kind::Call);
            let mut calls: Vec<&str> = calls.map(|piece| &*piece.id).collect();
            let zone = pieces.iter().take_while(|piece| piece.kind == Kind::Result);
            let mut results: Vec<&str> = zone.map(|piece| &*piece.id).collect();
            if results.len() != pieces.iter().filter(|piece| piece.kind == Kind::Result).count() {
                return Err("a result after something else".into());
            }
            calls.sort_unstable();
            results.sort_unstable();
            if calls != results {
                return Err(format!("calls {calls:?}, results {results:?}"));
            }
            continue;
        }
        let thinking = |piece: &&Piece| piece.kind == Kind::Thinking;
        if pieces.iter().all(thinking)
            || (merges || provider == Bedrock) && pieces.last().is_some_and(thinking)
        {
            return Err("reasoning at the end".into());
        }
        for call in pieces.iter().filter(|piece| piece.kind == Kind::Call) {
            let legal = match provider {
                Anthropic => call.id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
                Bedrock => {
                    call.id.len() <= 64
                        && call.id.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c))
                }
                Mistral => call.id.chars().all(|c| c.is_ascii_alphanumeric()) && call.id.len() == 9,
                OpenAiChat | OpenAiResponses | Gemini | DeepSeek | Kimi => {
                    call.id.chars().count() <= 64 && call.id.trim() == &*call.id
                }
            };
            if !legal || call.id.is_empty() || used.contains(&&call.id) {
                return Err(format!("id {:?}", call.id));
            }
            used.push(&call.id);
        }
        if at + 1 == turns.len() {
            return Err("the assistant is last".into());
        }
        let answered = turns.get(at + 1).is_some_and(|(assistant, _)| !assistant);
        if !answered && pieces.iter().any(|piece| piece.kind == Kind::Call) {
            return Err("calls without results".into());
        }
    }
    let first = outlines.iter().find(|it| it.role != Role::System && !is_unsent(it));
    if first.is_some_and(|first| first.role != Role::User) {
        return Err("the first is not the user's".into());
    }
    if first.is_none() && !outlines.is_empty() {
        return Err("nothing of the user's".into());
    }
    Ok(())
}

/// Who follows whom, seen alone.
fn roles_take_turns(outlines: &[Outline], provider: Provider, inline: bool) -> Result<(), String> {
    let sent: Vec<_> = outlines.iter().filter(|it| !is_unsent(it)).collect();
    let mut begun = false;
    for (at, it) in sent.iter().enumerate() {
        let strict = matches!(provider, Anthropic | Bedrock | Gemini | Mistral);
        let own = inline && matches!(provider, Anthropic | Bedrock);
        if it.role == Role::System && own {
            return Err("the system among the messages".into());
        }
        if it.role == Role::System && begun && strict {
            return Err("the system in the middle".into());
        }
        begun |= it.role != Role::System;
        let Some(before) = at.checked_sub(1).map(|at| sent[at]) else { continue };
        let answers = |it: &Outline| it.pieces.iter().any(|piece| piece.kind == Kind::Result);
        let users = |it: &Outline| it.role == Role::User || inline && it.role == Role::Tool;
        let wrong = match provider {
            Bedrock => {
                users(before) && users(it)
                    || before.role == Role::Assistant && it.role == Role::Assistant
            }
            Mistral => {
                let user = |it: &Outline| it.role == Role::User && !answers(it);
                user(it) && (user(before) || answers(before))
                    || before.role == Role::Assistant && it.role == Role::Assistant
            }
            Anthropic | OpenAiChat | OpenAiResponses | Gemini | DeepSeek | Kimi => false,
        };
        if wrong {
            return Err(format!("{:?} after {:?}", it.role, before.role));
        }
    }
    Ok(())
}

/// Gemini's: each content is a turn, and the next one has as many results as it has calls.
fn accept_contents(outlines: &[Outline]) -> Result<(), String> {
    let sent: Vec<_> = outlines.iter().filter(|outline| !is_unsent(outline)).collect();
    let of = |at: usize, kind| -> Vec<&Piece> {
        let outline = sent.get(at);
        outline.iter().flat_map(|it| &it.pieces).filter(|piece| piece.kind == kind).collect()
    };
    let speaks = |at: usize| sent.get(at).map(|outline| outline.role == Role::Assistant);
    let mut used = Vec::new();
    for (at, outline) in sent.iter().enumerate() {
        let model = outline.role == Role::Assistant;
        let wrong = if model { Kind::Result } else { Kind::Call };
        if outline.pieces.iter().all(|it| model && it.kind == Kind::Thinking) {
            return Err("nothing said".into());
        }
        for piece in &outline.pieces {
            if piece.kind == wrong || piece.blank || piece.broken_unicode || piece.bad_arguments {
                return Err(format!("{piece:?}"));
            }
        }
        let calls = of(at, Kind::Call);
        let before = sent[..at].iter().rev().find(|it| it.role != Role::System);
        if !calls.is_empty() && before.is_none_or(|it| it.role == Role::Assistant) {
            return Err("a turn with calls after none of the user's".into());
        }
        for call in calls.iter().filter(|call| !call.id.is_empty()) {
            if call.id.trim() != &*call.id
                || call.id.chars().count() > 64
                || used.contains(&&call.id)
            {
                return Err(format!("id {:?}", call.id));
            }
            used.push(&call.id);
        }
        let mut results = of(at + 1, Kind::Result);
        if speaks(at + 1) != Some(false) {
            results.clear();
        }
        for call in calls.iter().filter(|call| !call.id.is_empty()) {
            if let Some(at) = results.iter().position(|result| result.id == call.id) {
                results.remove(at);
            } else if let Some(at) =
                results.iter().position(|it| it.id.is_empty() && it.name == call.name)
            {
                results.remove(at);
            } else {
                return Err(format!("no result for {:?}", call.id));
            }
        }
        for call in calls.iter().filter(|call| call.id.is_empty()) {
            let Some(at) = results.iter().position(|result| result.name == call.name) else {
                return Err(format!("no result for {:?}", call.name));
            };
            results.remove(at);
        }
        if !results.is_empty() {
            return Err("more results than calls".into());
        }
        if at == 0 && !of(0, Kind::Result).is_empty() {
            return Err("results first".into());
        }
    }
    let first = sent.iter().find(|it| it.role != Role::System);
    if first.is_some_and(|first| first.role != Role::User) {
        return Err("the first is not the user's".into());
    }
    if first.is_none() && !outlines.is_empty() {
        return Err("nothing of the user's".into());
    }
    if sent.last().is_some_and(|last| last.role == Role::Assistant) {
        return Err("the model is last".into());
    }
    Ok(())
}
