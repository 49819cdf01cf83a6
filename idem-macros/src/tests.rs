//! From the attribute's tokens to the expansion's, or to the sentence of the error.

use proc_macro2::TokenStream;
use quote::quote;

mod boxed;
mod derive;
mod mistakes;

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
        quote! { pub(crate) async fn ship(&self, tenant: u8, id: u8) -> sqlx::Result<()> { Ok(()) } },
    );
    assert_in(&expansion, "pub(crate) async fn ship(&self, tenant: u8, id: u8) -> sqlx::Result<()> {");
    assert_in(
        &expansion,
        "static SITE: ::renamed::__private::Site = ::renamed::__private::Site::new( \"orders.ship\", )",
    );
    assert_in(&expansion, ".retention(::core::time::Duration::from_millis(604_800_000))");
    assert_in(&expansion, ".lease(::core::time::Duration::from_millis(250));");
    assert_in(&expansion, "} .engine(&self.idem) .key_only(&id) .scope(&tenant);");
    assert_in(&expansion, "::renamed::__private::returns::<sqlx::Result<()>>();");
}

#[test]
fn tuple_literals_borrow_each_element_and_the_rest_is_borrowed_whole() {
    let key = |key: TokenStream| {
        let expansion = frame(quote!(key = #key, skip(a)), quote! { async fn f(a: u8, b: B, c: C) -> R { todo!() } });
        let (_, rest) = expansion.split_once(".key_only(").expect("a key");
        rest.split_once(") .arg(&b)").expect("arguments").0.to_owned()
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
fn an_argument_that_is_the_key_is_compared_by_what_it_says_beyond_it() {
    let call = |args: TokenStream| {
        let item = quote! { async fn f(&self, a: A, b: B, c: C) -> R { todo!() } };
        let expansion = frame(quote!(name = "n", #args), item);
        let (_, rest) = expansion.split_once("SITE.call() } ").expect("a call");
        rest.split_once("; let returns").expect("the witness").0.to_owned()
    };
    assert_eq!(call(quote!(key = a)), ".key(&a) .arg(&b) .arg(&c)");
    assert_eq!(call(quote!(key = &(a))), ".key(&(&(a))) .arg(&b) .arg(&c)");
    assert_eq!(call(quote!(key = (c, (a)))), ".key(&(&c, &a)) .arg(&b)");
    assert_eq!(call(quote!(key = (a, (b, c)))), ".key(&(&a, &(&b, &c)))");
    assert_eq!(call(quote!(key = (a, b.id))), ".key(&(&a, &::idem::__private::KeyOnly(&b.id))) .arg(&b) .arg(&c)");
    assert_eq!(call(quote!(key = a.id)), ".key_only(&a.id) .arg(&a) .arg(&b) .arg(&c)");
    assert_eq!(call(quote!(key = a, skip(a))), ".key_only(&a) .arg(&b) .arg(&c)");
    assert_eq!(call(quote!(key = (a, b), skip(a))), ".key(&(&::idem::__private::KeyOnly(&a), &b)) .arg(&c)");
    assert_eq!(call(quote!(key = a, skip_all)), ".key_only(&a)");
    assert_eq!(call(quote!(key = self, skip(a, b))), ".key(&self) .arg(&c)");
    assert_eq!(call(quote!(key = self, skip(self, a, b))), ".key_only(&self) .arg(&c)");
    assert_eq!(call(quote!(key = self.id, skip(a, b))), ".key_only(&self.id) .arg(&c)");
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
    assert_in(&expansion, ".key(&a) .arg(&b) .arg(&c) .arg(&d) .arg(&e) .arg(&g) .arg(&h) .arg(&i) .arg(&k);");
    assert_in(&expansion, "let mut a = a;");
    assert_in(&expansion, "let mut g = g;");
    assert_in(&expansion, "let h = h;");
}

#[test]
fn only_unmentioned_arguments_may_still_be_reported_as_unused() {
    let expansion = frame(
        quote!(key = a.id, scope = s, engine = e, skip(s, e, x, self), name = "n"),
        quote! { async fn f(&self, a: A, s: S, e: E, x: X, _y: Y) -> R { todo!() } },
    );
    for mentioned in ["a", "s", "e"] {
        assert_in(
            &expansion,
            &format!("#[allow(unused_variables, clippy::shadow_same)] let {mentioned} = {mentioned};"),
        );
    }
    assert_in(&expansion, "#[allow(clippy::shadow_same)] let x = x;");
    assert_in(&expansion, "#[allow(clippy::used_underscore_binding)] let call");
    assert_in(&expansion, "clippy::no_effect_underscore_binding, clippy::shadow_same )] let _y = _y;");
}

#[test]
fn conditional_arguments_count_where_they_exist() {
    let expansion = frame(
        quote!(key = a),
        quote! { async fn f( a: u8, #[cfg(unix)] b: u8, #[doc(hidden)] #[allow(unused)] c: u8, ) -> R { todo!() } },
    );
    assert_in(&expansion, ".key(&a); #[cfg(unix)] let call = call.arg(&b); #[allow(unused)] let");
    assert_in(&expansion, "#[cfg(unix)] #[allow(unused_variables, clippy::shadow_same)] let b = b;");
}

#[test]
fn expectations_move_to_where_they_can_be_fulfilled() {
    let expansion = frame(
        quote!(key = a, skip(b)),
        quote! { async fn f(a: u8, #[expect(unused_variables)] b: u8, #[warn(unused)] c: u8) -> R { todo!() } },
    );
    assert_in(&expansion, "async fn f(a: u8, b: u8, #[warn(unused)] c: u8) -> R {");
    assert_in(&expansion, "#[expect(unused_variables)] #[allow(clippy::shadow_same)] let b = b;");
    assert_in(&expansion, "#[warn(unused)] #[allow(unused_variables, clippy::shadow_same)] let c = c;");
}

#[test]
fn opaque_types_are_inferred() {
    let expansion =
        frame(quote!(key = a), quote! { async fn f(a: impl Key) -> Result<(Vec<impl Serialize>, u8), E> { todo!() } });
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
    assert_in(&expansion, ".key_only(&self.id);");
    assert_in(&expansion, "'_body: { todo!() }");
}

#[test]
fn raw_names_lose_their_prefix_in_the_operations_name() {
    let expansion = frame(quote!(key = r#type, skip(r#type)), quote! { async fn r#try(r#type: u8) -> R { todo!() } });
    assert_in(&expansion, "::core::concat!(::core::module_path!(), \"::try\")");
    assert_in(&expansion, ".key_only(&r#type);");
}
