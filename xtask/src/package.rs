//! What would be published: each crate, packaged, builds from its package and those of the others.

use std::path::PathBuf;
use std::{env, fs};

use crate::cargo::{cargo, status};
use crate::error::Error;
use crate::steps::Outcome;

/// Packages the published crates, in a target directory of its own: cargo unpacks packages by the path of that directory
/// and does not look again whether they have changed.
pub(crate) fn check() -> Result<Outcome, Error> {
    let target = env::temp_dir().join(format!("idem-package-{}", std::process::id()));
    let before = unpacked();
    let mut command =
        cargo(&["package", "--workspace", "--exclude", "xtask", "--exclude", "test-support", "--exclude", "hygiene"]);
    command.args(["--allow-dirty", "--quiet"]).env("CARGO_TARGET_DIR", &target);
    eprintln!("\nxtask: package: cargo package, of the four published crates");
    let passed = status(&mut command)?.success();
    let new = unpacked().into_iter().filter(|dir| !before.contains(dir));
    for left_over in new.chain([target]) {
        if fs::remove_dir_all(&left_over).is_err() {
            eprintln!("xtask: cannot remove {}", left_over.display());
        }
    }
    Ok(if passed { Outcome::Passed } else { Outcome::Failed })
}

/// Where cargo has unpacked packages of no registry.
fn unpacked() -> Vec<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default();
    let sources = fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten();
    sources.filter(|dir| dir.file_name().as_encoded_bytes().starts_with(b"-")).map(|dir| dir.path()).collect()
}
