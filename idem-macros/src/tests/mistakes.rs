//! The sentence of each mistake. That it is told once and at the right place is shown by the facade's `tests/ui`.

use proc_macro2::TokenStream;
use quote::quote;

use super::expand;

fn error(args: TokenStream, item: TokenStream) -> String {
    crate::expand_idempotent(args, item).expect_err("an error").to_string()
}

#[test]
fn an_error_leaves_the_item_usable() {
    let item = quote! { async fn f(a: u8) -> R { todo!() } };
    let tokens = crate::tokens_or_error(crate::expand_idempotent(quote!(), item.clone()), item.clone()).to_string();
    assert!(tokens.starts_with(":: core :: compile_error ! {"), "{tokens}");
    assert!(tokens.ends_with(&item.to_string()), "{tokens}");
}

#[test]
fn what_can_never_be_an_operation() {
    let ok = quote!(name = "n", key = id);
    for (item, sentence) in [
        (quote! { struct S; }, "`#[idempotent]` stands on an `async fn`"),
        (
            quote! { fn f(id: u8) -> R { todo!() } },
            "`#[idempotent]` needs an `async fn`: it waits for the store before and after the body; write `async fn`",
        ),
        (
            quote! { fn f(&self, id: u8) -> impl Future<Output = R> + Send { todo!() } },
            "`#[idempotent]` needs an `async fn`: it waits for the store before and after the body; write `async fn`, \
             also for a trait's `-> impl Future`",
        ),
        (
            quote! { async fn f(&self, id: u8) -> R; },
            "a declaration has no body that could be run once: put `#[idempotent]` on the method of the `impl`",
        ),
        (
            quote! { async fn f(id: u8) { todo!() } },
            "an idempotent function returns `Result<T, E>`, so that a conflict can be told: write `-> Result<(), E>` with \
             `E: From<idem::Error>`",
        ),
        (
            quote! { async fn f(id: &str) -> Result<&str, E> { todo!() } },
            "a kept value must own its data: return `String`",
        ),
        (
            quote! { async fn f<'a>(id: &'a [u8]) -> io::Result<Option<&'a [u8]>> { todo!() } },
            "a kept value must own its data: return a `Vec`",
        ),
        (
            quote! { async fn f(id: u8, out: &mut Vec<u8>) -> R { todo!() } },
            "an `&mut` argument must be skipped, since a replay returns the result but repeats no change: `skip(out)`",
        ),
    ] {
        assert_eq!(error(ok.clone(), item.clone()), sentence, "{item}");
    }
}

#[test]
fn what_a_type_borrows_without_holding_it_is_no_matter() {
    for ty in [quote!(Result<PhantomData<&'static u8>, &'static str>), quote!(R<'a>), quote!(Result<T, E<&'a str>>)] {
        expand(quote!(key = id), quote!(async fn f<'a>(id: &'a str) -> #ty { todo!() }));
    }
}

#[test]
fn methods_need_a_name() {
    let sentence = "a method needs a `name`, since an attribute cannot see the type it belongs to: \
                    `name = \"orders.charge\"`";
    for method in [
        quote! { async fn f(&self, id: u8) -> R { todo!() } },
        quote! { async fn f(self: Arc<Self>, id: u8) -> R { todo!() } },
        quote! { async fn f(id: u8) -> Result<Self, E> { todo!() } },
        quote! { async fn f(id: u8) -> R { g(|| Self::helper(id)) } },
    ] {
        assert_eq!(error(quote!(key = id), method.clone()), sentence, "{method}");
        expand(quote!(key = id, name = "n"), method);
    }
}

#[test]
fn keys_that_tell_no_intents_apart() {
    let item = quote! { async fn f(&self, db: &Db, id: u8, n: u8) -> R { todo!() } };
    let with = |key: TokenStream| error(quote!(name = "n", skip(db), key = #key), item.clone());
    assert_eq!(
        error(quote!(name = "n"), item.clone()),
        "which calls are the same? write `#[idempotent(key = …)]` over the arguments, as in `key = order_id`"
    );
    let unmentioned =
        "this key mentions no argument, so every call would be a repeat of the first; use one of `id`, `n`";
    for key in [quote!("order"), quote!("order-{id}"), quote!((1, Self::KIND)), quote!(x.id)] {
        assert_eq!(with(key), unmentioned);
    }
    assert_eq!(
        with(quote!((id, Uuid::new_v4()))),
        "`new_v4` gives another value on every call, so no repeat would ever be recognised; make the key where the \
         intent is born (the client, the message) and pass it in as an argument"
    );
    assert_eq!(
        with(quote!(db.key_of(id).await)),
        "a key is computed, not fetched: await before the call and pass the value as an argument"
    );
    assert_eq!(
        with(quote!(match id {
            0 => return Err(E),
            id => id,
        })),
        "no `return` in the key: `?` leaves the function with an error before anything is sent"
    );
    assert_eq!(
        error(quote!(name = "n", key = id, skip_all, scope = db.tenant().await?), item.clone()),
        "a scope is computed, not fetched: await before the call and pass the value as an argument"
    );
}

#[test]
fn keys_without_anything_to_mention() {
    assert_eq!(
        error(quote!(key = "nightly"), quote! { async fn f() -> R { todo!() } }),
        "this key is the same for every call, so the function would run once per retention; give it an argument that \
         names the intent (for a daily job: the date)"
    );
    assert_eq!(
        error(quote!(key = 1, name = "n"), quote! { async fn f(&self) -> R { todo!() } }),
        "this key mentions no argument, so every call would be a repeat of the first; use a field of `self`"
    );
    assert_eq!(
        error(quote!(key = 1, skip_all), quote! { async fn f(a: A) -> R { todo!() } }),
        "this key mentions no argument, so every call would be a repeat of the first; use one of `a`"
    );
}

#[test]
fn skips_that_skip_nothing() {
    let item = quote! { async fn f(id: u8, gw: &Gateway) -> R { todo!() } };
    assert_eq!(
        error(quote!(key = id, skip(gateway)), item.clone()),
        "`gateway` is no argument of this function; there are: `id`, `gw`"
    );
    assert_eq!(
        error(quote!(key = id, skip(self)), item.clone()),
        "`self` is no argument of this function; there are: `id`, `gw`"
    );
    assert_eq!(
        error(quote!(key = id, skip_all, skip(gw)), item),
        "`skip_all` leaves out every argument, those of `skip(…)` too: write one of the two"
    );
}

#[test]
fn durations_that_cannot_be() {
    let with = |args: TokenStream| error(quote!(key = id, #args), quote! { async fn f(id: u8) -> R { todo!() } });
    assert_eq!(
        with(quote!(retention = "0h")),
        "a `retention` of zero keeps no result, so no repeat would ever be recognised: write how long repeats may come, as in \
         \"24h\""
    );
    assert_eq!(with(quote!(lease = "0s")), "a `lease` is at least 100 ms");
    assert_eq!(with(quote!(lease = "99ms")), "a `lease` is at least 100 ms");
    assert_eq!(with(quote!(retention = "3651d")), "a `retention` is at most ten years: \"3650d\"");
    assert_eq!(with(quote!(lease = "3651d")), "a `lease` is at most ten years: \"3650d\"");
    for lease in ["60m", "2h"] {
        assert_eq!(
            with(quote!(lease = #lease, retention = "1h")),
            "a `lease` is shorter than the `retention`, which is \"1h\" here"
        );
    }
}
