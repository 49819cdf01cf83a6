//! From the attribute's tokens to the expansion's, or to the sentence of the error.

use proc_macro2::TokenStream;
use quote::quote;

fn expand(args: TokenStream, item: TokenStream) -> String {
    let tokens = crate::expand_idempotent(args, item).expect("an expansion").to_string();
    // As a function call, since the input of a macro is never formatted.
    let tokens = tokens.replace("pin :: pin ! (", "pin :: pin (");
    prettyplease::unparse(&syn::parse_str(&tokens).expect("an item")).replace("pin::pin(", "pin::pin!(")
}

/// The statements around the body, on one line.
fn frame(args: TokenStream, item: TokenStream) -> String {
    expand(args, item).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn error(args: TokenStream, item: TokenStream) -> String {
    crate::expand_idempotent(args, item).expect_err("an error").to_string()
}

#[track_caller]
fn assert_in(expansion: &str, part: &str) {
    assert!(expansion.contains(part), "no `{part}` in: {expansion}");
}

#[test]
fn the_expansion_reads_like_code() {
    let expansion = expand(
        quote!(key = order_id, skip(gateway)),
        quote! {
            async fn charge(gateway: &Gateway, order_id: &str, amount_cents: u64) -> Result<Receipt, ChargeError> {
                gateway.charge(amount_cents).await
            }
        },
    );
    assert_eq!(expansion, include_str!("../tests/expansion/charge.rs"));
}

#[test]
fn every_argument_has_its_step_in_order() {
    let expansion = frame(
        quote! {
            skip_all, scope = tenant, key = id, engine = self.idem, lease = "250ms", retention = "7d",
            name = "orders.ship", crate = ::renamed
        },
        quote!(pub(crate) async fn ship(&self, tenant: u8, id: u8) -> sqlx::Result<()> { Ok(()) }),
    );
    assert_in(&expansion, "pub(crate) async fn ship(&self, tenant: u8, id: u8) -> sqlx::Result<()> {");
    assert_in(&expansion, "static SITE: ::renamed::__private::Site = ::renamed::__private::Site::new( \"orders.ship\", )");
    assert_in(&expansion, ".retention(::core::time::Duration::from_millis(604_800_000))");
    assert_in(&expansion, ".lease(::core::time::Duration::from_millis(250));");
    assert_in(&expansion, "} .engine(&self.idem) .key(&id) .scope(&tenant) .no_args();");
    assert_in(&expansion, "::renamed::__private::returns::<sqlx::Result<()>>();");
}

#[test]
fn tuple_literals_borrow_each_element_and_the_rest_is_borrowed_whole() {
    let key = |key: TokenStream| {
        let expansion = frame(quote!(key = #key), quote!(async fn f(a: u8, b: B) -> R { todo!() }));
        let (_, rest) = expansion.split_once(".key(").expect("a key");
        rest.split_once(") .arg(&a)").expect("arguments").0.to_owned()
    };
    assert_eq!(key(quote!(a)), "&a");
    assert_eq!(key(quote!((a))), "&a");
    assert_eq!(key(quote!(b.id.as_deref())), "&b.id.as_deref()");
    assert_eq!(key(quote!(b.id.ok_or(E)?)), "&b.id.ok_or(E)?");
    assert_eq!(key(quote!(a + 1)), "&(a + 1)");
    assert_eq!(key(quote!(if a > 1 { b.x } else { b.y })), "&(if a > 1 { b.x } else { b.y })");
    assert_eq!(key(quote!((a, ((b.id), format!("{a}"))))), "&(&a, &(&b.id, &format!(\"{a}\")))");
    assert_eq!(key(quote!((a,))), "&(&a,)");
}

#[test]
fn patterns_count_by_what_they_bind() {
    let expansion = frame(
        quote!(key = a),
        quote! {
            async fn f((mut a, _): (u8, u8), [b, .., c]: [u8; 9], &d: &u8, P { x: e, mut g, .. }: P, ref h: H, _: I,
                i @ (Ok(k) | Err(k)): Result<u8, u8>) -> R { todo!() }
        },
    );
    assert_in(&expansion, "f( (a, _): (u8, u8), [b, .., c, ]: [u8; 9], &d: &u8, P { x: e, g, .. }: P, ref h: H, _: I,");
    assert_in(
        &expansion,
        ".key(&a) .arg(&a) .arg(&b) .arg(&c) .arg(&d) .arg(&e) .arg(&g) .arg(&h) .arg(&i) .arg(&k);",
    );
    assert_in(&expansion, "let mut a = a;");
    assert_in(&expansion, "let mut g = g;");
    assert_in(&expansion, "let h = h;");
}

#[test]
fn only_unmentioned_arguments_may_still_be_reported_as_unused() {
    let expansion = frame(
        quote!(key = a.id, scope = s, engine = e, skip(s, e, x, self), name = "n"),
        quote!(async fn f(&self, a: A, s: S, e: E, x: X, _y: Y) -> R { todo!() }),
    );
    for mentioned in ["a", "s", "e"] {
        assert_in(&expansion, &format!("#[allow(unused_variables, clippy::shadow_same)] let {mentioned} = {mentioned};"));
    }
    assert_in(&expansion, "#[allow(clippy::shadow_same)] let x = x;");
    assert_in(&expansion, "#[allow(clippy::used_underscore_binding)] let call");
    assert_in(&expansion, "clippy::no_effect_underscore_binding, clippy::shadow_same )] let _y = _y;");
}

#[test]
fn conditional_arguments_count_where_they_exist() {
    let expansion = frame(
        quote!(key = a),
        quote!(async fn f(a: u8, #[cfg(unix)] b: u8, #[doc(hidden)] #[allow(unused)] c: u8) -> R { todo!() }),
    );
    assert_in(&expansion, ".key(&a); let call = call.arg(&a); #[cfg(unix)] let call = call.arg(&b); #[allow(unused)] let");
    assert_in(&expansion, "#[cfg(unix)] #[allow(unused_variables, clippy::shadow_same)] let b = b;");
}

#[test]
fn opaque_types_are_inferred() {
    let expansion = frame(
        quote!(key = a),
        quote!(async fn f(a: impl Key) -> Result<(Vec<impl Serialize>, u8), E> { todo!() }),
    );
    assert_in(&expansion, "-> Result<(Vec<impl Serialize>, u8), E> {");
    assert_in(&expansion, "returns::<Result<(Vec<_>, u8), E>>();");
}

#[test]
fn attributes_stay_and_inner_ones_move_out() {
    let expansion = frame(
        quote!(name = "n", key = self.id),
        quote! {
            /// Docs.
            #[must_use]
            async fn f(mut self: Pin<&mut Self>) -> R { #![allow(unused)] todo!() }
        },
    );
    assert_in(&expansion, "/// Docs. #[must_use] #[allow(unused)] async fn f(mut self: Pin<&mut Self>) -> R {");
    assert_in(&expansion, ".no_args();");
    assert_in(&expansion, "'_body: { todo!() }");
}

#[test]
fn raw_names_lose_their_prefix_in_the_operations_name() {
    let expansion = frame(quote!(key = r#type, skip(r#type)), quote!(async fn r#try(r#type: u8) -> R { todo!() }));
    assert_in(&expansion, "::core::concat!(::core::module_path!(), \"::try\")");
    assert_in(&expansion, ".no_args();");
}

#[test]
fn an_error_leaves_the_item_usable() {
    let item = quote!(async fn f(a: u8) -> R { todo!() });
    let tokens = crate::tokens_or_error(crate::expand_idempotent(quote!(), item.clone()), item.clone()).to_string();
    assert!(tokens.starts_with(":: core :: compile_error ! {"), "{tokens}");
    assert!(tokens.ends_with(&item.to_string()), "{tokens}");
}

#[test]
fn what_can_never_be_an_operation() {
    let ok = quote!(name = "n", key = id);
    for (item, sentence) in [
        (quote!(struct S;), "`#[idempotent]` stands on an `async fn`"),
        (
            quote!(fn f(id: u8) -> R { todo!() }),
            "`#[idempotent]` needs an `async fn`: it waits for the store before and after the body; write `async fn`",
        ),
        (
            quote!(fn f(&self, id: u8) -> impl Future<Output = R> + Send { todo!() }),
            "`#[idempotent]` needs an `async fn`: it waits for the store before and after the body; write `async fn`; an \
             impl may use `async fn` for it",
        ),
        (
            quote!(async fn f(&self, id: u8) -> R;),
            "a declaration has no body that could be run once: put `#[idempotent]` on the method of the `impl`",
        ),
        (
            quote!(async fn f(id: u8) { todo!() }),
            "an idempotent function returns `Result<T, E>`, so that a conflict can be told: write `-> Result<(), E>` with \
             `E: From<idem::Error>`",
        ),
        (
            quote!(async fn f(id: &str) -> Result<&str, E> { todo!() }),
            "a kept value must own its data: return `String`",
        ),
        (
            quote!(async fn f<'a>(id: &'a [u8]) -> io::Result<Option<&'a [u8]>> { todo!() }),
            "a kept value must own its data: return a `Vec`",
        ),
        (
            quote!(async fn f(id: u8, out: &mut Vec<u8>) -> R { todo!() }),
            "an `&mut` argument must be skipped, since a replay returns the result but repeats no change: `skip(out)`",
        ),
    ] {
        assert_eq!(error(ok.clone(), item.clone()), sentence, "{item}");
    }
}

#[test]
fn what_a_type_borrows_without_holding_it_is_no_matter() {
    for ty in [quote!(Result<PhantomData<&'static u8>, &'static str>), quote!(R<'a>), quote!(Result<T, E<&'a str>>)] {
        frame(quote!(key = id), quote!(async fn f<'a>(id: &'a str) -> #ty { todo!() }));
    }
}

#[test]
fn methods_need_a_name() {
    let sentence = "a method needs a `name`, since an attribute cannot see the type it belongs to: \
                    `name = \"orders.charge\"`";
    for method in [
        quote!(async fn f(&self, id: u8) -> R { todo!() }),
        quote!(async fn f(self: Arc<Self>, id: u8) -> R { todo!() }),
        quote!(async fn f(id: u8) -> Result<Self, E> { todo!() }),
        quote!(async fn f(id: u8) -> R { g(|| Self::helper(id)) }),
    ] {
        assert_eq!(error(quote!(key = id), method.clone()), sentence, "{method}");
        frame(quote!(key = id, name = "n"), method);
    }
}

#[test]
fn keys_that_tell_no_intents_apart() {
    let item = quote!(async fn f(&self, db: &Db, id: u8, n: u8) -> R { todo!() });
    let with = |key: TokenStream| error(quote!(name = "n", skip(db), key = #key), item.clone());
    assert_eq!(
        error(quote!(name = "n"), item.clone()),
        "which calls are the same? write `#[idempotent(key = …)]` over the arguments, as in `key = order_id`"
    );
    let unmentioned = "this key mentions no argument, so every call would be a repeat of the first; use one of `id`, `n`";
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
        with(quote!(match id { 0 => return Err(E), id => id })),
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
        error(quote!(key = "nightly"), quote!(async fn f() -> R { todo!() })),
        "this key is the same for every call, so the function would run once per retention; give it an argument that \
         names the intent (for a daily job: the date)"
    );
    assert_eq!(
        error(quote!(key = 1, name = "n"), quote!(async fn f(&self) -> R { todo!() })),
        "this key mentions no argument, so every call would be a repeat of the first; use a field of `self`"
    );
    assert_eq!(
        error(quote!(key = 1, skip_all), quote!(async fn f(a: A) -> R { todo!() })),
        "this key mentions no argument, so every call would be a repeat of the first; use one of `a`"
    );
}

#[test]
fn skips_that_skip_nothing() {
    let item = quote!(async fn f(id: u8, gw: &Gateway) -> R { todo!() });
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
    let with = |args: TokenStream| error(quote!(key = id, #args), quote!(async fn f(id: u8) -> R { todo!() }));
    assert_eq!(
        with(quote!(retention = "0h")),
        "a `retention` of zero keeps no result, so no repeat would ever be recognised"
    );
    assert_eq!(with(quote!(lease = "0s")), "a `lease` is at least 100 ms");
    assert_eq!(with(quote!(lease = "99ms")), "a `lease` is at least 100 ms");
    for lease in ["60m", "2h"] {
        assert_eq!(
            with(quote!(lease = #lease, retention = "1h")),
            "a `lease` is shorter than the `retention`, which is \"1h\" here"
        );
    }
}
