//! States of a candidate, and the transitions between them (A92, D6).

/// What was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// How an error was got over.
    ErrorRecovery,
    /// What somebody likes.
    Preference,
    /// How something is done.
    Workflow,
    /// What is not to be done.
    AntiPattern,
    /// What might become a skill.
    SkillSeed,
}

/// Where a candidate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Observed; evidence is gathered.
    Shadow,
    /// Every gate was passed: it may go into a prompt.
    Promoted,
    /// It went into a prompt.
    InUse,
    /// It failed, and waits until its cool-down is over.
    Demoted,
    /// Nobody has seen it for a long time.
    Archived,
    /// The host wants no more of it.
    Rejected,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::ErrorRecovery, Self::Preference, Self::Workflow, Self::AntiPattern, Self::SkillSeed];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ErrorRecovery => "ERROR_RECOVERY",
            Self::Preference => "PREFERENCE",
            Self::Workflow => "WORKFLOW",
            Self::AntiPattern => "ANTI_PATTERN",
            Self::SkillSeed => "SKILL_SEED",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl State {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Shadow, Self::Promoted, Self::InUse, Self::Demoted, Self::Archived, Self::Rejected];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shadow => "SHADOW",
            Self::Promoted => "PROMOTED",
            Self::InUse => "IN_USE",
            Self::Demoted => "DEMOTED",
            Self::Archived => "ARCHIVED",
            Self::Rejected => "REJECTED",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Those that may follow.
    pub const fn next(self) -> &'static [Self] {
        match self {
            Self::Shadow => &[Self::Promoted, Self::Archived, Self::Rejected],
            Self::Promoted => &[Self::InUse, Self::Demoted, Self::Archived, Self::Rejected],
            Self::InUse => &[Self::Promoted, Self::Demoted, Self::Archived, Self::Rejected],
            Self::Demoted => &[Self::Shadow, Self::Promoted, Self::Archived, Self::Rejected],
            Self::Archived | Self::Rejected => &[],
        }
    }

    /// It may stand in a prompt.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Promoted | Self::InUse)
    }

    /// Nothing becomes of it any more.
    pub const fn is_over(self) -> bool {
        self.next().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F131, A92 and D6: every pair, valid or not.
    /// Row A92.
    #[test]
    fn each_state_leads_only_to_its_next_states() {
        let rows = [
            // S P I D A R
            "-+--++", "--++++", "-+-+++", "++--++", "------", "------",
        ];
        for (from, row) in State::ALL.into_iter().zip(rows) {
            for (to, sign) in State::ALL.into_iter().zip(row.chars()) {
                assert_eq!(from.next().contains(&to), sign == '+', "{from:?} to {to:?}");
            }
        }
    }

    #[test]
    fn names_of_states_and_kinds_are_read_as_they_are_written() {
        for state in State::ALL {
            assert_eq!(State::named(state.name()), Some(state));
        }
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.name()), Some(kind));
        }
        assert_eq!((State::named("shadow"), Kind::named("")), (None, None));
    }
}
