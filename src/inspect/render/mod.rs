//! A report on a terminal, or wherever text of fixed width is shown. A state is a word, never only a colour; what a session holds
//! is shown and not obeyed.

mod detail;
mod list;
mod parts;
mod read;
mod screen;
mod table;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::json::{Shape, Want, may};
use read::Object;
pub use screen::Look;
use screen::Screen;

const LOOK: Shape = Shape {
    what: "{ width, color, ascii }",
    members: &[may("width", Want::Integer), may("color", Want::Flag), may("ascii", Want::Flag)],
    closed: true,
};

/// Columns where none are told; the fewest that a line can do with.
const WIDTH: i64 = 100;
const LEAST: i64 = 20;
const MOST: i64 = 500;

impl Look {
    /// Of options as JSON; 100 columns without colour where nothing is told.
    ///
    /// # Errors
    /// `InvalidArgument`.
    pub fn read(options: &str) -> Result<Self> {
        let mut given = LOOK.argument(options, format_args!("options"))?;
        let width = given.integer("width").unwrap_or(WIDTH).clamp(LEAST, MOST);
        let (color, ascii) = (given.flag("color"), given.flag("ascii"));
        let width = usize::try_from(width).unwrap_or_default();
        Ok(Self { width, color: color.unwrap_or(false), ascii: ascii.unwrap_or(false) })
    }
}

/// A report (JSON) as `/context list` shows it. What a report does not have is left out.
pub fn render_list(report: &str, look: Look) -> String {
    let mut screen = Screen::new(look);
    list::list(&mut screen, &Object::read(report));
    screen.text()
}

/// What is under a key of a report (JSON), as `/context detail KEY` shows it: a section, a message, a bucket, or the prompt; its text if
/// the report was asked for it.
pub fn render_detail(report: &str, key: &str, look: Look) -> String {
    let mut screen = Screen::new(look);
    detail::detail(&mut screen, &Object::read(report), key);
    screen.text()
}
