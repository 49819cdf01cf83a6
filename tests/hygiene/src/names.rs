//! Arguments that are called as what the expansion itself might need. Case O-38.

use ::idem::{Error, idempotent};

macro_rules! arguments {
    ($($function:ident($argument:ident))*) => {
        $(
            /// Gives its argument back.
            ///
            /// # Errors
            ///
            /// Of idem.
            #[idempotent(key = $argument)]
            pub async fn $function($argument: &str) -> Result<String, Error> {
                Ok($argument.to_owned())
            }
        )*

        #[cfg(test)]
        mod tests {
            // `key` with the value "k1": the record is for "k1".
            #[::tokio::test]
            async fn each_key_is_the_callers_argument() {
                let each = async {
                    for value in ["k1", "k2", "k1"] {
                        $(assert_eq!(super::$function(value).await.unwrap(), value, stringify!($argument));)*
                    }
                };
                ::idem::with_engine(::idem::Engine::in_memory(), each).await;
            }
        }
    };
}

arguments! {
    of_key(key) of_result(result) of_conn(conn) of_pool(pool) of_redis(redis) of_ctx(ctx) of_payload(payload)
    of_fingerprint(fingerprint) of_lease(lease) of_token(token) of_ttl(ttl) of_idem(idem) of_future(future)
    of_dunder(__idem) of_type(r#type) of_call(call) of_body(body) of_ret(ret) of_returns(returns) of_args(args)
    of_name(name) of_scope(scope) of_engine(engine) of_this(this) of_rest(rest) of_core(core) of_std(std) of_here(here)
}

/// All at once.
///
/// # Errors
///
/// Of idem.
#[expect(non_snake_case, reason = "it is to clash with a static")]
#[idempotent(key = (SITE, call, r#match))]
pub async fn all(SITE: u8, call: u8, (body, ret): (u8, u8), returns: u8, r#match: u8, _: u8) -> Result<u8, Error> {
    Ok(SITE + call + body + ret + returns + r#match)
}

/// What is underscored is used by the fingerprint all the same.
///
/// # Errors
///
/// Of idem.
#[idempotent(key = _id)]
pub async fn underscored(_id: u8, _unused: u8, __dunder: u8) -> Result<(), Error> {
    Ok(())
}
