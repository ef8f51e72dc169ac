//! Native answers of the core, which a test compares with the Wasm's byte for byte.
//!
//! ```text
//! dump session  < session file       the session as JSON
//! dump estimate < JSON list of texts a line for each estimator: its name, the tokens of each text
//! dump tables                         the byte classes and token tables, as `cargo xtask fit` reads and writes them
//! dump views OPTIONS..  < session    for each of the options (JSON, as the core takes them) every step of every call
//! dump replay OPTIONS.. < session    for each of the options the calls, buckets, messages, next plan and report of a replay
//! dump candidates < lines of a call's name and its arguments as JSON  a line for each, of one store
//! dump prompt   < lines of a call's name and its arguments as JSON    a line for each: its answer, or its error
//! ```
//!
//! `session` for the last two is what `readSession` gave, as `JSON.stringify` writes it.

#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a command: what it finds out goes to its standard output"
)]

use plimsoll::context::explain;
use plimsoll::context::list_buckets;
use plimsoll::context::list_messages;
use plimsoll::context::status_json;
use std::error::Error;
use std::io::Read;

use plimsoll::candidate::{Key, Store};
use plimsoll::context::{Append, Options, Recording, Session, Step};
use plimsoll::estimate::{Estimator, Profile};
use plimsoll::format::Format;
use plimsoll::inspect::report;
use plimsoll::json::write;
use plimsoll::prompt::{calls, crossing};
use plimsoll::session_files::read_session;
use plimsoll::text::pairs::CLASS;
use serde::Deserialize;
use serde_json::value::RawValue;

type Done = Result<(), Box<dyn Error>>;

/// How many messages lie between two that are explained.
const EXPLAINED: usize = 25;

fn main() -> Done {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    match words.split_first() {
        Some((what, [])) if what == "session" => {
            println!("{}", write(&read_session(&input, None)?));
            Ok(())
        }
        Some((what, [])) if what == "estimate" => {
            estimate(&serde_json::from_slice::<Vec<String>>(&input)?)
        }
        Some((what, [])) if what == "tables" => {
            println!("{}", tables()?);
            Ok(())
        }
        Some((what, options)) if what == "views" => views(std::str::from_utf8(&input)?, options),
        Some((what, options)) if what == "replay" => replay(std::str::from_utf8(&input)?, options),
        Some((what, [])) if what == "prompt" => prompt(std::str::from_utf8(&input)?),
        Some((what, [])) if what == "candidates" => candidates(std::str::from_utf8(&input)?),
        _ => Err("one of session, estimate, tables, views, replay, prompt, candidates".into()),
    }
}

fn tables() -> Result<serde_json::Value, Box<dyn Error>> {
    let mut weights = serde_json::Map::new();
    for profile in Profile::ALL {
        let table = profile.weights().ok_or("a table that is not there")?;
        weights.insert(profile.name().into(), table.plain().into());
    }
    Ok(serde_json::json!({ "byte_class": CLASS.to_vec(), "weights": weights }))
}

fn candidates(lines: &str) -> Done {
    let mut store = Store::from_options(r#"{"scope":"native"}"#)?;
    let key = Key::new(&[7; 32])?;
    for line in lines.lines() {
        let (name, json) = line.split_once(' ').ok_or("a name and JSON")?;
        let printed = match name {
            "upsert" => store.upsert_json(json),
            "conclude" => store.conclude_json(json),
            "evaluate" => store.evaluate_json(json),
            "transition" => store.transition_json(json),
            "list" => store.list_json(json),
            "section" => store.section_json(json),
            "inject" => store.inject_json(json),
            "save" => {
                let mut saving = store.save();
                while let Some(bytes) = saving.bytes() {
                    saving.take(&key.sign(&bytes))?;
                }
                Ok(write(&saving.file()))
            }
            _ => return Err(format!("{name} is no call").into()),
        };
        println!("{}", printed.unwrap_or_else(|error| error.to_string()));
    }
    Ok(())
}

fn prompt(lines: &str) -> Done {
    for line in lines.lines() {
        let (name, json) = line.split_once(' ').ok_or("a name and JSON")?;
        let call = match name {
            "assemble" => |json: &str| {
                let all = crossing::assemble(json, &[])?;
                Ok(write(&((all.plan, all.prompt), all.figures)))
            },
            "focus" => calls::focus,
            "budget" => calls::budget,
            "truncate" => calls::truncate,
            "tiers" => calls::tiers,
            "rules" => calls::rules,
            "workspace" => calls::workspace,
            "trim" => calls::trim,
            "remember" => calls::remember,
            "compress" => calls::compress,
            _ => return Err(format!("{name} is no call").into()),
        };
        println!("{}", call(json).unwrap_or_else(|error| error.to_string()));
    }
    Ok(())
}

fn estimate(texts: &[String]) -> Done {
    for estimator in Estimator::ALL {
        let tokens: Vec<u32> = texts.iter().map(|text| estimator.tokens(text)).collect();
        println!("{} {}", estimator.name(), serde_json::to_string(&tokens)?);
    }
    Ok(())
}

fn replay(session: &str, options: &[String]) -> Done {
    let recording = Recording::parse(session, Estimator::default())?;
    let system = part(serde_json::from_str::<Recorded>(session)?.system.as_deref());
    for options in options {
        let replay = recording.replay(&Options::for_replay(options)?)?;
        println!("{}", write(&(&replay.calls, &replay.totals)));
        let mut last = recording.at_call(&replay, u32::MAX)?;
        println!("{}", write(&list_buckets(&last.session)));
        println!("{}", write(&list_messages(&last.session)));
        let next = recording.plan(&mut last)?;
        println!("{next}");
        let ask =
            format!(r#"{{"beside":{{"system":{system}}},"next":{next},"detailKey":"system"}}"#);
        println!("{}", report(&last.session, &ask, last.at_ms)?);
    }
    Ok(())
}

#[derive(Deserialize)]
struct Recorded {
    messages: Vec<Box<RawValue>>,
    #[serde(default)]
    system: Option<Box<RawValue>>,
    #[serde(default)]
    tools: Option<Box<RawValue>>,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    sent: usize,
    at: i64,
}

fn part(part: Option<&RawValue>) -> String {
    part.map_or("null", RawValue::get).to_owned()
}

fn views(session: &str, options: &[String]) -> Done {
    let session: Recorded = serde_json::from_str(session)?;
    options.iter().try_for_each(|options| play(&session, options))
}

/// Hands the messages over as `js/session/context.ts` does: what is new, once.
fn play(session: &Recorded, options: &str) -> Done {
    let (system, tools) = (part(session.system.as_deref()), part(session.tools.as_deref()));
    let parts = format!(r#"{{"system":{system},"tools":{tools},"unseenTokens":null}}"#);
    let bytes = |at: usize| session.messages[at].get().as_bytes();
    let mut state = Session::new(Options::parse(options)?, Format::Anthropic);
    let mut known = 0;
    for call in &session.calls {
        while known < call.sent {
            known = match state.push(bytes(known))? {
                Append::Appended => known.saturating_add(1),
                Append::RereadAll => 0,
            };
        }
        state.set_parts(&parts)?;
        let mut step = state.request(call.at);
        loop {
            println!("{}", step.to_json());
            match &step {
                Step::Done(_) => break,
                Step::Need(needed) => {
                    for &at in needed {
                        state.supply(at, bytes(at.index()))?;
                    }
                }
            }
            step = state.resume();
        }
    }
    for at in (0..known).step_by(EXPLAINED) {
        println!("{}", write(&explain(&state, u32::try_from(at)?.into())?));
    }
    let at = session.calls.last().map_or(0, |call| call.at);
    println!("{}", status_json(&state, at));
    println!("{}", write(&state.counters()));
    Ok(())
}
