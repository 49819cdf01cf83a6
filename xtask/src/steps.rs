//! What the steps of `cargo xtask test` run.

use std::process::Command;

use crate::cargo::cargo;
use crate::test::Step;

/// The features that lints and tests are run with: all that need nothing but a Rust toolchain.
const TESTED: &str = "idem-rs/messagepack,idem-rs/conformance";

/// The features that must compile alone. `tls-native-tls` is checked where the platform's library is.
const ALONE: [&str; 7] = ["macros", "redis", "messagepack", "conformance", "cluster", "sentinel", "tls-rustls"];

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
