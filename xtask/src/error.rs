//! Why a command could not do its work.

use std::io;
use std::process::ExitCode;

/// A command that could not even begin, or not go on. A check that fails is a result, not an error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(
        "{program} is missing and cannot be installed here: install it (on Debian: `sudo apt-get install {package}`) and run this command again"
    )]
    Missing { program: &'static str, package: &'static str },
    #[error("cannot run {program}: {source}")]
    Run { program: String, source: io::Error },
}

impl Error {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Run { .. } => ExitCode::from(1),
            Self::Missing { .. } => ExitCode::from(2),
        }
    }
}
