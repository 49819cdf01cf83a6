//! The linter's view of the Lua scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::workspace_root;
use crate::error::Error;
use crate::setup;

const DIR: &str = "idem-redis/lua";
/// Joined in front of each verb's script when that is compiled in; what it defines, they use.
const PRELUDE: &str = "record.lua";
/// All that Redis gives to a script.
const GLOBALS: [&str; 3] = ["redis", "KEYS", "ARGV"];

/// The call of luacheck for all scripts, each in its own file so that complaints name the right lines.
pub(crate) fn lint() -> Result<Command, Error> {
    let mut command = Command::new(setup::luacheck()?);
    let dir = workspace_root().join(DIR);
    let shared = fs::read_to_string(dir.join(PRELUDE)).map(|prelude| top_level_names(&prelude)).unwrap_or_default();
    command
        .current_dir(workspace_root())
        .args(scripts(&dir))
        .args(["--no-config", "--no-color", "--max-line-length", "120"])
        .args(["--std", "lua51", "--read-globals"])
        .args(GLOBALS)
        .args(&shared);
    if !shared.is_empty() {
        // 211 is "unused": in the file that defines them, they are.
        command.arg("--ignore").args(shared.iter().map(|name| format!("211/^{name}$")));
    }
    Ok(command)
}

/// The scripts in `dir`. Where there are none the answer is a file that does not exist, for the linter to fail on: with nothing, or with an empty
/// directory, it would be content.
fn scripts(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "lua"))
        .collect();
    files.sort();
    if files.is_empty() {
        files.push(dir.join("*.lua"));
    }
    files
}

/// What a script defines for those behind it: its locals and functions that begin at the start of a line.
fn top_level_names(script: &str) -> Vec<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    script
        .lines()
        .filter_map(|line| line.strip_prefix("local "))
        .map(|rest| rest.strip_prefix("function ").unwrap_or(rest))
        .filter_map(|rest| rest.split(|c| !is_word(c)).next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prelude_hands_on_its_top_level_names() {
        let prelude = "-- local no\nlocal FIRST = 'x'\nlocal function damage(raw)\n  local inner = 1\nend\n";
        assert_eq!(top_level_names(prelude), ["FIRST", "damage"]);
    }

    #[test]
    fn no_scripts_is_a_complaint() {
        let nowhere = Path::new("/nowhere");
        assert_eq!(scripts(nowhere), [nowhere.join("*.lua")]);
    }
}
