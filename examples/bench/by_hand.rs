//! The reference: the same two commands as somebody would write them who needs no more than this function. No fingerprint, no fence, no renewal, no
//! takeover; but it does all the work that a caller sees, with keys and values as long as idem's, over as many connections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Script};

use crate::effect::effect;
use crate::side::{Answer, Failure, Side};

/// idem's default.
const LANES: usize = 2;
const TIMEOUT: Duration = Duration::from_millis(900);
/// idem's default retention.
pub(crate) const TTL_MS: u64 = 86_400_000;
/// The lengths of idem's headers.
const CLAIM_LENGTH: usize = 76;
const HEADER_LENGTH: usize = 40;
/// In the place of what idem keeps there.
const BLANK: &str = "............................................................................";

static COMPLETE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local raw = redis.call('GET', KEYS[1])
         if not raw or string.sub(raw, 2, 33) ~= ARGV[1] then return 0 end
         redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
         return 1",
    )
});
static LEFT: LazyLock<Script> = LazyLock::new(|| Script::new("return redis.call('PTTL', KEYS[1])"));

#[derive(Clone)]
pub(crate) struct ByHand(Arc<Lanes>);

struct Lanes {
    lanes: [MultiplexedConnection; LANES],
    turn: AtomicUsize,
}

impl ByHand {
    pub(crate) async fn connect(url: &str) -> Result<Self, Failure> {
        let client = redis::Client::open(url)?;
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(TIMEOUT));
        let connect = || client.get_multiplexed_async_connection_with_config(&config);
        let lanes = [connect().await?, connect().await?];
        Ok(Self(Arc::new(Lanes { lanes, turn: AtomicUsize::new(0) })))
    }

    /// A clone per command, as one takes it out of an application's state.
    pub(crate) fn lane(&self) -> MultiplexedConnection {
        let turn = self.0.turn.fetch_add(1, Ordering::Relaxed);
        self.0.lanes[turn % LANES].clone()
    }

    async fn complete(&self, key: &str, token: &str, result: &str) -> Result<(), Failure> {
        let mut settled = ["C", &BLANK[..HEADER_LENGTH - 1]].concat().into_bytes();
        serde_json::to_writer(&mut settled, result)?;
        let completed: bool =
            COMPLETE.key(key).arg(token).arg(settled).arg(TTL_MS).invoke_async(&mut self.lane()).await?;
        completed.then_some(()).ok_or_else(|| "the claim was lost".into())
    }
}

impl Side for ByHand {
    async fn call(&self, order: &str) -> Result<Answer, Failure> {
        let key = format!("hand:{{bench.charge::{order}}}");
        let token = format!("{:032x}", rand::random::<u128>());
        let claim = ["I", &token, &BLANK[..CLAIM_LENGTH - 1 - token.len()]].concat();
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(claim).arg("NX").arg("GET").arg("PX").arg(TTL_MS);
        let earlier: Option<Vec<u8>> = set.query_async(&mut self.lane()).await?;
        match earlier.as_deref() {
            None => {
                let result = effect(order).await;
                self.complete(&key, &token, &result).await?;
                Ok(Answer::Result(result))
            }
            Some([b'C', rest @ ..]) => Ok(Answer::Result(serde_json::from_slice(&rest[HEADER_LENGTH - 1..])?)),
            Some(_) => {
                let left: u64 = LEFT.key(&key).invoke_async(&mut self.lane()).await?;
                Ok(Answer::Conflict(Duration::from_millis(left)))
            }
        }
    }
}
