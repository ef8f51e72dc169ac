//! Sessions that are made from a number. Their sizes, times and repetitions lie on the limits of the policy and on both sides of them,
//! where those of real sessions seldom lie.

use plimsoll::hash::mix;

use super::support::{Norm, NormBlock, NormMessage};

/// Answers of the model in a session.
const CALLS: usize = 45;
/// Different identifiers.
const IDENTIFIERS: u64 = 90;
/// Tokens of arguments and results: only those of more than 200 are stubbed, only those of more than 60 are found to be alike.
const SIZES: [u32; 16] =
    [20, 60, 61, 100, 199, 200, 201, 210, 300, 400, 500, 600, 900, 1_200, 1_800, 2_400];
/// Seconds before a message; the prompt cache is cold after more than 300.
const SECONDS: [f64; 4] = [0.0, 5.0, 20.0, 60.0];
const SECONDS_OF_A_PERSON: [f64; 7] = [0.0, 5.0, 20.0, 60.0, 300.0, 301.0, 2_000.0];

/// Makes a session.
struct Maker {
    state: u64,
    norm: Norm,
    seconds: f64,
    /// Larger sizes grow with the window.
    factor: u32,
}

/// The session of this number, for a window.
pub(crate) fn made(seed: u64, window: u64) -> Norm {
    let idlen = (0..IDENTIFIERS).map(|id| 1 + u32::try_from(mix(id) % 9).unwrap()).collect();
    let mut maker = Maker {
        state: mix(seed),
        norm: Norm { name: name(seed), msgs: vec![], blocks: vec![], idlen },
        seconds: 1_000.0,
        factor: u32::try_from(window / 16_000).unwrap(),
    };
    for call in 0..CALLS {
        if call == 0 || maker.one_in(9) {
            maker.ask(call);
        }
        maker.answer(call);
    }
    maker.norm
}

pub(crate) fn name(seed: u64) -> String {
    format!("made-{seed:04}")
}

impl Maker {
    fn below(&mut self, end: u64) -> u64 {
        self.state = mix(self.state);
        self.state % end
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let at = self.below(all.len() as u64);
        all[usize::try_from(at).unwrap()]
    }

    /// Up to so many identifiers, each once: newer ones come up with the calls.
    fn identifiers(&mut self, most: u64, call: usize) -> Vec<u32> {
        let known = (2 * call as u64 + 5).min(IDENTIFIERS);
        let count = self.below(most + 1);
        let mut all = Vec::new();
        for _ in 0..count {
            let newest = if self.one_in(3) { known } else { known.min(12) };
            all.push(u32::try_from(known - 1 - self.below(newest)).unwrap());
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    fn size(&mut self, factor: u32) -> u32 {
        let size = self.one_of(&SIZES);
        // Limits up to here are the same for all windows.
        if size <= 210 { size } else { size * factor }
    }

    fn message(&mut self, role: &str) {
        self.seconds += match role {
            "u" => self.one_of(&SECONDS_OF_A_PERSON),
            _ => self.one_of(&SECONDS),
        };
        self.norm.msgs.push(NormMessage { r: role.into(), t: Some(self.seconds) });
    }

    /// The place of the new block.
    fn block(&mut self, kind: &str, tokens: u32, ids: Vec<u32>) -> usize {
        self.norm.blocks.push(NormBlock {
            m: self.norm.msgs.len() - 1,
            k: kind.into(),
            key: 0,
            pair: -1,
            th: 0,
            n: tokens,
            hd: vec![],
            ids,
        });
        self.norm.blocks.len() - 1
    }

    fn ask(&mut self, call: usize) {
        self.message("u");
        let tokens = self.one_of(&[5, 40, 100, 375, 376, 750, 1_500]) * self.factor;
        let ids = self.identifiers(4, call);
        self.block("text", tokens, ids);
        if self.one_in(4) {
            self.block("image", 1_000, vec![]);
        }
    }

    fn answer(&mut self, call: usize) {
        self.message("a");
        if self.one_in(3) {
            let tokens = self.one_of(&[1, 60, 300, 900]);
            self.block("think", tokens, vec![]);
        }
        let calls = self.below(4);
        if calls == 0 || self.one_in(2) {
            let tokens = self.one_of(&[10, 60, 200, 201, 700]);
            let ids = self.identifiers(3, call);
            self.block("text", tokens, ids);
        }
        let calls: Vec<usize> = (0..calls)
            .map(|_| {
                let (tokens, ids) = (self.size(1) / 2, self.identifiers(3, call));
                self.block("call", tokens, ids)
            })
            .collect();
        for (number, at) in calls.into_iter().enumerate() {
            if number == 0 || self.one_in(2) {
                self.message("t");
            }
            self.result(at, call);
        }
    }

    fn result(&mut self, of: usize, call: usize) {
        let (tokens, ids) = (self.size(self.factor), self.identifiers(9, call));
        let at = self.block("result", tokens, ids);
        // The same call as an earlier one, or the same text.
        let (key, th) = (self.below(30), self.below(60));
        let asking = &mut self.norm.blocks[of];
        (asking.key, asking.pair) = (key, i64::try_from(at).unwrap());
        let result = &mut self.norm.blocks[at];
        (result.key, result.pair, result.th) = (key, i64::try_from(of).unwrap(), th);
        result.hd = result.ids.iter().copied().take(2).collect();
    }
}
