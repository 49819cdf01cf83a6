//! One line of a monitor's stream: `1339518083.107412 [0 127.0.0.1:60866] "SET" "key" "a \"quoted\" value"`.

use std::fmt;
use std::time::Duration;

use crate::Error;

/// One command that a server executed.
#[derive(Clone, PartialEq, Eq)]
pub struct Command {
    at: Duration,
    database: u32,
    source: String,
    words: Vec<Vec<u8>>,
}

impl Command {
    /// The command's name in upper case, such as `EVALSHA`.
    #[must_use]
    pub fn name(&self) -> String {
        self.word(0).unwrap_or_default().to_uppercase()
    }

    /// All words, the name first, byte for byte as they were sent.
    #[must_use]
    pub fn words(&self) -> &[Vec<u8>] {
        &self.words
    }

    /// One word as text, 0 being the name. Bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn word(&self, index: usize) -> Option<String> {
        let bytes = self.words.get(index)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// When it ran: the time since 1970, by the server's clock.
    #[must_use]
    pub fn at(&self) -> Duration {
        self.at
    }

    /// The number of the database it ran on.
    #[must_use]
    pub fn database(&self) -> u32 {
        self.database
    }

    /// Who sent it: a client's address, or `lua`.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether a script ran it on the server, so that it cost no round trip.
    #[must_use]
    pub fn is_from_script(&self) -> bool {
        self.source == "lua"
    }

    /// Takes a line of the stream apart, its leading `+` included or not.
    pub(super) fn parse(line: &str) -> Result<Self, Error> {
        parse(line).ok_or_else(|| Error::Protocol(format!("not a line of MONITOR: {line:?}")))
    }
}

/// Short and readable in a failed assertion: `127.0.0.1:60866> SET key "a value"`.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}>", self.source)?;
        for word in &self.words {
            write!(f, " {}", word.escape_ascii())?;
        }
        Ok(())
    }
}

fn parse(line: &str) -> Option<Command> {
    let (at, rest) = line.split_once(" [")?;
    let (seconds, micros) = at.trim_start_matches('+').split_once('.')?;
    let at = Duration::from_secs(seconds.parse().ok()?) + Duration::from_micros(micros.parse().ok()?);
    // The last word of an address may hold a bracket of its own (`[::1]:6379`); the quote after it cannot be part of it.
    let (origin, words) = rest.split_once("] \"")?;
    let (database, source) = origin.split_once(' ')?;
    Some(Command { at, database: database.parse().ok()?, source: source.to_owned(), words: unquote_all(words)? })
}

/// Reads `first" "second" "third"`: the opening quote of the first word is gone already.
fn unquote_all(text: &str) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = text.as_bytes();
    loop {
        let (word, after) = unquote(rest)?;
        words.push(word);
        match after {
            [] => return Some(words),
            [b' ', b'"', next @ ..] => rest = next,
            _ => return None,
        }
    }
}

/// Reads one word up to its closing quote and gives what follows the quote. The escapes are those of Redis' `sdscatrepr`.
fn unquote(mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    loop {
        let (byte, after) = match rest {
            [b'"', after @ ..] => return Some((word, after)),
            [b'\\', b'x', high, low, after @ ..] => (hex(*high)? << 4 | hex(*low)?, after),
            [b'\\', b'n', after @ ..] => (b'\n', after),
            [b'\\', b'r', after @ ..] => (b'\r', after),
            [b'\\', b't', after @ ..] => (b'\t', after),
            [b'\\', b'a', after @ ..] => (0x07, after),
            [b'\\', b'b', after @ ..] => (0x08, after),
            [b'\\', same @ (b'"' | b'\\'), after @ ..] => (*same, after),
            [b'\\', ..] | [] => return None,
            [plain, after @ ..] => (*plain, after),
        };
        word.push(byte);
        rest = after;
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Vec<u8>> {
        Command::parse(line).unwrap().words
    }

    #[test]
    fn a_clients_command() {
        let command = Command::parse(r#"+1339518083.107412 [3 127.0.0.1:60866] "get" "a key" """#).unwrap();
        assert_eq!(command.name(), "GET");
        assert_eq!(command.words(), [&b"get"[..], b"a key", b""]);
        assert_eq!(command.at(), Duration::from_micros(1_339_518_083_107_412));
        assert_eq!(command.database(), 3);
        assert_eq!(command.source(), "127.0.0.1:60866");
        assert!(!command.is_from_script());
    }

    #[test]
    fn a_scripts_command() {
        let command = Command::parse(r#"1.2 [0 lua] "PTTL" "k""#).unwrap();
        assert!(command.is_from_script());
    }

    #[test]
    fn other_sources() {
        let command = Command::parse(r#"1.2 [0 [::1]:6379] "PING""#).unwrap();
        assert_eq!(command.source(), "[::1]:6379");
        let command = Command::parse(r#"1.2 [0 unix:/tmp/r s.sock] "PING""#).unwrap();
        assert_eq!(command.source(), "unix:/tmp/r s.sock");
    }

    #[test]
    fn escapes_become_the_bytes_that_were_sent() {
        assert_eq!(
            words(r#"1.2 [0 lua] "\"\\\n\r\t\a\b" "\x00\xffA" "] \"x\"""#),
            [&b"\"\\\n\r\t\x07\x08"[..], b"\x00\xffA", b"] \"x\""]
        );
    }

    #[test]
    fn what_is_no_line_of_a_monitor_is_an_error() {
        for line in [
            "",
            "OK",
            r#"1.2 [0 lua] "open"#,
            r#"1.2 [0 lua] "a"b"#,
            r#"1.2 [0 lua] "\q""#,
            r#"1.2 [0 lua] "\xg0""#,
            r#"1.2 [x lua] "a""#,
        ] {
            assert!(matches!(Command::parse(line), Err(Error::Protocol(_))), "{line}");
        }
    }
}
