//! What the commands need of the machine: found where it is, else installed where that is possible.

use std::path::PathBuf;
use std::process::Command;

use rustix::process::geteuid;
use test_support::{find_program, prometheus, redis_server};

use crate::cargo::status;
use crate::error::Error;

/// Installs Debian packages without letting them start a service. Run as `sh -c <script> sh <package>…`.
const INSTALL: &str = include_str!("install.sh");

/// The `redis-server` of this machine, installed first if need be.
pub(crate) fn redis_server() -> Result<PathBuf, Error> {
    find_or_install("redis-server", "redis-server", redis_server::find)
}

/// The `prometheus` of this machine, installed first if need be; `promtool` comes with it.
pub(crate) fn prometheus() -> Result<PathBuf, Error> {
    find_or_install("prometheus", "prometheus", prometheus::find)
}

/// A browser that draws without a screen, installed first if need be.
pub(crate) fn chromium() -> Result<PathBuf, Error> {
    find_or_install("chromium", "chromium", || find_program("chromium"))
}

/// The Lua linter, installed first if need be.
pub(crate) fn luacheck() -> Result<PathBuf, Error> {
    find_or_install("luacheck", "lua-check", || find_program("luacheck"))
}

/// The sources of locales, installed first if need be: a test makes one, to see that a server's own order of text is not
/// relied upon.
pub(crate) fn locales() -> Result<PathBuf, Error> {
    let sources = PathBuf::from("/usr/share/i18n/locales/en_US");
    find_or_install("the locale en_US", "locales", || sources.exists().then(|| sources.clone()))
}

fn find_or_install(
    program: &'static str,
    package: &'static str,
    find: impl Fn() -> Option<PathBuf>,
) -> Result<PathBuf, Error> {
    if let Some(found) = find() {
        return Ok(found);
    }
    if let Some(mut installer) = installer(geteuid().is_root(), find_program) {
        eprintln!("xtask: {program} is missing; installing the package {package}");
        // Only what is there afterwards counts, whatever the installer says.
        status(installer.args(["-c", INSTALL, "sh", package]))?;
    }
    find().ok_or(Error::Missing { program, package })
}

/// The shell that can run the script with the rights it needs; none where there is no apt-get or no way to those rights.
fn installer(is_root: bool, find: impl Fn(&str) -> Option<PathBuf>) -> Option<Command> {
    find("apt-get")?;
    if is_root {
        return Some(Command::new("sh"));
    }
    let mut command = Command::new(find("sudo")?);
    command.arg("sh");
    Some(command)
}

/// Whether the variable names something, as opposed to being unset or empty.
pub(crate) fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that has just these programs.
    fn with(programs: &'static [&'static str]) -> impl Fn(&str) -> Option<PathBuf> {
        move |name| programs.contains(&name).then(|| PathBuf::from(name))
    }

    #[test]
    fn root_needs_apt_get_only() {
        let installer = installer(true, with(&["apt-get"])).unwrap();
        assert_eq!(installer.get_program(), "sh");
    }

    #[test]
    fn others_need_sudo_too() {
        let installer = installer(false, with(&["apt-get", "sudo"])).unwrap();
        assert_eq!(installer.get_program(), "sudo");
        assert!(installer.get_args().eq(["sh"]));
    }

    #[test]
    fn elsewhere_nothing_is_tried() {
        assert!(installer(false, with(&["apt-get"])).is_none());
        assert!(installer(true, with(&["sudo"])).is_none());
    }

    #[test]
    fn what_is_there_is_not_installed() {
        let found = find_or_install("sh", "no-such-package", || find_program("sh"));
        assert_eq!(found.unwrap(), find_program("sh").unwrap());
    }
}
