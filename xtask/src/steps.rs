//! What the steps of `cargo xtask test` run.

use std::process::Command;

use clap::ValueEnum;

use crate::cargo::cargo;

/// In the order of the run: what fails fast comes first, the tests' own closing lines come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    /// Formatting
    Fmt,
    /// The Lua scripts, by luacheck
    Lua,
    /// Lints of everything, with all features; and of `tests/hygiene`, whose lints are the strictest there are
    Clippy,
    /// The facade with each feature alone: they only add
    Features,
    /// The documentation builds without a warning
    Doc,
    /// What would be published builds by itself
    Package,
    /// All tests: unit, integration, compile-time mistakes, examples in the documentation
    Test,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    /// With the reason.
    Skipped(String),
}

impl Step {
    /// As in `--only`.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// The features that lints and tests are run with: all that need nothing but a Rust toolchain.
const TESTED: &str = "idem-rs/messagepack,idem-rs/opentelemetry,idem-rs/conformance,\
    idem-rs/chrono,idem-rs/jiff,idem-rs/time,idem-rs/ulid,idem-rs/uuid";

/// The features that must compile alone. `tls-native-tls` is checked where the platform's library is.
#[rustfmt::skip]
const ALONE: [&str; 13] = [
    "macros", "redis", "messagepack", "opentelemetry", "conformance", "cluster", "sentinel", "tls-rustls",
    "chrono", "jiff", "time", "ulid", "uuid",
];

pub(crate) fn commands(step: Step) -> Vec<Command> {
    match step {
        Step::Fmt => vec![cargo(&["fmt", "--all", "--check"])],
        Step::Clippy => {
            vec![cargo(&["clippy", "--workspace", "--all-targets", "--features", TESTED, "--", "-D", "warnings"])]
        }
        Step::Features => features(),
        Step::Doc => {
            let mut command = cargo(&["doc", "--workspace", "--no-deps", "--features", TESTED]);
            command.env("RUSTDOCFLAGS", "-D warnings");
            vec![command]
        }
        Step::Test => vec![cargo(&["test", "--workspace", "--features", TESTED, "--no-fail-fast"])],
        // These are no command of cargo, or more than one.
        Step::Lua | Step::Package => Vec::new(),
    }
}

fn features() -> Vec<Command> {
    let with = |features: &[&str]| {
        let mut command = cargo(&["clippy", "--package", "idem-rs", "--no-default-features"]);
        command.args(features).args(["--", "-D", "warnings"]);
        command
    };
    let openssl = Command::new("pkg-config").args(["--exists", "openssl"]).status().is_ok_and(|found| found.success());
    if !openssl {
        eprintln!("\nxtask: SKIPPED the feature tls-native-tls: there is no OpenSSL to build with");
    }
    let native = openssl.then_some("tls-native-tls");
    let alone = ALONE.into_iter().chain(native).map(|feature| with(&["--features", feature]));
    std::iter::once(with(&[])).chain(alone).collect()
}
