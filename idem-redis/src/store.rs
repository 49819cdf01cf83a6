//! The store: each verb as one command or script on a lane.

use std::fmt;
use std::num::NonZeroUsize;

use bytes::Bytes;
use deadpool_redis::{Config, Pool, Runtime};
use idem_core::record::{Corrupt, Record};
use idem_core::store::{
    Claim, ClaimReply, Complete, CompleteReply, Forget, ForgetReply, InspectReply, Page, Release, ReleaseReply, Renew,
    RenewReply, Settle, SettleReply, Store, StoreError, Survey,
};
use idem_core::{Operation, protocol};
use redis::{Cmd, Value};

use crate::error::{BuildError, RedisCause, Trouble};
use crate::keyspace::Keyspace;
use crate::lanes::{Lane, Lanes};
use crate::{scripts, survey};

/// Keeps records on a Redis (6.2 or later) or Valkey server.
///
/// It connects through a pool's manager but takes none of the pool's connections: it has its own, two on each runtime
/// unless the builder says otherwise, and one more where the keeper renews. Nothing is sent before the first call. Each new
/// connection asks the server by `INFO` whether it may have lost records ([`STORE_EPOCHS`](idem_core::metrics::STORE_EPOCHS)).
///
/// ```no_run
/// # fn main() -> Result<(), idem_redis::BuildError> {
/// let store = idem_redis::RedisStore::from_url("redis://127.0.0.1:6379")?;
/// # Ok(()) }
/// ```
pub struct RedisStore {
    lanes: Lanes,
    keyspace: Keyspace,
    fast_claim: bool,
}

impl RedisStore {
    /// A store on the server of `pool`, its keys under the prefix `idem`.
    #[must_use]
    pub fn new(pool: Pool) -> Self {
        Self { lanes: Lanes::new(pool, DEFAULT_LANES), keyspace: Keyspace::default(), fast_claim: true }
    }

    /// A store on the server at `url`, as in `redis://user:password@host:6379/0`.
    ///
    /// # Errors
    ///
    /// [`BuildError::Url`], if this is no Redis URL.
    pub fn from_url(url: &str) -> Result<Self, BuildError> {
        pool(url).map(Self::new)
    }

    /// A store on the server of `pool`, to be configured.
    pub fn builder(pool: Pool) -> RedisStoreBuilder {
        RedisStoreBuilder { pool, prefix: None, lanes: DEFAULT_LANES, fast_claim: true }
    }

    /// The command that decides most claims: one round trip, no script.
    async fn fast_claim(&self, lane: &mut Lane, key: &str, request: &Claim, first: &Bytes) -> Result<Fast, Trouble> {
        let mut command = Cmd::with_capacity(7, key.len() + first.len() + 96);
        command.arg("SET").arg(key).arg(&first[..]).arg("NX").arg("GET").arg("PX").arg(request.linger);
        match lane.ask(&command).await {
            Ok(Value::Nil) => {
                let step = protocol::claim(None, request);
                Ok(Fast::Decided(step.reply))
            }
            Ok(Value::BulkString(raw)) => {
                let seen = raw.into();
                Ok(match Record::from_bytes(&seen) {
                    Ok(record) => match protocol::recognise(&record, request) {
                        Some(reply) => Fast::Decided(reply),
                        None => Fast::Undecided { seen },
                    },
                    // The script compares the fingerprint first, which it can whatever the codec.
                    Err(Corrupt::UnknownCodec) => UNSEEN,
                    Err(corrupt) => Fast::Decided(ClaimReply::Corrupt(corrupt)),
                })
            }
            Ok(_) => Err(Trouble::Unanswered(RedisCause::UndeclaredReply)),
            Err(Trouble::Word("WRONGTYPE")) => Ok(Fast::Decided(ClaimReply::Corrupt(Corrupt::ForeignType))),
            // The server writes nothing now, but a replay needs no write: the script reads first.
            Err(Trouble::Word("OOM" | "NOREPLICAS" | "MISCONF")) => Ok(UNSEEN),
            Err(Trouble::Syntax) => {
                lane.remember_no_fast_claim();
                Ok(UNSEEN)
            }
            Err(trouble) => Err(trouble),
        }
    }
}

/// What a fast claim came to.
enum Fast {
    Decided(ClaimReply),
    /// `claim.lua` decides; it need not check the record again that was seen, if any was.
    Undecided {
        seen: Bytes,
    },
}

const UNSEEN: Fast = Fast::Undecided { seen: Bytes::new() };

impl Store for RedisStore {
    async fn claim(&self, request: &Claim) -> Result<ClaimReply, StoreError> {
        let key = self.keyspace.key(&request.operation);
        let first = request.first_record().to_bytes();
        let mut lane = self.lanes.lane().await?;
        let mut seen = Bytes::new();
        if self.fast_claim && lane.has_fast_claim() {
            match self.fast_claim(&mut lane, &key, request, &first).await? {
                Fast::Decided(reply) => return Ok(reply),
                Fast::Undecided { seen: met } => seen = met,
            }
        }
        Ok(scripts::claim(&mut lane, &key, request, &first, &seen).await?)
    }

    async fn renew(&self, request: &Renew) -> Result<RenewReply, StoreError> {
        let mut lane = self.lanes.keepers_lane().await?;
        Ok(scripts::renew(&mut lane, &self.keyspace.key(&request.operation), request).await?)
    }

    async fn complete(&self, request: &Complete) -> Result<CompleteReply, StoreError> {
        let mut lane = self.lanes.lane().await?;
        Ok(scripts::complete(&mut lane, &self.keyspace.key(&request.operation), request).await?)
    }

    async fn release(&self, request: &Release) -> Result<ReleaseReply, StoreError> {
        let mut lane = self.lanes.lane().await?;
        Ok(scripts::release(&mut lane, &self.keyspace.key(&request.operation), request).await?)
    }

    async fn settle(&self, request: &Settle) -> Result<SettleReply, StoreError> {
        let mut lane = self.lanes.lane().await?;
        Ok(scripts::settle(&mut lane, &self.keyspace.key(&request.operation), request).await?)
    }

    async fn forget(&self, request: &Forget) -> Result<ForgetReply, StoreError> {
        let mut lane = self.lanes.lane().await?;
        Ok(scripts::forget(&mut lane, &self.keyspace.key(&request.operation), request).await?)
    }

    async fn inspect(&self, operation: &Operation) -> Result<InspectReply, StoreError> {
        let mut lane = self.lanes.lane().await?;
        Ok(scripts::inspect(&mut lane, &self.keyspace.key(operation)).await?)
    }

    async fn survey(&self, request: &Survey) -> Result<Page, StoreError> {
        let mut lane = self.lanes.lane().await?;
        Ok(survey::page(&mut lane, &self.keyspace, request).await?)
    }

    async fn watch(&self) -> Result<(), StoreError> {
        Ok(self.lanes.watch().await?)
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore").field("keyspace", &self.keyspace).finish_non_exhaustive()
    }
}

/// Configures a [`RedisStore`].
#[must_use = "a builder does nothing until it builds"]
pub struct RedisStoreBuilder {
    pool: Pool,
    prefix: Option<String>,
    lanes: NonZeroUsize,
    fast_claim: bool,
}

/// Two connections keep a server busy from two cores and more; a third is the keeper's.
const DEFAULT_LANES: NonZeroUsize = NonZeroUsize::new(2).unwrap();

impl RedisStoreBuilder {
    /// What all keys begin with. Default: `idem`. Different environments on one server need different prefixes.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// How many connections the calls share on each runtime, beside the keeper's one. Default: 2.
    pub fn lanes(mut self, lanes: NonZeroUsize) -> Self {
        self.lanes = lanes;
        self
    }

    /// Whether claims try `SET … NX GET` first, which decides most of them in one round trip, or always take the script.
    /// Default: `true`. A server before Redis 7.0 shows by itself that it lacks the command; `false` is for a proxy that
    /// mistakes it.
    pub fn fast_claim(mut self, fast_claim: bool) -> Self {
        self.fast_claim = fast_claim;
        self
    }

    /// The store.
    ///
    /// # Errors
    ///
    /// [`BuildError::Prefix`], if the prefix is empty or holds a brace, white space or a control character.
    pub fn build(self) -> Result<RedisStore, BuildError> {
        let keyspace = self.prefix.map_or_else(|| Ok(Keyspace::default()), Keyspace::new)?;
        Ok(RedisStore { lanes: Lanes::new(self.pool, self.lanes), keyspace, fast_claim: self.fast_claim })
    }
}

impl fmt::Debug for RedisStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStoreBuilder")
            .field("prefix", &self.prefix)
            .field("lanes", &self.lanes)
            .finish_non_exhaustive()
    }
}

fn pool(url: &str) -> Result<Pool, BuildError> {
    Config::from_url(url).create_pool(Some(Runtime::Tokio1)).map_err(|_| BuildError::Url)
}
