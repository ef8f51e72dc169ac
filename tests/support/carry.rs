//! Requests of the core carried out on JSON, as the package does on objects.

#![expect(unreachable_pub, reason = "the fuzz targets, a crate of their own, use it as well")]

use plimsoll::context::check_history;
use plimsoll::context::{self, Append, Options, Step};
use plimsoll::format::Format;
use plimsoll::model::Violation;
use serde_json::{Value, json};

/// A session with its messages: as text for the core, as values for what goes out. A lone surrogate is U+FFFD in the second.
pub struct Session {
    pub state: context::Session,
    pub history: Vec<Value>,
    /// The messages as they were passed: a value has its members in another order.
    texts: Vec<String>,
    sent: Vec<Value>,
    now_ms: i64,
}

impl Session {
    pub fn new(format: Format, options: &Value) -> Self {
        let mut options = options.clone();
        options["format"] = format.name().into();
        let options = Options::parse(&options.to_string()).unwrap();
        let state = context::Session::new(options, format);
        Self { state, history: Vec::new(), texts: Vec::new(), sent: Vec::new(), now_ms: 0 }
    }

    /// Takes the next message, as JSON text.
    pub fn push(&mut self, text: &str) {
        let taken = self.state.push(text.as_bytes());
        assert_eq!(taken, Ok(Append::Appended), "{text}");
        self.history.push(value(text));
        self.texts.push(text.into());
    }

    /// The request, and what the core answered.
    pub fn request(&mut self) -> (Vec<Value>, Value) {
        self.now_ms += 1000;
        let mut step = self.state.request(self.now_ms);
        while let Step::Need(messages) = &step {
            for index in messages {
                let text = &self.texts[index.index()];
                self.state.supply(*index, text.as_bytes()).unwrap();
            }
            step = self.state.resume();
        }
        let answer: Value = serde_json::from_str(&step.to_json()).unwrap();
        let answer = answer["done"].clone();
        let count = |it: &Value| it.as_u64().map(|count| usize::try_from(count).unwrap());
        let mut before = std::mem::take(&mut self.sent).into_iter();
        self.sent.extend(before.by_ref().take(count(&answer["keep"]).unwrap()));
        for item in answer["items"].as_array().unwrap() {
            // A number: so many are those of the last request at the same places.
            if let Some(same) = count(item) {
                self.sent.extend(before.by_ref().take(same));
                continue;
            }
            let message = self.carry(item);
            before.next();
            self.sent.push(message);
        }
        (self.sent.clone(), answer)
    }

    fn carry(&self, item: &Value) -> Value {
        let mut message = match item["index"].as_u64() {
            Some(index) => self.history[usize::try_from(index).unwrap()].clone(),
            None => item["make"].clone(),
        };
        for copy in item["copies"].as_array().into_iter().flatten() {
            let index = usize::try_from(copy["index"].as_u64().unwrap()).unwrap();
            let from = self.history[index].pointer(copy["from"].as_str().unwrap()).unwrap();
            *message.pointer_mut(copy["path"].as_str().unwrap()).unwrap() = from.clone();
        }
        for op in item["ops"].as_array().into_iter().flatten() {
            apply(&mut message, op);
        }
        message
    }
}

/// The value of JSON text whose lone surrogates are U+FFFD.
pub fn value(text: &str) -> Value {
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&text.replace("\\ud83d", "\\ufffd")))
        .unwrap()
}

/// What `repair` gives: the messages, and what was mended.
pub fn repair(
    format: Format,
    provider: &str,
    parts: &Value,
    texts: &[String],
) -> (Vec<Value>, Value) {
    let options = json!({ "provider": provider, "window": { "contextTokens": 0 } });
    let mut session = Session::new(format, &options);
    for text in texts {
        session.push(text);
    }
    session.state.set_parts(&parts.to_string()).unwrap();
    let (sent, answer) = session.request();
    (sent, answer["repairs"].clone())
}

/// What `validate` gives.
pub fn validate(
    format: Format,
    provider: &str,
    parts: &Value,
    thinking: bool,
    texts: &[String],
) -> Vec<Violation> {
    let options = json!({ "provider": provider, "window": { "contextTokens": 0 } });
    let mut session = Session::new(format, &options);
    for text in texts {
        session.push(text);
    }
    session.state.set_parts(&parts.to_string()).unwrap();
    check_history(&session.state, thinking)
}

/// One RFC 6902 operation.
fn apply(message: &mut Value, op: &Value) {
    let (parent, key) = op["path"].as_str().unwrap().rsplit_once('/').unwrap();
    match (op["op"].as_str().unwrap(), message.pointer_mut(parent).unwrap()) {
        ("remove", Value::Array(items)) => drop(items.remove(key.parse().unwrap())),
        ("remove", Value::Object(map)) => drop(map.remove(key).unwrap()),
        ("add" | "replace", Value::Object(map)) => {
            drop(map.insert(key.into(), op["value"].clone()));
        }
        ("replace", Value::Array(items)) => {
            items[key.parse::<usize>().unwrap()] = op["value"].clone();
        }
        other => panic!("{other:?}"),
    }
}
