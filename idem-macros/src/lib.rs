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
/// The function returns `Result<T, E>`, where `T` is `Serialize + DeserializeOwned` and `E` is `From<idem::Error>`. The
/// facade tells the whole story, step by step: [`idem::idempotent`](https://docs.rs/idem-rs/latest/idem/attr.idempotent.html).
///
/// | argument | meaning |
/// |---|---|
/// | `key = expr` | What makes two calls the same. Required. It borrows the arguments; a tuple literal borrows each element |
/// | `name = "payments.charge"` | The operation's stable name. Required but for free functions at module level |
/// | `scope = expr` | The tenant: keys of one scope are never those of another |
/// | `skip(a, b)` | Arguments that are no part of the intent: clients, pools, contexts. The others need `Serialize` |
/// | `fingerprint = expr` | What is compared in place of the arguments |
/// | `skip_all` | Nothing is compared, so a repeat with other arguments is not noticed |
/// | `lease = "30s"` | How long the claim of a worker that died keeps others out; at least 100 ms. Wins over the policy's |
/// | `retention = "24h"` | How long a kept result answers repeats. Wins over the policy's |
/// | `policy = expr` | An `idem::Policy` in place of the engine's |
/// | `engine = expr` | An engine other than the installed one, as in `engine = self.idem` |
/// | `hold = path` | `fn(&E) -> bool`: after these errors nobody knows the outcome, and nothing runs until it is settled |
/// | `keep = path` | `fn(&E) -> bool`: these errors are final, kept and replayed. Needs `E: Serialize + DeserializeOwned` |
/// | `reject = path` | `fn(&E) -> bool`: after these errors nothing happened, so other arguments may follow |
/// | `recover = expr` | A future of `Result<Option<T>, E>`: asks what became of an attempt that crashed or was held, before the body runs |
/// | `detach` | The body runs in a task of its own: a caller that goes away cancels nothing. Arguments, `T` and `E` are `Send + 'static` |
/// | `crate = path` | Where the facade is, if it was renamed or is re-exported |
///
/// Durations are a number and one of `ms`, `s`, `m`, `h`, `d`. Key, scope, fingerprint, policy and engine are evaluated
/// once, when the future is first polled, in the function's own scope: `?` works and returns before anything is sent,
/// `self` and `Self` mean what they mean in the body. They cannot `.await` or `return`.
#[proc_macro_attribute]
pub fn idempotent(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let item = TokenStream::from(item);
    tokens_or_error(expand_idempotent(args.into(), item.clone()), item).into()
}

/// Makes a struct or an enum an idempotency key: which of its fields name the intent, and which only belong to it.
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
