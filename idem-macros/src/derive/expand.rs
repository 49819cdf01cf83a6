//! The implementation that `#[derive(IdempotencyKey)]` stands for.
//!
//! ```text
//! #[derive(IdempotencyKey)]
//! enum Event {
//!     Paid { #[idem(key)] order: u64, cents: u64 },
//!     Closed,
//! }
//!
//! impl IdempotencyKey for Event {
//!     fn write_key(&self, key: &mut KeyWriter) {
//!         match self {
//!             Self::Paid { order: field_0, .. } => {
//!                 key.part("Paid");
//!                 IdempotencyKey::write_key(field_0, key);
//!             }
//!             Self::Closed { .. } => {
//!                 key.part("Closed");
//!             }
//!         }
//!     }
//!
//!     fn fingerprint(&self, rest: FingerprintBuilder) -> FingerprintBuilder {
//!         match self {
//!             Self::Paid { order: field_0, cents: field_1, .. } => {
//!                 let rest = IdempotencyKey::fingerprint(field_0, rest);
//!                 rest.fields(|rest| rest.field("cents", field_1))
//!             }
//!             Self::Closed { .. } => rest.fields(|rest| rest),
//!         }
//!     }
//! }
//! ```

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Generics, Ident, Path, WherePredicate, parse_quote_spanned};

use super::{Derived, Field, Shape};
use crate::words;

pub(super) fn expand(derived: &Derived) -> TokenStream {
    let Derived { krate, ident, generics, shapes } = derived;
    let here = Span::mixed_site();
    let mut generics = generics.clone();
    let bounds = bounds(derived);
    if !bounds.is_empty() {
        generics.make_where_clause().predicates.extend(bounds);
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let keys = shapes.iter().map(|shape| key(krate, shape));
    let rests = shapes.iter().map(|shape| rest(krate, shape));
    quote_spanned! {here=>
        #[automatically_derived]
        #[allow(deprecated)]
        impl #impl_generics #krate::IdempotencyKey for #ident #type_generics #where_clause {
            fn write_key(&self, key: &mut #krate::KeyWriter) {
                match self { #(#keys)* }
            }

            fn fingerprint(&self, rest: #krate::FingerprintBuilder) -> #krate::FingerprintBuilder {
                match self { #(#rests)* }
            }
        }
    }
}

/// An implementation that is there and never runs.
pub(super) fn fallback(krate: &Path, ident: &Ident, generics: &Generics) -> TokenStream {
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::IdempotencyKey for #ident #type_generics #where_clause {
            fn write_key(&self, _: &mut #krate::KeyWriter) {
                ::core::unreachable!()
            }
        }
    }
}

/// `Self::Paid { order: field_0, .. } => { … }`.
fn key(krate: &Path, shape: &Shape) -> TokenStream {
    let here = Span::mixed_site();
    let pattern = pattern(shape, shape.key.iter());
    let name = shape.name.as_ref().map(|name| quote_spanned!(here=> key.part(#name);));
    let parts = shape
        .key
        .iter()
        .map(|Field { local, .. }| quote_spanned!(here=> #krate::IdempotencyKey::write_key(#local, key);));
    quote_spanned!(here=> #pattern => { #name #(#parts)* })
}

/// `Self::Paid { order: field_0, cents: field_1, .. } => …`.
fn rest(krate: &Path, shape: &Shape) -> TokenStream {
    let here = Span::mixed_site();
    let pattern = pattern(shape, shape.key.iter().chain(shape.rest.iter().flatten()));
    let keys = shape.key.iter().map(
        |Field { local, .. }| quote_spanned!(here=> let rest = #krate::IdempotencyKey::fingerprint(#local, rest);),
    );
    let fields = shape.rest.as_ref().map(|fields| {
        let fields = fields.iter().map(|field| {
            let (name, local) = (field.name(), &field.local);
            quote_spanned!(here=> .field(#name, #local))
        });
        quote_spanned!(here=> .fields(|rest| rest #(#fields)*))
    });
    quote_spanned!(here=> #pattern => { #(#keys)* rest #fields })
}

fn pattern<'a>(shape: &'a Shape, fields: impl Iterator<Item = &'a Field>) -> TokenStream {
    let path = &shape.path;
    let fields = fields.map(|Field { member, local, .. }| quote!(#member: #local,));
    quote!(#path { #(#fields)* .. })
}

/// What the types of fields have to be, where that depends on the type's parameters.
fn bounds(derived: &Derived) -> Vec<WherePredicate> {
    let krate = &derived.krate;
    let is_generic = |field: &&Field| {
        let ty = field.ty.to_token_stream();
        derived.generics.type_params().any(|param| words::contain(ty.clone(), &param.ident.to_string()))
    };
    let here = |field: &Field| field.local.span();
    let keys = derived.shapes.iter().flat_map(|shape| &shape.key).filter(is_generic).map(|field| {
        let ty = &field.ty;
        parse_quote_spanned!(here(field)=> #ty: #krate::IdempotencyKey)
    });
    let rests = derived.shapes.iter().flat_map(|shape| shape.rest.iter().flatten()).filter(is_generic);
    let rests = rests.map(|field| {
        let ty = &field.ty;
        parse_quote_spanned!(here(field)=> #ty: #krate::Argument)
    });
    keys.chain(rests).collect()
}
