//! Calls of cargo itself.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use crate::error::Error;

/// The root of the workspace. Cargo says where this package is when it runs it; the place it was built at is for a run without cargo.
pub(crate) fn workspace_root() -> PathBuf {
    let xtask = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
    let mut root = PathBuf::from(xtask);
    root.pop();
    root
}

/// The cargo that runs us, in the root of the workspace.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(args).current_dir(workspace_root());
    command
}

/// Runs a command to its end; its output goes where ours goes, unchanged.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus, Error> {
    command
        .status()
        .map_err(|source| Error::Run { program: command.get_program().to_string_lossy().into_owned(), source })
}
