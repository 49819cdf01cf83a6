//! Just enough of HTTP to ask a server on this machine.

use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use crate::Error;

/// Far more than a server on this machine needs.
const LIMIT: Duration = Duration::from_secs(30);

/// Asks for `path`, query included, and gives the body of a "200 OK".
pub fn get(port: u16, path: &str) -> Result<String, Error> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(LIMIT))?;
    // 1.0 has no chunks: the end of the stream is the end of the body.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let not_http = || Error::Protocol(answer.chars().take(80).collect());
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(not_http)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(not_http)?;
    if status == 200 { Ok(body.to_owned()) } else { Err(Error::Http { status, body: body.to_owned() }) }
}

/// `text` as the value of a query's parameter.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            escaped.push(byte.into());
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_in_a_query_is_escaped() {
        assert_eq!(escaped("a{b=\"c\"} + 1"), "a%7Bb%3D%22c%22%7D%20%2B%201");
    }
}
