//! A blocking client of the Redis protocol (RESP2), just large enough for tests: it shares no code with the client under test.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::Error;

const CONNECT_LIMIT: Duration = Duration::from_secs(2);
const REPLY_LIMIT: Duration = Duration::from_secs(10);

/// One reply of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A status, such as `OK`.
    Simple(String),
    /// An error, its code word first, as in `WRONGTYPE Operation against …`.
    Error(String),
    /// A number.
    Int(i64),
    /// A value; `None` is nil, also where a command answers with a nil array.
    Bulk(Option<Vec<u8>>),
    /// Several replies.
    Array(Vec<Reply>),
}

impl Reply {
    /// The number, when the reply is one.
    #[must_use]
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The text of a status or of a value; `None` for nil and for every other kind. Bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Simple(text) => Some(text.clone()),
            Self::Bulk(Some(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// Whether the reply is nil.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        *self == Self::Bulk(None)
    }
}

/// One connection to a server on loopback; for tests that need a connection's own state, such as `SELECT` or `MULTI`.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    /// Connects to the server on `port`. Neither connecting nor any reply is awaited longer than some seconds.
    pub fn connect(port: u16) -> Result<Self, Error> {
        Self::connect_with_limit(port, REPLY_LIMIT)
    }

    pub(crate) fn connect_with_limit(port: u16, reply_limit: Duration) -> Result<Self, Error> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let stream = TcpStream::connect_timeout(&address, CONNECT_LIMIT)?;
        stream.set_read_timeout(Some(reply_limit))?;
        stream.set_write_timeout(Some(reply_limit))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends one command and waits for its reply. An error of the server is a [`Reply::Error`], not an [`Error`].
    pub fn call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Result<Reply, Error> {
        self.send(words)?;
        self.reply()
    }

    /// Sends one command and does not wait.
    pub fn send<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Result<(), Error> {
        self.stream.get_mut().write_all(&encode(words))?;
        Ok(())
    }

    /// Waits for the next reply.
    pub fn reply(&mut self) -> Result<Reply, Error> {
        read_reply(&mut self.stream)
    }

    /// The stream itself, with what is already read from it; for a monitor, which reads for as long as it lives.
    pub(crate) fn into_stream(self) -> Result<BufReader<TcpStream>, Error> {
        self.stream.get_ref().set_read_timeout(None)?;
        Ok(self.stream)
    }
}

fn encode<W: AsRef<[u8]>>(words: &[W]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        let word = word.as_ref();
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
    out
}

fn read_reply(stream: &mut impl BufRead) -> Result<Reply, Error> {
    let line = read_line(stream)?;
    let Some((kind, rest)) = line.split_at_checked(1) else {
        return Err(Error::Protocol("an empty line".into()));
    };
    match kind {
        "+" => Ok(Reply::Simple(rest.to_owned())),
        "-" => Ok(Reply::Error(rest.to_owned())),
        ":" => Ok(Reply::Int(number(rest)?)),
        "$" => read_bulk(stream, number(rest)?).map(Reply::Bulk),
        "*" => match number(rest)? {
            -1 => Ok(Reply::Bulk(None)),
            count => (0..count).map(|_| read_reply(stream)).collect::<Result<_, _>>().map(Reply::Array),
        },
        _ => Err(Error::Protocol(line)),
    }
}

fn read_bulk(stream: &mut impl BufRead, length: i64) -> Result<Option<Vec<u8>>, Error> {
    let Ok(length) = usize::try_from(length) else {
        return Ok(None);
    };
    let mut bytes = vec![0; length + 2];
    stream.read_exact(&mut bytes)?;
    bytes.truncate(length);
    Ok(Some(bytes))
}

/// One line without its end. An end of the stream is an error: a reply was expected.
pub(crate) fn read_line(stream: &mut impl BufRead) -> Result<String, Error> {
    let mut line = Vec::new();
    stream.read_until(b'\n', &mut line)?;
    if !line.ends_with(b"\r\n") {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    line.truncate(line.len() - 2);
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn number(text: &str) -> Result<i64, Error> {
    text.parse().map_err(|_| Error::Protocol(format!("not a number: {text:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(mut bytes: &[u8]) -> Result<Reply, Error> {
        read_reply(&mut bytes)
    }

    #[test]
    fn every_kind_of_reply_is_read() {
        assert_eq!(parse(b"+OK\r\n").unwrap(), Reply::Simple("OK".into()));
        assert_eq!(parse(b"-ERR no\r\n").unwrap(), Reply::Error("ERR no".into()));
        assert_eq!(parse(b":-7\r\n").unwrap(), Reply::Int(-7));
        assert_eq!(parse(b"$-1\r\n").unwrap(), Reply::Bulk(None));
        assert_eq!(parse(b"*-1\r\n").unwrap(), Reply::Bulk(None));
        assert_eq!(
            parse(b"*3\r\n$4\r\na\r\nb\r\n*0\r\n:1\r\n").unwrap(),
            Reply::Array(vec![Reply::Bulk(Some(b"a\r\nb".to_vec())), Reply::Array(vec![]), Reply::Int(1)])
        );
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        assert!(matches!(parse(b"hello\r\n"), Err(Error::Protocol(_))));
        assert!(matches!(parse(b"\r\n"), Err(Error::Protocol(_))));
        assert!(matches!(parse(b":x\r\n"), Err(Error::Protocol(_))));
        assert!(matches!(parse(b"+OK"), Err(Error::Io(_))));
        assert!(matches!(parse(b"$5\r\nab\r\n"), Err(Error::Io(_))));
        assert!(matches!(parse(b""), Err(Error::Io(_))));
    }

    #[test]
    fn words_are_sent_as_they_are() {
        let words: [&[u8]; 2] = [b"GET", b"\r\n\xff"];
        assert_eq!(encode(&words), b"*2\r\n$3\r\nGET\r\n$3\r\n\r\n\xff\r\n");
    }
}
