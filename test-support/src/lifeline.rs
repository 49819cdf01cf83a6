//! Ends a server whose owner could not: a process that is killed runs no `Drop`.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits for the end of its input, which the system brings about however the owner ends. Portable and free of `unsafe`, unlike a
/// parent-death signal, which besides hangs on a thread, not on a process.
const GUARD: &str = r#"trap '' HUP INT TERM; read -r _; kill -9 "$1" 2>/dev/null; rm -rf -- "$2""#;

/// A small guard process, bound to this process by a pipe. While it is held, the end of this process ends the server too.
#[derive(Debug)]
pub(crate) struct Lifeline {
    guard: Child,
}

impl Lifeline {
    /// Ties the process `pid` and its directory to the life of this process.
    pub(crate) fn tie(pid: u32, dir: &Path) -> io::Result<Self> {
        let guard = Command::new("sh")
            .args(["-c", GUARD, "idem-lifeline"])
            .arg(pid.to_string())
            .arg(dir)
            .current_dir("/")
            // Ctrl-C and a test runner's time limit end whole process groups; the guard must outlive the owner.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { guard })
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        // By signal and not by closing its input: the guard shall do nothing now. A failure means that it is gone already.
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}
