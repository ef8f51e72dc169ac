//! The way of `aceclaw`.

use super::*;
use crate::context::report::explain::explain;
use crate::context::request::build_request::violations_sent;
use crate::model::Kind;

/// F060: at the trigger nothing happens, one token above it something does.
/// Row A68.
#[test]
fn nothing_is_pruned_at_the_trigger() {
    let mut host = preset("aceclaw", 0, &json!({ "protectTurns": 1 }));
    worked(&mut host, 6, 4000);
    let size = u32::try_from(host.request().tokens).unwrap();
    // The least window of which 85 % is the size.
    let at = (u64::from(size) * 10_000).div_ceil(8500);
    for (window, edits) in [(at, 0), (at - 2, 6)] {
        let window = u32::try_from(window).unwrap();
        let mut host = preset("aceclaw", window, &json!({ "protectTurns": 1 }));
        worked(&mut host, 6, 4000);
        assert_eq!(host.request().edits.len(), edits, "{window} for {size}");
    }
}

/// Row A77.
#[test]
fn results_over_400_characters_keep_200_and_a_marker_and_reasoning_goes() {
    let mut host = preset(
        "aceclaw",
        3000,
        &json!({ "turn": "user", "protectTurns": 1, "format": "anthropic" }),
    );
    host.ask("go");
    for (id, chars) in [("a", 400), ("b", 401), ("c", 12_000)] {
        let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
        let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": { "path": id } });
        host.append(json!({ "role": "assistant", "content": [thinking, call] }));
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": text(1, chars), "is_error": chars == 401 });
        host.append(json!({ "role": "user", "content": [result] }));
    }
    host.append(json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "only", "signature": "s" }] }));
    host.ask("next");
    let answer = host.request();
    let marker = "\n\n[content pruned during context compaction";
    let stubs: Vec<_> = results(&answer);
    assert_eq!(stubs.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [4, 6]);
    for (_, stub) in &stubs {
        assert!(stub.starts_with(&(text(1, 200) + marker)), "{stub}");
    }
    let forms: Vec<_> =
        host.session.transcript.ledger.blocks.iter().map(|it| (it.kind, it.form)).collect();
    let thinking = forms.iter().filter(|(kind, _)| *kind == Kind::Thinking);
    let thinking: Vec<_> = thinking.map(|(_, form)| *form).collect();
    assert_eq!(thinking[..2], [Form::Gone; 2]);
    // F062: no message is left empty; one of reasoning alone is no message that its provider takes.
    assert_eq!(
        (thinking[3], explain(&host.session, 7.into()).unwrap().rule),
        (Form::Gone, "repair")
    );
    assert_eq!(explain(&host.session, 4.into()).unwrap().rule, "prune");
    assert_eq!(violations_sent(&host.session), []);
    assert!(answer.fits && answer.fold.is_none());
}

/// Rows A72, A80.
#[test]
fn pruning_comes_first_and_a_fold_only_if_it_is_not_enough() {
    let mut host = preset("aceclaw", 12_000, &json!({}));
    worked(&mut host, 15, 3000);
    let answer = host.request();
    assert!(answer.fold.is_none() && !answer.edits.is_empty(), "results go, that is enough");
    assert!(answer.edits.iter().all(|edit| edit.rule == "prune"), "{:?}", answer.edits);
    let outcome = answer.outcome.unwrap();
    assert_eq!((outcome.status, outcome.reason), ("pruned", "edits made room"));
    assert!(outcome.tokens_before > outcome.tokens_after && outcome.tokens_after == answer.tokens);
    let mut host = preset("aceclaw", 12_000, &json!({}));
    for at in 0..40 {
        host.ask(&format!("question {at}"));
        host.say(&text(at, 1600));
    }
    host.ask("and now?");
    let answer = host.request();
    let fold = answer.fold.expect("nothing to prune: a fold");
    assert_eq!(fold.first_kept, 72.into(), "five messages of the user's stay");
    assert!(answer.fits);
    // F079: asked for, below the trigger, it stops where pruning has reached the target.
    for (words, folds) in [(false, false), (true, true)] {
        let mut host = preset("aceclaw", 20_000, &json!({}));
        for at in 0..14 {
            host.ask(&format!("question {at}"));
            if words {
                host.say(&text(at, 4000));
            } else {
                host.work(&format!("c{at}"), &json!({}), &text(at, 4000));
            }
        }
        host.ask("and now?");
        host.session.decisions.pruner.fold_wanted = true;
        let answer = host.request();
        assert_eq!(answer.fold.is_some(), folds);
        assert!(folds || answer.tokens <= 12_000 && !answer.edits.is_empty());
    }
}
