//! The order of sections in `AceClaw`'s requests, and the priorities that they have there (A31).

use super::tier::tier_priority;
use crate::sort::down;

/// A tier with less stands after the sections about the task.
const HIGH: u32 = 60;

/// Sections by the family of their key, in order, with their priorities. Tiers stand where `HIGH_TIERS` and `LOW_TIERS` say.
const FAMILIES: [(&str, u32); 8] = [
    ("base", 95),
    ("task-focus", 89),
    ("rules", 88),
    ("tool-guidance", 82),
    ("environment", 72),
    ("git", 40),
    ("skills", 58),
    ("candidates", 54),
];

/// Places between the families: tiers before `base`, sections with other keys after it, tiers between `git` and `skills`.
const HIGH_TIERS: i64 = -1;
const OTHERS: i64 = 5;
const LOW_TIERS: i64 = 55;

/// The priority of a section with this key, if it has one there.
pub fn base_priority(key: &str) -> Option<u32> {
    let (family, name) = key.split_once(':').unwrap_or((key, ""));
    if family == "memory" {
        return tier_priority(name);
    }
    FAMILIES.iter().find(|(known, _)| *known == family).map(|(_, priority)| *priority)
}

/// The keys that have a priority there.
pub fn known_keys() -> String {
    let mut keys = String::from("memory:<tier>");
    for (family, _) in FAMILIES {
        keys.push_str(", ");
        keys.push_str(family);
    }
    keys
}

/// The place of a section with this key and priority, lifted as it is for the request.
pub(super) fn place(key: &str, priority: u32) -> (i64, i64) {
    let (family, name) = key.split_once(':').unwrap_or((key, ""));
    if family == "memory" {
        let place = if priority >= HIGH { HIGH_TIERS } else { LOW_TIERS };
        return (place, down(tier_priority(name).unwrap_or(priority).into()));
    }
    let at = FAMILIES.iter().position(|(known, _)| *known == family);
    (at.map_or(OTHERS, |at| i64::try_from(at).unwrap_or(i64::MAX).saturating_mul(10)), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row A31.
    #[test]
    fn sections_have_the_base_priorities_of_aceclaw() {
        assert_eq!(base_priority("base"), Some(95));
        assert_eq!(base_priority("rules:ts"), Some(88));
        assert_eq!(base_priority("memory:journal"), Some(50));
        assert_eq!(base_priority("memory:other"), None);
        assert_eq!(base_priority("other"), None);
    }

    /// Row A31.
    #[test]
    fn a_tier_with_a_raised_priority_comes_before_the_base() {
        assert!(place("memory:journal", 62) < place("base", 95));
        assert!(place("memory:soul", 100) < place("memory:journal", 62));
        assert!(place("base", 95) < place("other", 1) && place("other", 1) < place("rules:a", 88));
        assert!(place("git", 40) < place("memory:journal", 50));
        assert!(place("memory:journal", 50) < place("skills", 70));
    }
}
