//! The types that cross to JavaScript, written to `js/generated.ts`: this test is what writes it.

use ts_rs::{Config, TS};

use crate::context::{
    Bucket, BudgetCheck, ByKind, Edit, Estimate, Explanation, Listed, Since, Window,
};
use crate::error::Error;
use crate::model::{Op, Violation};

/// One more type that crosses is one more line here.
fn generated() -> String {
    let config = Config::default().with_large_int("number");
    [
        export::<Error>(&config),
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
    ]
    .concat()
}

fn export<T: TS + 'static>(config: &Config) -> String {
    let docs = T::docs().unwrap_or_default();
    format!("\n{docs}export {}\n", T::decl(config))
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
