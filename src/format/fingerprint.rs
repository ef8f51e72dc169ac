//! Fingerprint of a message: 64 bits of its content, to recognize it without its object.

use crate::hash::{SPREAD, bytes, round as mix};
use crate::model::{Draft, Kind, Role};

/// 64 bits of a message's content: its role, texts, calls (name and arguments), results and images. Call ids and cache
/// markers are left out, so that a host's renaming or marking changes nothing. The same natively and in Wasm.
pub fn fingerprint(draft: &Draft<'_>) -> u64 {
    let role = match draft.role {
        Role::System => 1,
        Role::User => 2,
        Role::Assistant => 3,
        Role::Tool => 4,
    };
    let own = draft.parts.iter().filter(|part| !part.piece.mirror);
    let parts = own.fold(mix(0, role), |hash, part| {
        let kind = match part.piece.kind {
            Kind::Text => 1,
            Kind::Thinking => 2,
            Kind::Call => 3,
            Kind::Result => 4,
            Kind::Image => 5,
            Kind::Other => 6,
        };
        let name = if part.piece.kind == Kind::Call { &*part.piece.name } else { "" };
        let hash =
            mix(bytes(bytes(mix(hash, kind), name.as_bytes()), part.text.as_bytes()), part.media);
        mix(hash, u64::from(part.piece.error))
    });
    mix(parts, SPREAD)
}

/// The same with the ids of its calls: what tells a call from the same one that was made again.
pub fn with_call_ids(draft: &Draft<'_>) -> u64 {
    let calls = draft.parts.iter().filter(|part| part.piece.kind == Kind::Call);
    calls.fold(fingerprint(draft), |hash, part| bytes(hash, part.piece.id.as_bytes()))
}

/// Hash of a JSON text that is not kept: an image's source.
pub(super) fn of_json(json: &str) -> u64 {
    of_bytes(json.as_bytes()).max(1)
}

/// Hash of a message's JSON as it was written: two that differ in anything differ here.
pub fn of_bytes(json: &[u8]) -> u64 {
    bytes(0, json)
}

#[cfg(test)]
mod tests {
    use crate::format::Format;

    fn of(json: &str) -> u64 {
        super::fingerprint(&Format::Anthropic.read(json.as_bytes(), 0).unwrap())
    }

    #[test]
    fn ids_and_cache_markers_change_nothing() {
        let plain = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"new","z":1}]}"#;
        let other = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x","cache_control":{"type":"ephemeral"}},{"type":"new","z":1,"cache_control":{"type":"ephemeral"}}]}"#;
        assert_eq!(of(plain), of(other));
    }

    #[test]
    fn other_content_has_another_fingerprint() {
        let images = |data: &str| {
            format!(
                r#"{{"role":"user","content":[{{"type":"image","source":{{"type":"base64","data":"{data}"}}}}]}}"#
            )
        };
        let call = |name: &str, input: &str| {
            format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"{name}","input":{input}}}]}}"#
            )
        };
        let all = [
            of(r#"{"role":"user","content":"ab"}"#),
            of(r#"{"role":"assistant","content":"ab"}"#),
            of(
                r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
            ),
            of(
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#,
            ),
            of(
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x","is_error":true}]}"#,
            ),
            of(&images("AAAA")),
            of(&images("AAAB")),
            of(&call("n", "{}")),
            of(&call("m", "{}")),
            of(&call("n", r#"{"a":1}"#)),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
    }

    #[test]
    fn the_fingerprint_of_a_message_is_the_same_in_every_version() {
        assert_eq!(
            of(r#"{"role":"user","content":"It must be the same in every version."}"#),
            15_309_950_874_159_634_637
        );
        let long = format!(r#"{{"role":"user","content":"{}"}}"#, "A long one, too. ".repeat(20));
        assert_eq!(of(&long), 6_723_472_299_188_758_333);
    }
}
