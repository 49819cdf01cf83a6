//! The programs of Prometheus, and the example as a service to be watched.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use test_support::prometheus;

/// Whether there is a Prometheus. Without one the caller skips what it needs it for; not under `cargo xtask test`, which
/// installs one where it can, and names it.
pub(crate) fn is_there() -> bool {
    let there = prometheus::find().is_some();
    if !there {
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no prometheus on this machine");
    }
    there
}

/// `promtool`, which comes with Prometheus, in `dashboards/`.
pub(crate) fn promtool(args: &[&str], input: &str) -> Output {
    let program = prometheus::find().expect("looked for before").with_file_name("promtool");
    let mut child = Command::new(program)
        .args(args)
        .current_dir(crate::files::dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool is beside prometheus");
    child.stdin.take().expect("it has an input").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

#[track_caller]
pub(crate) fn assert_content(output: &Output) {
    let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    // It says what it does not like of metrics, and does not always fail for it.
    assert!(output.status.success() && !said.concat().contains("lint"), "{}: {}", output.status, said.concat());
}

/// As built beside this test: `cargo test` builds all examples, `cargo test --test dashboards` does not.
fn serve(args: &[&str]) -> Command {
    let test = std::env::current_exe().expect("a test knows its own path");
    let example: PathBuf = test.ancestors().nth(2).expect("tests are in <profile>/deps").join("examples/payments");
    assert!(example.exists(), "{} is missing: run `cargo build --example payments` first", example.display());
    let mut command = Command::new(example);
    command.arg("serve").args(args);
    command
}

/// What `payments serve` says to arguments that it does not take.
pub(crate) fn refusal(args: &[&str]) -> String {
    let output = serve(args).output().expect("the example starts");
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// `payments serve`. It ends when this is dropped, and also when this process is killed: its standard input ends then.
pub(crate) struct Served {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Served {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut child = serve(args)
            .arg("--while-stdin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the example starts");
        let output = BufReader::new(child.stdout.take().expect("it has an output"));
        Self { child, output }
    }

    /// Where it serves its metrics, once it does.
    pub(crate) fn port(&mut self) -> u16 {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it says where");
        let port = line.trim().strip_suffix("/metrics").and_then(|url| url.rsplit(':').next()?.parse().ok());
        port.unwrap_or_else(|| panic!("no address in {line:?}"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // So that it ends in good order, and takes its Redis and its directory with it.
        self.child.stdin = None;
        let _ = self.child.wait();
    }
}
