//! Where text for people goes.

use std::fmt::Display;
use std::io::{self, Write};

/// Of a paragraph, in characters.
const WIDTH: usize = 110;

/// A stream for people.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Out {
    Stdout,
    /// Where standard output is reserved for one JSON object.
    Stderr,
    Nowhere,
}

impl Out {
    /// Writes a line. A reader that went away (`| head`) is no reason to stop: the ledger is still to be checked.
    pub(crate) fn line(self, text: impl Display) {
        let _ = match self {
            Self::Stdout => writeln!(io::stdout().lock(), "{text}"),
            Self::Stderr => writeln!(io::stderr().lock(), "{text}"),
            Self::Nowhere => Ok(()),
        };
    }

    /// Writes a sentence or two over as many lines as it takes, all but the first indented like it.
    pub(crate) fn paragraph(self, indent: &str, text: &str) {
        let mut line = indent.to_owned();
        for word in text.split_whitespace() {
            if line.chars().count() + word.chars().count() > WIDTH {
                self.line(line.trim_end());
                line = " ".repeat(indent.chars().count());
            }
            line.push_str(word);
            line.push(' ');
        }
        self.line(line.trim_end());
    }
}
