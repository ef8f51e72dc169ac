//! Types that cross to JavaScript, with the words and figures of the core that the command prints, written to `js/generated.ts`: this test is what
//! writes it.

use ts_rs::{Config, TS};

use crate::context::{
    Bucket, BudgetCheck, ByKind, Edit, Estimate, Explanation, Listed, Since, Window,
};
use crate::error::ErrorInfo;
use crate::json::write;
use crate::model::{Op, Violation};
use crate::prune::{Prices, Rule};

/// One more type that crosses is one more line here.
fn generated() -> String {
    let config = Config::default().with_large_int("number");
    [
        export::<ErrorInfo>(&config),
        export::<Op>(&config),
        export::<Violation>(&config),
        export::<Estimate>(&config),
        export::<ByKind>(&config),
        export::<BudgetCheck>(&config),
        export::<Edit>(&config),
        export::<Explanation>(&config),
        export::<Since>(&config),
        export::<Bucket>(&config),
        export::<Listed>(&config),
        export::<Window>(&config),
        prices(),
        rules(),
    ]
    .concat()
}

fn export<T: TS + 'static>(config: &Config) -> String {
    let docs = T::docs().unwrap_or_default();
    format!("\n{docs}export {}\n", T::decl(config))
}

/// What tokens cost unless the host says otherwise.
fn prices() -> String {
    let Prices { read, write, output, ttl_ms } = Prices::ANTHROPIC;
    let [read, write, output] = [read, write, output].map(thousandths);
    format!(
        "\n/**\n * Prices in uncached input tokens, if nothing else is said; the time in milliseconds.\n */\n\
         export const PRICES: {{ cacheRead: number, cacheWrite: number, output: number, cacheTtlMs: number, }} = \
         {{ cacheRead: {read}, cacheWrite: {write}, output: {output}, cacheTtlMs: {ttl_ms}, }};\n"
    )
}

/// Thousandths as a decimal number.
fn thousandths(number: u64) -> String {
    let text = format!("{}.{:03}", number / 1000, number % 1000);
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// Every rule of the policy and why it changes a message.
fn rules() -> String {
    let line = |rule: Rule| format!("{}: {},\n", write(&rule.name()), write(&rule.reason()));
    format!(
        "\n/**\n * Why a rule changes a message, by its name.\n */\n\
         export const RULES: Readonly<Record<string, string>> = {{\n{}}};\n",
        Rule::ALL.map(line).concat()
    )
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test compares a file of the project")]
fn the_generated_types_are_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/js/generated.ts");
    let now = format!("// Written by `cargo test types`. Not to be edited.\n{}", generated());
    if std::fs::read_to_string(path).is_ok_and(|before| before == now) {
        return;
    }
    std::fs::write(path, now).expect("js/ can be written");
    panic!("js/generated.ts was out of date. It is renewed: look at its diff and commit it.");
}
