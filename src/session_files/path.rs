//! Paths into unread JSON: `event.part.text`, `choices.0.message`; `a.b|c` is the first of both that exists.

use super::raw::{Object, RawValue, is_object, items};

/// What stands at the first of the paths that leads to something; `null` is nothing.
pub(super) fn at<'a>(fields: &Object<'a>, paths: &str) -> Option<&'a RawValue> {
    paths.split('|').find_map(|path| {
        let mut names = path.split('.');
        let first = fields.get(names.next()?)?;
        names.try_fold(first, inner)
    })
}

/// One step further: a member by name, an element by number.
fn inner<'a>(raw: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    if is_object(raw) {
        return Object::of(raw).get(name);
    }
    let index: usize = name.parse().ok()?;
    items(raw).get(index).copied().filter(|item| *item != "null")
}

/// Something that stands at the path passes; `*` is any element.
pub(super) fn any(fields: &Object<'_>, path: &str, passes: &dyn Fn(&RawValue) -> bool) -> bool {
    let Some((list, rest)) = path.split_once(".*.") else {
        return at(fields, path).is_some_and(passes);
    };
    let list = at(fields, list).map(items).unwrap_or_default();
    list.into_iter()
        .filter(|item| is_object(item))
        .any(|item| at(&Object::of(item), rest).is_some_and(passes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"a":{"b":[{"c":1},null,{"c":"x"}]},"n":null,"e":"text"}"#;

    #[test]
    fn paths_lead_through_members_and_elements() {
        let fields = Object::of(JSON);
        let found = |paths| at(&fields, paths);
        assert_eq!(found("a.b.0.c"), Some("1"));
        assert_eq!(found("a.b.1.c|n|a.b.2.c|e"), Some("\"x\""));
        for nothing in ["", "n", "a.b.1", "a.b.9.c", "e.f", "a.b.c", "a.b.-1"] {
            assert_eq!(found(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_star_is_any_element() {
        let fields = Object::of(JSON);
        assert!(any(&fields, "a.b.*.c", &|raw| raw == "\"x\""));
        assert!(!any(&fields, "a.b.*.d", &|_| true));
        assert!(any(&fields, "e", &|_| true) && !any(&fields, "e.*.c", &|_| true));
    }
}
