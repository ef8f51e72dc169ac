//! Tokens of each request by kind of content, for a chart over all calls.

use litemap::LiteMap;

use crate::context::report::breakdown::{beside_messages, bucket_name, bucket_of};
use crate::context::session::Session;
use crate::model::BlockId;

/// Tokens by bucket, for each call.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// Names of the buckets, in the order in which they first came up.
    pub names: Vec<String>,
    numbers: LiteMap<String, usize>,
    /// The bucket of each block, and the tokens that are counted of it now.
    blocks: Vec<(usize, u32)>,
    /// Tokens of the blocks, by bucket.
    now: Vec<u32>,
    /// Of each call its tokens by bucket; a bucket that comes up later is not in it.
    calls: Vec<Vec<u32>>,
}

impl Layers {
    /// Adds the request that was just made. Only these blocks, in their order, are new or sent otherwise.
    pub(super) fn add(&mut self, session: &Session, blocks: impl IntoIterator<Item = BlockId>) {
        for at in blocks {
            let Some(block) = session.transcript.ledger.block(at) else { continue };
            if self.blocks.len() <= at.index() {
                let bucket = self.number(bucket_name(session, bucket_of(session, block)).concat());
                self.blocks.push((bucket, 0));
            }
            let Some((bucket, counted)) = self.blocks.get_mut(at.index()) else { continue };
            if let Some(tokens) = self.now.get_mut(*bucket) {
                *tokens = tokens.saturating_sub(*counted).saturating_add(block.now);
            }
            *counted = block.now;
        }
        let beside = beside_messages(session).into_iter().filter(|(_, tokens, _)| *tokens > 0);
        let beside: Vec<(usize, u64)> =
            beside.map(|(name, tokens, _)| (self.number(name.into()), tokens)).collect();
        let mut call = self.now.clone();
        for (bucket, tokens) in beside {
            if let Some(sum) = call.get_mut(bucket) {
                *sum = sum.saturating_add(u32::try_from(tokens).unwrap_or(u32::MAX));
            }
        }
        self.calls.push(call);
    }

    fn number(&mut self, name: String) -> usize {
        if let Some(&known) = self.numbers.get(&name) {
            return known;
        }
        let number = self.names.len();
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        self.now.push(0);
        number
    }

    /// Tokens of all calls: for each call as many as there are names.
    pub fn tokens(&self) -> Vec<u32> {
        let mut all = Vec::with_capacity(self.calls.len().saturating_mul(self.names.len()));
        for call in &self.calls {
            all.extend(call);
            all.resize(all.len().saturating_add(self.names.len().saturating_sub(call.len())), 0);
        }
        all
    }
}
