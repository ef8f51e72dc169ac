/// An identifier in a block's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Its number; there are fewer than a quarter of 2^32.
    pub id: u32,
    /// It stands in the block's head: its first 200 characters.
    pub in_head: bool,
    /// It had no number before: whether it is a secret was looked at here.
    pub is_new: bool,
}

impl Occurrence {
    /// By number, the head's first, new ones first.
    ///
    /// # Example
    /// ```
    /// use plimsoll::model::Occurrence;
    /// let it = Occurrence { id: 7, in_head: true, is_new: false };
    /// assert_eq!((it.rank(), Occurrence::of_rank(it.rank())), (29, it));
    /// ```
    pub fn rank(self) -> u32 {
        (self.id << 2) | (u32::from(!self.in_head) << 1) | u32::from(!self.is_new)
    }

    /// The other way round.
    pub fn of_rank(rank: u32) -> Self {
        Self { id: rank >> 2, in_head: rank & 2 == 0, is_new: rank & 1 == 0 }
    }
}
