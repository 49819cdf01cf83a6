//! `/metrics`. A real service would let the exporter listen (`PrometheusBuilder::with_http_listener`); this one wants the
//! port that the system picks.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;

/// A reader that stands still must not keep the next one waiting for long.
const LIMIT: Duration = Duration::from_secs(2);

/// Serves on a thread of its own for as long as the process lives; tells where.
pub(crate) fn serve(port: u16, metrics: PrometheusHandle) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let address = listener.local_addr()?;
    thread::Builder::new().name("metrics".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            // Whoever asked and went away will ask again.
            let _ = answer(&stream, &metrics);
        }
    })?;
    Ok(address)
}

fn answer(mut stream: &TcpStream, metrics: &PrometheusHandle) -> io::Result<()> {
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    let mut request = BufReader::new(stream).lines();
    let line = request.next().transpose()?.unwrap_or_default();
    for header in request {
        if header?.is_empty() {
            break;
        }
    }
    let (status, body) = if line.starts_with("GET /metrics ") {
        ("200 OK", metrics.render())
    } else {
        ("404 Not Found", "try /metrics\n".to_owned())
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; version=0.0.4\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}
