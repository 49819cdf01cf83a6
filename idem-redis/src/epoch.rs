//! Signs that the server lost records unseen: it was started again, another one took its place, or it evicted keys.
//!
//! A completed record that is lost is missed by nobody: its next repeat is a fresh run. Only the server's own evidence tells
//! of it, so that is looked at whenever a lane is made, and at a slow pace after that.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use idem_core::metrics::STORE_EPOCHS;
use metrics::counter;
use redis::{Pipeline, Value};

use crate::error::Trouble;
use crate::lanes::Lane;

/// One each: Redis 6.2 takes no more than one at a time.
const SECTIONS: [&str; 3] = ["server", "replication", "stats"];

const REASONS: [&str; 3] = ["restart", "failover", "eviction"];

/// What one store has seen of its server.
#[derive(Default)]
pub(crate) struct Epochs {
    last: Mutex<Option<Look>>,
    refused: AtomicBool,
}

/// The server at one moment.
#[derive(Debug, Clone)]
struct Look {
    at: Instant,
    run_id: String,
    uptime: Duration,
    replid: String,
    /// Whether the server carries on what another one began.
    succeeds: bool,
    evicted: u64,
}

impl Epochs {
    /// Looks at the server of `lane`. A server that does not tell is not asked again until a new lane is made, unless what
    /// keeps it from telling passes by itself.
    pub(crate) async fn look(&self, lane: &mut Lane) -> Result<(), Trouble> {
        let mut pipeline = Pipeline::with_capacity(SECTIONS.len());
        for section in SECTIONS {
            pipeline.cmd("INFO").arg(section);
        }
        let answers = lane.ask_all(&pipeline, SECTIONS.len()).await?;
        match answers.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(sections) => self.is_told(&sections),
            Err(Trouble::Word("ERR" | "NOPERM")) => self.is_refused(),
            // The calls themselves will be told.
            Err(Trouble::Word(_) | Trouble::Syntax) => {}
            Err(trouble) => return Err(trouble),
        }
        Ok(())
    }

    /// Whether the server would not tell when it was asked last.
    pub(crate) fn are_untold(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    fn is_told(&self, sections: &[Value]) {
        let texts: Option<Vec<String>> =
            sections.iter().map(|text| redis::from_redis_value(text.clone()).ok()).collect();
        let Some(now) = texts.and_then(|texts| Told::parse(&texts.concat())) else { return self.is_refused() };
        self.refused.store(false, Ordering::Relaxed);
        // A replica is not the server of our records; that it is none, it says itself to whoever writes.
        let Told::Primary(now) = now else { return };
        let before = self.last.lock().unwrap_or_else(PoisonError::into_inner).replace(now.clone());
        let Some(before) = before else { return register() };
        let Some(reason) = now.reason_since(&before) else { return };
        counter!(STORE_EPOCHS, "reason" => reason).increment(1);
        tracing::warn!(
            reason,
            "the store's server may have lost records: repeats of operations that completed before may run again"
        );
    }

    fn is_refused(&self) {
        if !self.refused.swap(true, Ordering::Relaxed) {
            tracing::debug!("the store's server does not tell its epoch: that it lost records will not be seen");
        }
    }
}

/// So that they count from 0: a series that begins with 1 has not risen, for who watches.
fn register() {
    for reason in REASONS {
        counter!(STORE_EPOCHS, "reason" => reason).increment(0);
    }
}

enum Told {
    Primary(Look),
    Replica,
}

impl Told {
    /// `None` where the texts are not those of a Redis or Valkey server.
    fn parse(info: &str) -> Option<Self> {
        let field = |name: &str| {
            info.lines()
                .find_map(|line| line.trim_end().split_once(':').filter(|(is, _)| *is == name))
                .map(|(_, is)| is)
        };
        if field("role")? != "master" {
            return Some(Self::Replica);
        }
        Some(Self::Primary(Look {
            at: Instant::now(),
            run_id: field("run_id")?.to_owned(),
            uptime: Duration::from_secs(field("uptime_in_seconds")?.parse().ok()?),
            replid: field("master_replid")?.to_owned(),
            succeeds: field("master_replid2")?.bytes().any(|digit| digit != b'0'),
            evicted: field("evicted_keys")?.parse().ok()?,
        }))
    }
}

impl Look {
    /// What happened since the look `before` that may have cost records.
    fn reason_since(&self, before: &Self) -> Option<&'static str> {
        if self.run_id != before.run_id {
            // One that was there all the time, elsewhere, took over; else it is ours, started again. Both have a new
            // replication id, so only the age tells. Its seconds are rounded.
            let is_younger = self.uptime <= self.at.duration_since(before.at) + Duration::from_secs(1);
            return Some(if is_younger { "restart" } else { "failover" });
        }
        // A primary takes another replication id for its first replica as well, and when it had none for an hour; only
        // then it succeeds nobody.
        if self.replid != before.replid && self.succeeds {
            return Some("failover");
        }
        (self.evicted > before.evicted).then_some("eviction")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(role: &str, run_id: &str, replids: (&str, &str), evicted: u64) -> Option<Told> {
        Told::parse(&format!(
            "# Server\r\nredis_version:7.0.15\r\nrun_id:{run_id}\r\nuptime_in_seconds:100\r\n# Replication\r\nrole:{role}\r\n\
             master_replid:{}\r\nmaster_replid2:{}\r\n# Stats\r\nevicted_keys:{evicted}\r\n",
            replids.0, replids.1,
        ))
    }

    fn look(run_id: &str, replids: (&str, &str), evicted: u64) -> Look {
        match told("master", run_id, replids, evicted) {
            Some(Told::Primary(look)) => look,
            _ => panic!("a primary's"),
        }
    }

    #[test]
    fn what_may_have_cost_records_is_told_from_what_did_not() {
        let before = look("a", ("x", "000"), 7);
        let since = |now: Look| now.reason_since(&before);
        assert_eq!(since(look("a", ("x", "000"), 7)), None);
        assert_eq!(since(look("a", ("x", "000"), 8)), Some("eviction"));
        assert_eq!(since(look("a", ("x", "000"), 0)), None, "its statistics were reset");
        assert_eq!(since(look("a", ("y", "x"), 7)), Some("failover"), "it was a replica in between");
        assert_eq!(since(look("a", ("y", "000"), 7)), None, "it has its first replica");
        assert_eq!(since(look("b", ("y", "x"), 7)), Some("failover"), "it is older than our last look");
        let restarted = Look { uptime: Duration::from_secs(1), ..look("b", ("y", "000"), 0) };
        assert_eq!(since(restarted), Some("restart"));
    }

    #[test]
    fn a_replica_and_what_is_no_server_are_told_apart() {
        assert!(matches!(told("slave", "a", ("x", "y"), 0), Some(Told::Replica)));
        for text in ["", "role:master\r\n", "# Proxy\r\nversion:1\r\n"] {
            assert!(Told::parse(text).is_none(), "{text:?}");
        }
    }
}
