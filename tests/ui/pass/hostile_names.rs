#![no_implicit_prelude]
#![deny(warnings, unused)]

use ::core::assert_eq;
use ::core::sync::atomic::{AtomicU32, Ordering::SeqCst};
use ::idem::{Engine, idempotent};

static RUNS: AtomicU32 = AtomicU32::new(0);

// All that an expansion might lean on means something else here.
#[allow(dead_code, non_upper_case_globals)]
mod hostile {
    pub mod std {}
    pub mod core {}
    pub mod tokio {}
    pub mod serde {}
    pub struct Result;
    pub struct Option;
    pub struct String;
    pub struct Box;
    pub struct Vec;
    pub struct Site;
    pub struct Duration;
    pub const Some: u8 = 0;
    pub const Ok: u8 = 0;
}
#[allow(unused_imports)]
use hostile::*;

type Reply<T> = ::core::result::Result<T, ::idem::Error>;

macro_rules! arguments {
    ($($name:ident)*) => {$(
        #[idempotent(key = $name)]
        async fn $name($name: &str) -> Reply<usize> {
            RUNS.fetch_add(1, SeqCst);
            ::core::result::Result::Ok($name.len())
        }
    )*

    async fn each() {
        $(assert_eq!($name("four").await.ok(), ::core::option::Option::Some(4));)*
    }};
}

arguments!(
    key result conn pool redis ctx payload fingerprint lease token ttl idem future __idem r#type _unused call body ret
    returns args name scope engine this
);

#[allow(non_snake_case)]
#[idempotent(key = (SITE, r#match))]
async fn all(SITE: u8, call: u8, (body, ret): (u8, u8), returns: u8, r#match: u8, _: u8, _unused: u8) -> Reply<u8> {
    RUNS.fetch_add(1, SeqCst);
    ::core::result::Result::Ok(SITE + call + body + ret + returns + r#match)
}

async fn run() {
    each().await;
    let runs = RUNS.load(SeqCst);
    each().await;
    assert_eq!(RUNS.load(SeqCst), runs);
    assert_eq!(all(1, 2, (3, 4), 5, 6, 7, 8).await.ok(), ::core::option::Option::Some(21));
    assert_eq!(all(1, 2, (3, 4), 5, 6, 9, 8).await.ok(), ::core::option::Option::Some(21));
    assert_eq!(RUNS.load(SeqCst), runs + 1);
}

fn main() {
    let runtime = ::tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(::idem::with_engine(Engine::in_memory(), run()));
}
