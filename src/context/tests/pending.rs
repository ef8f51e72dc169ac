//! Calls that the provider lets stay open: their results come at any later time, or never.

use super::providers::host;
use super::*;

fn message(text: &str) -> Value {
    json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
}

fn call(id: &str, is_async: bool) -> Value {
    json!({ "type": "function_call", "call_id": id, "name": "slow", "arguments": "{}", "async": is_async })
}

fn output(id: &str, text: &str) -> Value {
    json!({ "type": "function_call_output", "call_id": id, "output": text })
}

#[test]
fn a_pending_call_gets_no_result_of_ours_and_its_own_stays_where_it_came() {
    for is_async in [true, false] {
        let start = [call("c", is_async), message("working")];
        let meanwhile = json!({ "role": "user", "content": "meanwhile?" });
        let histories = [
            (vec![meanwhile.clone()], true),
            (vec![output("c", "sunny"), meanwhile.clone()], false),
            (vec![meanwhile, message("yes"), output("c", "sunny")], true),
        ];
        for (rest, is_late) in histories {
            let mut host = host("openai-responses", "openai-responses", 0);
            host.ask("go");
            start.iter().chain(&rest).for_each(|item| host.append(item.clone()));
            let answer = host.request();
            assert_eq!(answer.repairs.is_empty(), is_async || !is_late, "{rest:?}");
            if is_async {
                assert_eq!(answer.items.len(), rest.len() + 3);
                assert_eq!(violations_sent(&host.session), []);
            }
        }
    }
}

#[test]
fn a_late_result_leaves_with_its_call() {
    let mut host = host("openai-responses", "openai-responses", 12_000);
    host.ask("go");
    host.request();
    let mut left = 0;
    for at in 0..30 {
        let (now, before) = (format!("c{at}"), format!("c{}", at - 3));
        host.append(call(&now, true));
        host.append(message(&words(150, "w")));
        host.ask(&format!("and {at}?"));
        if at >= 3 {
            host.append(output(&before, &words(300, "r")));
        }
        let answer = host.request();
        assert_eq!(violations_sent(&host.session), []);
        assert!(answer.fits);
        let ledger = &host.session.transcript.ledger;
        for block in ledger.blocks.iter().filter(|block| block.kind == crate::model::Kind::Result) {
            let call = ledger.block(block.pair).unwrap();
            assert_eq!(call.form == Form::Gone, block.form == Form::Gone, "{at}");
            left += usize::from(block.form == Form::Gone);
        }
    }
    assert!(left > 0);
}
