//! Where programs are.

use std::env;
use std::path::PathBuf;

/// Where packages put programs, for a `PATH` that has been cut short.
const USUAL_PLACES: [&str; 5] = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/usr/sbin", "/snap/bin"];

/// The first program of this name on `PATH`, else one in the usual places.
#[must_use]
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(USUAL_PLACES.map(PathBuf::from))
        .map(|dir| dir.join(name))
        .find(|candidate| candidate.is_file())
}

/// The program that the environment names by `variable` (taken at its word, so that a mistake in it shows), else the one that
/// [`find_program`] finds.
pub(crate) fn named_or_found(variable: &str, name: &str) -> Option<PathBuf> {
    let named = env::var_os(variable).filter(|path| !path.is_empty());
    named.map(PathBuf::from).or_else(|| find_program(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name() {
        assert!(find_program("sh").unwrap().ends_with("sh"));
        assert_eq!(find_program("no-such-program-at-all"), None);
    }
}
