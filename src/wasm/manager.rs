//! One session, held by the host.

use js_sys::{Uint8Array, Uint32Array};
use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{
    Bytes, Flag, LargeNumber, Nothing, Number, PerhapsBytes, PerhapsNumber, PerhapsNumbers,
    PerhapsText, Text, answer, done, plain, text, value,
};
use super::known_messages::KnownMessages;
use super::memory::{with_bytes, with_input, with_inputs};
use crate::context::{
    Alignment, Append, Appended, Options, Session, align, append_known, call_agent_tool,
    check_budget, check_history, commit_lines, commit_plan, compaction_failed, content_fingerprint,
    counted_texts, counted_texts_of_extras, estimate_history, estimate_since_reply, explain,
    extract_facts, extracted_so_far, flat_message, flush_prompt, forget_messages, is_same_message,
    keeps, last_turns, may_ask_summarizer, may_send, measures_of, merge_committed, new_pressure,
    next_is_summary, offer_known, offer_message, pin_matches, pin_message, pin_text,
    plan_checkpoint, plan_compaction, preset_summary_options, pressure_hint, recalled_text,
    record_outside, record_refusal, referenced_message, renamed_messages, renew_repairs, reread,
    restore_from, returning_messages, set_checkpoints, set_options, share_turns, snapshot_bytes,
    snapshot_with, split_measures, starts_late, status_json, status_line_of, take_counts, truncate,
    understood, unpaired_before, unpin, warning,
};
use crate::error::Result;
use crate::format::Format;
use crate::json::{fill_in, items, string, write};
use crate::model::MessageId;

/// A session: messages go in as JSON, requests come out as items.
#[wasm_bindgen]
pub struct Manager(Session);

#[wasm_bindgen]
impl Manager {
    /// A session with the options (JSON) in the input buffer.
    #[wasm_bindgen(constructor)]
    pub fn new(len: usize) -> Result<Self> {
        let options = with_input(len, Options::parse)?;
        Ok(Self(Session::new(options, Format::Anthropic)))
    }

    /// Options of summaries that the preset sets, as JSON.
    pub fn summary_of_preset(&self) -> Text {
        plain(preset_summary_options(&self.0))
    }

    /// Takes the next message, whose JSON is in the buffer in pieces of these lengths, with its long texts between them. False: the
    /// messages before it were read in the wrong format, start again.
    #[expect(clippy::needless_pass_by_value, reason = "what crosses is owned")]
    pub fn push(&mut self, lens: Vec<usize>) -> Flag {
        answer(with_inputs(&lens, |first, others| {
            Ok(self.0.push_json(fill_in(first, others).source())? == Append::Appended)
        }))
    }

    /// The measures of messages as bytes, from a number up to another, with the host's keys in the input buffer; none: the host
    /// counts by itself.
    pub fn measures(&self, from: u32, to: u32, len: usize) -> PerhapsBytes {
        let messages = MessageId::from(from).to(to.into());
        answer(with_input(len, |keys| {
            Ok(measures_of(&self.0, messages, keys).map(|it| Uint8Array::from(&*it)))
        }))
    }

    /// Appends messages by their measures, which are in the input buffer, from one of them up to another. How many; the next one is to
    /// be pushed. None: all are to be pushed again.
    pub fn append_known(&mut self, len: usize, from: u32, to: u32) -> PerhapsNumber {
        answer(with_bytes(len, |bytes| {
            let messages = MessageId::from(from).to(to.into());
            Ok(count_of(append_known(&mut self.0, bytes, messages)))
        }))
    }

    /// As `append_known`, by the measures that the host kept.
    pub fn append_from(&mut self, known: &mut KnownMessages, from: u32, to: u32) -> Option<u32> {
        count_of(known.0.append(&mut self.0, MessageId::from(from).to(to.into())))
    }

    /// The next message that is pushed is a summary.
    pub fn next_is_summary(&mut self) {
        next_is_summary(&mut self.0);
    }

    /// The texts of the message (JSON) in the input buffer that are counted, as JSON: for a counter of the host's.
    pub fn texts(&self, len: usize) -> Text {
        text(with_input(len, |json| Ok(write(&counted_texts(&self.0, json.as_bytes())?))))
    }

    /// The texts of the parts (JSON) in the input buffer that are counted, as JSON.
    #[expect(clippy::unused_self, reason = "asked of the same object as the texts of messages")]
    pub fn parts_texts(&self, len: usize) -> Text {
        text(with_input(len, |json| Ok(write(&counted_texts_of_extras(json)?))))
    }

    /// What the host's counter made of these texts, as JSON: for the message or parts that come next.
    pub fn count(&mut self, len: usize) -> Nothing {
        done(with_input(len, |json| take_counts(&mut self.0, json)))
    }

    /// Whether the message (JSON) in the input buffer is the one at `index`.
    pub fn same(&mut self, index: u32, len: usize) -> Flag {
        answer(with_input(len, |json| is_same_message(&mut self.0, index.into(), json.as_bytes())))
    }

    /// The message at `index` is this one (JSON) in the input buffer now: in content the same.
    pub fn reread(&mut self, index: u32, len: usize) -> Nothing {
        done(with_input(len, |json| reread(&mut self.0, index.into(), json.as_bytes())))
    }

    /// After all that were reread: repairs by their call ids of now. True: the core asks for all messages again.
    pub fn renew_repairs(&mut self) -> bool {
        renew_repairs(&mut self.0)
    }

    /// Messages that go out with other call ids than the host's.
    pub fn renamed(&self) -> Uint32Array {
        renamed_messages(&self.0).as_slice().into()
    }

    /// Messages that were not sent and come back when the next epoch opens, if there are any.
    pub fn returning(&self) -> Option<Uint32Array> {
        let messages = returning_messages(&self.0);
        (!messages.is_empty()).then(|| messages.as_slice().into())
    }

    /// The last message up to this one such that no result from it on answers a call before it.
    pub fn unpaired_before(&self, index: u32) -> u32 {
        unpaired_before(&self.0, index.into()).get()
    }

    /// The content of the message (JSON) in the input buffer, as a number that no other content has; `with_ids`: with the ids of its calls.
    pub fn fingerprint(&self, len: usize, with_ids: bool) -> LargeNumber {
        answer(with_input(len, |json| content_fingerprint(&self.0, json.as_bytes(), with_ids)))
    }

    /// The next message (JSON) of a history that is to be aligned.
    pub fn offer(&mut self, len: usize) -> Nothing {
        done(with_input(len, |json| offer_message(&mut self.0, json.as_bytes())))
    }

    /// The next message of a history that is to be aligned is this one of the session.
    pub fn offer_known(&mut self, index: u32) {
        offer_known(&mut self.0, index.into());
    }

    /// Where the offered history lies in the known one, if it is a later part of it: how many of the system's messages lead it, how
    /// many messages come before those that are known, and the numbers of those, [from, to).
    pub fn align(&mut self) -> Option<Uint32Array> {
        let Alignment { systems, front, from, to } = align(&mut self.0)?;
        Some([systems, front, from, to].as_slice().into())
    }

    /// The host no longer holds the messages before this one.
    pub fn forget(&mut self, before: u32) {
        forget_messages(&mut self.0, before.into());
    }

    /// How many messages `truncate` would keep.
    pub fn keeps(&self, same: u32) -> u32 {
        keeps(&self.0, same.into()).get()
    }

    /// The first messages are the same, so many, and others follow: what was decided before them holds. Those after what the
    /// session `keeps` come again: returns how many. `parts`: the next of them is another, whatever it says.
    pub fn truncate(&mut self, same: u32, parts: bool) -> u32 {
        truncate(&mut self.0, same.into(), parts).get()
    }

    /// The session waits for its messages, and those that came do not start as it does: perhaps the oldest are forgotten.
    pub fn starts_late(&self) -> bool {
        starts_late(&self.0)
    }

    /// The session's history as bytes.
    pub fn snapshot(&self) -> Uint8Array {
        snapshot_bytes(&self.0).as_slice().into()
    }

    /// The same with what `measures` wrote, which is in the input buffer.
    pub fn snapshot_with(&self, len: usize) -> Bytes {
        answer(with_bytes(len, |measures| Ok(Uint8Array::from(&*snapshot_with(&self.0, measures)))))
    }

    /// Takes in what another has committed: the input buffer has its snapshot, of so many bytes, and the one from which both
    /// went on, if there is one. True: this session goes on from theirs, once its messages have come again.
    pub fn merge(&mut self, theirs: usize, len: usize) -> Flag {
        answer(with_bytes(len, |both| {
            let (theirs, base) = both.split_at_checked(theirs).unwrap_or((both, &[]));
            merge_committed(&mut self.0, theirs, base)
        }))
    }

    /// Goes on where the snapshot in the input buffer was made, once its messages have come. Its measures, if it has any.
    pub fn wake(&mut self, len: usize) -> Result<Option<KnownMessages>> {
        with_bytes(len, |bytes| {
            let (snapshot, known) = split_measures(bytes)?;
            restore_from(&mut self.0, snapshot)?;
            Ok(known.map(KnownMessages))
        })
    }

    /// What goes out beside the messages (JSON).
    pub fn parts(&mut self, len: usize) -> Nothing {
        done(with_input(len, |json| self.0.set_parts(json)))
    }

    /// The last request could not be carried out: the next one is handed over whole.
    pub fn resend_all(&mut self) {
        self.0.resend_all();
    }

    /// Decides what to send now: a step, as JSON.
    pub fn request(&mut self, now_ms: f64) -> Text {
        let understood = understood(&self.0);
        text(understood.map(|()| self.0.request(milliseconds(now_ms)).to_json()))
    }

    /// As `request`; none: a summarizer is to be asked first.
    pub fn prepare(&mut self, now_ms: f64) -> PerhapsText {
        let understood = understood(&self.0);
        let prepare = |()| self.0.prepare(milliseconds(now_ms)).map(|step| step.to_json());
        answer(understood.map(prepare))
    }

    /// What a compaction would do, as JSON; of the plan (JSON) in the input buffer, if there is one.
    pub fn plan(&mut self, force: bool, len: Option<usize>, now_ms: f64) -> Text {
        let (understood, now_ms) = (understood(&self.0), milliseconds(now_ms));
        let mut plan = |json: Option<&str>| plan_compaction(&mut self.0, force, json, now_ms);
        let planned = understood.and_then(|()| match len {
            None => plan(None),
            Some(len) => with_input(len, |json| plan(Some(json))),
        });
        text(planned.map(|it| write(&it)))
    }

    /// A message (JSON) of the session as a prompt is made of, as JSON.
    pub fn flat(&mut self, index: u32, len: usize) -> Text {
        text(with_input(len, |json| {
            Ok(write(&flat_message(&mut self.0, index.into(), json.as_bytes())?))
        }))
    }

    /// Takes up what a message (JSON) tells of files, commands and errors.
    pub fn extract(&mut self, index: u32, len: usize) -> Nothing {
        done(with_input(len, |json| extract_facts(&mut self.0, index.into(), json.as_bytes())))
    }

    /// What a checkpoint now would be made of, from this message on, as JSON.
    pub fn checkpoint(&mut self, from: u32) -> Text {
        plain(&write(&plan_checkpoint(&mut self.0, from.into())))
    }

    /// Keeps what the engine knows of checkpoints: base and text in the input buffer, the base first, of so many bytes.
    pub fn keep_checkpoints(&mut self, base: usize, len: usize) -> Flag {
        answer(with_input(len, |both| {
            let (base, kept) = both.split_at_checked(base).unwrap_or((both, ""));
            Ok(set_checkpoints(&mut self.0, base, kept))
        }))
    }

    /// Files, commands and errors of the messages that were made flat, as JSON.
    pub fn extracted(&self) -> Text {
        plain(&write(extracted_so_far(&self.0)))
    }

    /// Carries out the planned compaction (JSON) in the input buffer: what came of it, as JSON.
    pub fn commit(&mut self, len: usize, now_ms: f64) -> Text {
        text(with_input(len, |json| {
            Ok(write(&commit_plan(&mut self.0, json, milliseconds(now_ms))?))
        }))
    }

    /// The texts have come that a committed compaction needed: what came of it, as JSON.
    pub fn commit_lines(&mut self) -> Text {
        plain(&write(&commit_lines(&mut self.0)))
    }

    /// A compaction failed, in the way whose name is in the input buffer.
    pub fn compaction_failed(&mut self, len: usize, now_ms: f64) -> Nothing {
        done(with_input(len, |kind| {
            compaction_failed(&mut self.0, kind, milliseconds(now_ms));
            Ok(())
        }))
    }

    /// Whether a summarizer may be asked now.
    pub fn may_summarize(&mut self, now_ms: f64) -> bool {
        may_ask_summarizer(&mut self.0, milliseconds(now_ms))
    }

    /// Why none is asked, as JSON, once.
    pub fn warning(&mut self, now_ms: f64) -> PerhapsText {
        value(warning(&mut self.0, milliseconds(now_ms)).map(|blocked| write(&blocked)))
    }

    /// A provider has refused the last request: how often in a row, or nothing more helps.
    /// `limit`, `counted`: the provider's limit and its count of the request; 0: not known.
    pub fn refused(&mut self, limit: f64, counted: f64) -> Option<u32> {
        let known = |tokens: f64| u64::try_from(milliseconds(tokens)).ok().filter(|it| *it > 0);
        record_refusal(&mut self.0, known(limit), known(counted))
    }

    /// A message (JSON) whose text was needed.
    pub fn supply(&mut self, index: u32, len: usize) -> Nothing {
        done(with_input(len, |json| self.0.supply(index.into(), json.as_bytes())))
    }

    /// Goes on after what was needed: a step, as JSON.
    pub fn resume(&mut self) -> Text {
        plain(&self.0.resume().to_json())
    }

    /// The options (JSON) in the input buffer hold from now on. True: all messages must come again.
    pub fn options(&mut self, len: usize, recounts: bool) -> Flag {
        let options = with_input(len, Options::parse);
        answer(options.map(|options| set_options(&mut self.0, options, recounts)))
    }

    /// Keeps a message verbatim, whose JSON is in the input buffer; the number of the pin.
    pub fn pin(&mut self, message: u32, len: usize) -> Number {
        answer(with_input(len, |json| pin_message(&mut self.0, message.into(), json.as_bytes())))
    }

    /// Keeps the text in the input buffer; the number of the pin.
    pub fn pin_text(&mut self, len: usize) -> Number {
        answer(with_input(len, |text| Ok(pin_text(&mut self.0, text))))
    }

    /// Keeps the piece of a message that holds a text: both in the input buffer, the message (JSON) first, of so many bytes. The
    /// number of the pin, if there is such a piece.
    pub fn pin_found(&mut self, index: u32, message: usize, len: usize) -> PerhapsNumber {
        answer(with_input(len, |both| {
            let (json, text) = both.split_at_checked(message).unwrap_or((both, ""));
            pin_matches(&mut self.0, index.into(), json.as_bytes(), text)
        }))
    }

    /// Lets a pin go; false if there is none.
    pub fn unpin(&mut self, id: u32) -> bool {
        unpin(&mut self.0, id)
    }

    /// A call to one of the agent's tools, name and arguments as a JSON array of two: what comes of it, as JSON.
    pub fn call_agent_tool(&mut self, len: usize) -> Text {
        text(with_input(len, |json| {
            let request_parts = items(json).unwrap_or_default();
            let name = request_parts.first().and_then(|name| string(name).ok()).unwrap_or_default();
            let arguments = request_parts.get(1).copied().unwrap_or("null");
            Ok(write(&call_agent_tool(&mut self.0, &name, arguments)?))
        }))
    }

    /// Message and block that the reference in the input buffer stands for.
    pub fn referred(&self, len: usize) -> PerhapsNumbers {
        answer(with_input(len, |text| {
            let found = referenced_message(&self.0, text);
            Ok(found.map(|(message, block)| Uint32Array::from(&[message.get(), block.get()][..])))
        }))
    }

    /// The original text of a block, from its message (JSON) in the input buffer.
    pub fn recalled(&self, message: u32, block: u32, len: usize) -> PerhapsText {
        answer(with_input(len, |json| {
            recalled_text(&self.0, message.into(), block.into(), json.as_bytes())
        }))
    }

    /// What a provider reported (JSON in the input buffer) of the last request, or of the one with this epoch and estimate.
    pub fn observe(&mut self, len: usize, epoch: Option<u32>, estimate: f64) -> Nothing {
        let of = epoch.map(|epoch| (epoch, milliseconds(estimate).unsigned_abs()));
        done(with_input(len, |json| {
            self.0.observe(json, of);
            Ok(())
        }))
    }

    /// Takes up what the session cannot see (JSON in the input buffer).
    pub fn note(&mut self, len: usize) -> Nothing {
        done(with_input(len, |what| record_outside(&mut self.0, what)))
    }

    /// A level of pressure that is newly reached, as JSON.
    pub fn pressure(&mut self) -> PerhapsText {
        value(new_pressure(&mut self.0).map(|event| write(&event)))
    }

    /// Something of the message may be sent again: its text may be asked for.
    pub fn may_send(&self, index: u32) -> bool {
        may_send(&self.0, index.into())
    }

    /// How full the window is, as JSON.
    pub fn status(&self, now_ms: f64) -> Text {
        plain(&write(&status_json(&self.0, milliseconds(now_ms))))
    }

    /// The same in a line.
    pub fn status_line(&self, is_short: bool) -> Text {
        plain(&status_line_of(&self.0, is_short))
    }

    /// A hint for the model, if there is a new one.
    pub fn hint(&mut self) -> PerhapsText {
        value(pressure_hint(&mut self.0))
    }

    /// The report of the last request, as the question (JSON) in the input buffer wants it.
    pub fn report(&self, len: usize, now_ms: f64) -> Text {
        let now_ms = milliseconds(now_ms);
        text(with_input(len, |ask| Ok(write(&crate::inspect::report(&self.0, ask, now_ms)?))))
    }

    /// The prompt for notes on the day in the input buffer, as JSON.
    pub fn flush_prompt(&mut self, len: usize) -> Text {
        text(with_input(len, |date| Ok(write(&flush_prompt(&mut self.0, date)))))
    }

    /// Why a message is sent as it is, as JSON.
    pub fn explain(&self, index: u32) -> Text {
        text(explain(&self.0, index.into()).map(|it| write(&it)))
    }

    /// Tokens by kind, as JSON.
    pub fn estimate(&self) -> Text {
        plain(&write(&estimate_history(&self.0)))
    }

    /// Tokens of the messages after the model's last.
    pub fn estimate_since_reply(&self) -> u32 {
        u32::try_from(estimate_since_reply(&self.0)).unwrap_or(u32::MAX)
    }

    /// Tokens beside the room of the window (JSON) in the input buffer, as JSON.
    pub fn check_budget(&self, len: usize) -> Text {
        text(with_input(len, |json| Ok(write(&check_budget(&self.0, json)?))))
    }

    /// Rules of the provider that the messages as pushed break, as JSON.
    pub fn check(&self, thinking: bool) -> Text {
        plain(&write(&check_history(&self.0, thinking)))
    }

    /// Messages of the last turns, as JSON: [from, to) each.
    pub fn last_turns(&self, turns: u32) -> Text {
        plain(&write(&last_turns(&self.0, turns)))
    }

    /// What stays of the messages within their share (options, JSON, in the input buffer), as JSON.
    pub fn share(&self, len: usize) -> Text {
        text(with_input(len, |json| Ok(write(&share_turns(&self.0, json)?))))
    }

    /// Work done so far, as JSON.
    pub fn counters(&self) -> Text {
        plain(&write(&self.0.counters()))
    }
}

/// None: all messages are to be pushed again.
const fn count_of(appended: Appended) -> Option<u32> {
    match appended {
        Appended::UpTo(count) => Some(count),
        Appended::RereadAll => None,
    }
}

/// How many turns a session keeps by its key (JSON in the input buffer).
#[wasm_bindgen]
pub fn history_limit(len: usize) -> PerhapsNumber {
    answer(with_input(len, crate::context::history_limit))
}

/// Members of a host's body that `apply` reads, as JSON.
#[wasm_bindgen]
pub fn apply_reads() -> Text {
    plain(&write(&crate::context::APPLY_READS))
}

/// What a request (JSON in the input buffer) changes in the host's body, headers and messages, as JSON.
#[wasm_bindgen]
pub fn apply(len: usize) -> Text {
    text(with_input(len, |json| Ok(write(&crate::context::apply(json)?))))
}

/// Tokens of an answer (JSON in the input buffer) that the window has room for.
#[wasm_bindgen]
pub fn cap_output(len: usize) -> Number {
    answer(with_input(len, crate::context::cap_output))
}

/// Definitions of the agent's tools, as JSON.
#[wasm_bindgen]
pub fn agent_tools() -> Text {
    plain(&write(&crate::context::agent_tools()))
}

/// Whether an error (JSON) says that the context was too long.
#[wasm_bindgen]
pub fn overflows(len: usize) -> Flag {
    answer(with_input(len, |json| Ok(crate::compact::is_context_overflow(json))))
}

/// A time of JavaScript's as a whole number.
#[expect(clippy::cast_possible_truncation, reason = "saturates; times are far below")]
pub(super) fn milliseconds(time: f64) -> i64 {
    time as i64
}
