//! `#[derive(IdempotencyKey)]`: what it stands for, and the sentence of each mistake.

use proc_macro2::TokenStream;
use quote::quote;

fn expand(item: TokenStream) -> String {
    let tokens = crate::derive::derive(item);
    prettyplease::unparse(&syn::parse2(tokens).expect("items"))
}

/// The sentence, beside an implementation that never runs.
fn error(item: TokenStream) -> String {
    let expansion = expand(item);
    assert!(expansion.contains("::core::unreachable!()"), "{expansion}");
    let (_, rest) = expansion.split_once("compile_error! {").expect("an error");
    let literal: syn::LitStr = syn::parse_str(rest.split_once('}').expect("its end").0.trim()).expect("a sentence");
    literal.value()
}

#[test]
fn the_implementation_reads_like_code() {
    let message = expand(quote! {
        struct Message<'a, T, U> {
            #[idem(key)] tenant: T,
            text: Vec<U>,
            #[idem(skip)] trace: Trace,
            #[idem(key)] r#type: &'a str,
            sent: u64,
        }
    });
    let event = expand(quote! {
        #[idem(crate = crate::vendor::idem)]
        enum Event {
            Paid { #[idem(key)] order: u64, cents: u64 },
            #[idem(rename = "refunded")]
            Refunded(u64),
            Pinged(#[idem(skip)] Instant),
            Closed,
        }
    });
    let newtype = expand(quote! { struct OrderId(Uuid); });
    let target = expand(quote! { enum Target { User(u64), Group { org: u8, id: u64 }, All } });
    let all = [message, event, newtype, target].join("\n");
    assert_eq!(all, include_str!("../../tests/expansion/keys.rs"), "{all}");
}

#[test]
fn a_type_without_a_key_is_asked_for_one() {
    let mark = "mark it `#[idem(key)]`; the others are compared, or left out with `#[idem(skip)]`";
    for item in [
        quote! { struct Order { id: u64 } },
        quote! { struct Order(u64, u8); },
        quote! { struct Order(#[idem(skip)] u64); },
        quote! { struct Order { id: u64, #[idem(skip)] at: u8 } },
    ] {
        assert_eq!(error(item), format!("which field of `Order` is the key? {mark}"));
    }
    for item in [
        quote! { enum Event { Paid { order: u64, cents: u64 }, Closed(#[idem(key)] u64) } },
        quote! { enum Event { Paid(u64, u64), Closed(#[idem(skip)] u64) } },
    ] {
        assert_eq!(error(item), format!("which field of `Paid` is the key? {mark}"));
    }
    for item in [quote! { struct Nothing; }, quote! { struct Nothing {} }, quote! { struct Nothing(); }] {
        assert_eq!(error(item), "a key without fields is the same for every call: give it one that names the intent");
    }
    assert_eq!(error(quote! { enum Never {} }), "an enum without variants has no value that could be a key");
    assert_eq!(error(quote! { union Bits { a: u8, b: i8 } }), "an idempotency key is a struct or an enum, not a union");
}

#[test]
fn marks_that_contradict_or_stand_elsewhere() {
    let field = |marks: TokenStream| error(quote! { struct S { #marks a: u8 } });
    assert_eq!(field(quote!(#[idem(key, skip)])), "a field is the key or left out, not both: write one of the two");
    assert_eq!(field(quote!(#[idem(key)] #[idem(key)])), "`key` is given twice: write it once");
    assert_eq!(
        field(quote!(#[idem(kee)])),
        "`kee` is no argument of `#[idem(…)]`; there are: `key` and `skip` for fields, `rename` for variants, `crate` for \
         the type"
    );
    assert_eq!(
        field(quote!(#[idem(rename = "b")])),
        "`rename` stands on a variant of an enum, whose name is in the key; other names are not"
    );
    assert_eq!(field(quote!(#[idem(crate = idem)])), "`crate` stands on the type: `#[idem(crate = path)]`");
    assert_eq!(error(quote! { #[idem(key)] struct S(u8); }), "`key` stands on a field: `#[idem(key)]`");
    assert_eq!(error(quote! { enum E { #[idem(skip)] A } }), "`skip` stands on a field: `#[idem(skip)]`");
}

#[test]
fn names_of_variants_tell_them_apart() {
    let sentence = "two variants are `paid` in the key, so two intents would be one: rename one of them";
    assert_eq!(error(quote! { enum E { #[idem(rename = "paid")] A, #[idem(rename = "paid")] B } }), sentence);
    assert_eq!(error(quote! { enum E { paid, #[idem(rename = "paid")] B } }), sentence);
    assert_eq!(error(quote! { enum E { #[idem(rename = "paid")] B, r#paid } }), sentence);
    assert_eq!(
        error(quote! { enum E { #[idem(rename = " ")] A } }),
        "the name of a variant cannot be empty: it tells its keys from others'"
    );
}
