//! A repository method over a driver whose error type is not yours, so that it can have no place for idem's errors: wrap
//! both, and say of the driver's errors what they mean.
//!
//! ```text
//! cargo run --example repository                                     # in memory
//! REDIS_URL=redis://127.0.0.1:6379 cargo run --example repository    # twice: the second run finds the first one's results
//! ```
//!
//! `db.rs` stands for the driver. Where the effect lives in one SQL database, a unique constraint on the request's id in
//! the same transaction is the stronger choice; this is for the rest, such as a write that is followed by a mail.
#![allow(clippy::print_stdout, reason = "an example shows what happened")]

mod db;

use std::error::Error;

use idem::{Engine, RedisStore, idempotent};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize)]
struct NewUser {
    request: String,
    email: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct User {
    id: u64,
    email: String,
}

/// `#[from] db::Error` for the `?` in the body, `#[from] idem::Error` for conflicts, mismatches and outages.
#[derive(Debug, thiserror::Error)]
enum UsersError {
    #[error(transparent)]
    Db(#[from] db::Error),
    #[error(transparent)]
    Idem(#[from] idem::Error),
}

impl UsersError {
    /// Nothing was written, so the same request may come again with a corrected address.
    fn is_rejection(&self) -> bool {
        matches!(self, Self::Db(db::Error::Unique(_)))
    }
}

struct Users {
    pool: db::Pool,
}

impl Users {
    // A method has no name of its own that an attribute could see. `self` is not compared.
    #[idempotent(name = "users.register", key = new.request, reject = UsersError::is_rejection)]
    async fn register(&self, new: &NewUser) -> Result<User, UsersError> {
        let id = self.pool.insert(&new.email).await?;
        Ok(User { id, email: new.email.clone() })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    idem::install(match std::env::var("REDIS_URL") {
        Ok(url) => Engine::new(RedisStore::from_url(&url)?),
        Err(_) => Engine::in_memory(),
    })?;
    let users = Users { pool: db::Pool::default() };
    let register = async |what: &str, request: &str, email: &str| {
        let new = NewUser { request: request.to_owned(), email: email.to_owned() };
        match users.register(&new).await {
            Ok(user) => println!("{what}: user {} is {}", user.id, user.email),
            Err(UsersError::Db(error)) => println!("{what}: the database says: {error}"),
            Err(UsersError::Idem(error)) => println!("{what}: idem says {:?}, HTTP {}", error.kind(), error.status()),
        }
    };

    register("a first request", "r-1", "ann@example.org").await;
    register("its repeat", "r-1", "ann@example.org").await;
    register("the same request, another address", "r-1", "bob@example.org").await;

    register("an address that is taken", "r-2", "ann@example.org").await;
    register("the same request, corrected", "r-2", "bob@example.org").await;

    users.pool.exhaust_once();
    register("without a connection", "r-3", "cid@example.org").await;
    register("its repeat, which runs", "r-3", "cid@example.org").await;
    println!("rows: {}", users.pool.rows());
    Ok(())
}
