//! The attribute [`macro@idempotent`] and the derive macro [`macro@IdempotencyKey`] of `idem`. Use them through the
//! facade, which holds all that they expand to.

use proc_macro2::TokenStream;
use syn::Result;

mod args;
mod boxed;
mod derive;
mod expand;
mod function;
mod operation;
mod options;
#[cfg(test)]
mod tests;
mod words;

/// Makes an `async fn` safe to repeat: its body runs once per key, and every repeat gets the kept result.
///
/// ```ignore
/// use idem::idempotent;
///
/// #[idempotent(name = "payments.charge", key = order_id, skip(gateway))]
/// async fn charge(gateway: &Gateway, order_id: &str, amount_cents: u64) -> Result<Receipt, ChargeError> {
///     gateway.charge(amount_cents).await
/// }
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Receipt {
///     id: u64,
/// }
///
/// #[derive(Debug, thiserror::Error)]
/// enum ChargeError {
///     #[error("the card was declined")]
///     Declined,
///     #[error(transparent)]
///     Idem(#[from] idem::Error),
/// }
/// ```
///
/// The first call for an `order_id` runs the body and keeps its `Ok` value. A repeat gets that value without running
/// anything; one that comes while the first call still runs gets an `idem::Error` of kind `InFlight` at once, and one
/// with another `amount_cents` gets `Mismatch`. An `Err` of the body is passed on and not kept: the next call runs.
///
/// The function returns `Result<T, E>`, where `T` is `Serialize + DeserializeOwned` and `E` is `From<idem::Error>`.
/// `anyhow::Error` and `Box<dyn Error + Send + Sync>` are; the error types of other crates (`sqlx::Error`) cannot be,
/// so wrap them: `enum MyError { Db(#[from] sqlx::Error), Idem(#[from] idem::Error) }`.
///
/// # Arguments
///
/// | argument | meaning |
/// |---|---|
/// | `key = expr` | What makes two calls the same. Required |
/// | `name = "payments.charge"` | The operation's stable name. Required but for free functions at module level |
/// | `scope = expr` | The tenant: keys of one scope are never those of another |
/// | `skip(a, b)` | Arguments that are no part of the intent: clients, pools, contexts |
/// | `skip_all` | No argument is compared, so a repeat with other arguments is not noticed |
/// | `retention = "24h"` | How long a kept result answers repeats |
/// | `lease = "30s"` | How long the claim of a worker that died keeps others out; at least 100 ms |
/// | `engine = expr` | An engine other than the installed one, as in `engine = self.idem` |
/// | `crate = path` | Where the facade is, if it was renamed or is re-exported |
///
/// Durations are a number and one of `ms`, `s`, `m`, `h`, `d`.
///
/// ## `key`
///
/// An expression over the arguments, which it borrows: text, an integer, a UUID or a date (by features), a tuple of keys (a
/// tuple literal borrows each element), an `Option` of one (`None` is refused when called), or any type that is an
/// `IdempotencyKey`, as by [`derive(IdempotencyKey)`](macro@IdempotencyKey).
///
/// The key names the *intent* and must be the same on every repeat, so it is made where the intent is born, by the
/// client or in the message, and comes in as an argument. A key that mentions no argument, or that is made up on the
/// spot (`Uuid::new_v4()`), is a compile error.
///
/// Key, scope and engine are evaluated once, when the future is first polled, in the function's own scope: `?` works
/// and returns before anything is sent, `self` and `Self` mean what they mean in the body. They cannot `.await` or
/// `return`.
///
/// ## `name`
///
/// Records are found by the name, so it should outlive refactorings. Without it a free function at module level is
/// called after its path, `module::path::function`: moving or renaming it then makes all its results unknown. The path
/// begins with the crate that was compiled, so one module in a library and in a binary gives two names.
///
/// Two functions under one name, or a nested or associated function without one, are told by an error of kind `Config`
/// when they are first called, before anything is sent. Names are checked per engine: functions that never meet on one
/// engine may share a name, and then share records where their engines share a store.
///
/// A generic function is one operation for all its instantiations, and so is a trait's default method for all its
/// implementors. What tells them apart belongs into the key: `key = (M::KIND, message.id())`.
///
/// ## What is compared
///
/// A repeat must bring the same arguments. An argument that *is* the key or an element of the key's tuple counts with what
/// `IdempotencyKey::fingerprint` says: nothing for texts and numbers, and for a derived key the fields that are neither
/// key nor skipped. So does `self`, where it is the key.
///
/// Of the other arguments are compared the values that their patterns bind, in order and without names: renaming one
/// changes nothing; adding, removing or reordering one does. They need `serde::Serialize`. The receiver is left out, and
/// so is what the body cannot see (`_`, `..`). An `&mut` argument has to be skipped: a replay repeats no change.
///
/// # What stays as it is
///
/// The signature, visibility, documentation and other attributes. The future is `Send` when the body, `T` and `E` are.
/// Named arguments drop in the order they always did.
///
/// Of two attributes the *upper* expands first and ends up *inside*: `#[tracing::instrument]` above `#[idempotent]`
/// makes spans of executed bodies only, below it (usually wanted) of every call. A retry must be outside, hence below.
#[proc_macro_attribute]
pub fn idempotent(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let item = TokenStream::from(item);
    tokens_or_error(expand_idempotent(args.into(), item.clone()), item).into()
}

/// Makes a struct or an enum an idempotency key: which of its fields name the intent, and which only belong to it.
///
/// ```ignore
/// use idem::{IdempotencyKey, idempotent};
///
/// #[derive(IdempotencyKey)]
/// struct Welcome {
///     #[idem(key)]
///     user: u64,
///     #[idem(key)]
///     campaign: String,
///     text: String,
///     #[idem(skip)]
///     trace: TraceId,
/// }
///
/// #[idempotent(name = "mail.welcome", key = message)]
/// async fn welcome(message: Welcome) -> anyhow::Result<()> {
///     mail(message.user, &message.text).await
/// }
/// ```
///
/// A message for the same `user` and `campaign` is a repeat. With another `text` it is refused, as `Mismatch`; `trace` may
/// differ, and the message as a whole need not be `Serialize`.
///
/// | written | meaning |
/// |---|---|
/// | `#[idem(key)]` on a field | it is the key; of several, all are, in order. It is an `IdempotencyKey` itself |
/// | `#[idem(skip)]` on a field | it does not count |
/// | nothing on a field | it is compared, by its name and value. It is `Serialize` |
/// | `struct OrderId(Uuid)` | a newtype needs no mark: it is the same key as what it holds |
/// | an enum | the name of the variant comes first in the key. Where no field is marked, all of them follow it |
/// | `#[idem(rename = "…")]` on a variant | its name in the key, so that it can be renamed in the code |
/// | `#[idem(crate = path)]` on the type | where the facade is, if it was renamed or is re-exported |
///
/// What counts besides the key is compared where a value is the key or an element of it (`key = message`,
/// `key = (tenant, message)`); elsewhere an argument is compared as serde writes it, and `#[idem(skip)]` has no effect.
/// A new field that is an `Option` changes nothing while it is `None`; renaming a compared field or a variant does.
#[proc_macro_derive(IdempotencyKey, attributes(idem))]
pub fn derive_idempotency_key(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive::derive(input.into()).into()
}

fn expand_idempotent(args: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let operation = operation::Operation::new(syn::parse2(args)?, syn::parse2(item)?)?;
    Ok(expand::expand(&operation))
}

/// The expansion, or the error beside the item as it was, so that the one mistake gives one message: callers still find
/// the function, and what only our arguments mention is not reported as unused.
fn tokens_or_error(expansion: Result<TokenStream>, item: TokenStream) -> TokenStream {
    expansion.unwrap_or_else(|error| {
        let mut tokens = error.to_compile_error();
        tokens.extend(quote::quote!(#[allow(unused_variables)]));
        tokens.extend(item);
        tokens
    })
}
