//! `#[derive(IdempotencyKey)]`: which fields are the key, which are compared, which are left out.

mod attr;
mod expand;

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Generics, Ident, Index, Member, Path, Result, Type, parse_quote};

use self::attr::{OfField, OfType, OfVariant};

/// A type whose values are keys.
struct Derived {
    /// The facade: `::idem`, or what `crate = …` says.
    krate: Path,
    ident: Ident,
    generics: Generics,
    /// One for a struct.
    shapes: Vec<Shape>,
}

/// A struct, or a variant of an enum.
struct Shape {
    /// `Self`, or `Self::Variant`.
    path: TokenStream,
    /// The variant's name in the key.
    name: Option<String>,
    key: Vec<Field>,
    /// The fields that are compared; `None` where there is nothing but the key.
    rest: Option<Vec<Field>>,
}

struct Field {
    member: Member,
    /// What the field is called in the generated code. It stands where the field's type does, so a complaint about that
    /// type is made there.
    local: Ident,
    ty: Type,
}

/// The implementation; or, beside the error, one that keeps every use of the type from being reported as well.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    match Derived::new(&input) {
        Ok(derived) => expand::expand(&derived),
        Err(error) => {
            let krate = OfType::parse(&input.attrs).map_or_else(|_| facade(), OfType::krate);
            let mut tokens = error.to_compile_error();
            tokens.extend(expand::fallback(&krate, &input.ident, &input.generics));
            tokens
        }
    }
}

fn facade() -> Path {
    parse_quote!(::idem)
}

impl Derived {
    fn new(input: &DeriveInput) -> Result<Self> {
        let krate = OfType::parse(&input.attrs)?.krate();
        let shapes = match &input.data {
            Data::Struct(data) => vec![of_struct(&input.ident, &data.fields)?],
            Data::Enum(data) => of_enum(&input.ident, data)?,
            Data::Union(data) => {
                return Err(Error::new(
                    data.union_token.span,
                    "an idempotency key is a struct or an enum, not a union",
                ));
            }
        };
        Ok(Self { krate, ident: input.ident.clone(), generics: input.generics.clone(), shapes })
    }
}

fn of_struct(ident: &Ident, fields: &Fields) -> Result<Shape> {
    let marked = marked(fields)?;
    if marked.is_empty() {
        return Err(Error::new(
            ident.span(),
            "a key without fields is the same for every call: give it one that names the intent",
        ));
    }
    let shape = Shape { path: quote!(Self), name: None, key: Vec::new(), rest: None };
    match split(shape, marked, is_newtype(fields)) {
        Some(shape) if !shape.key.is_empty() => Ok(shape),
        _ => Err(Error::new(ident.span(), format!("which field of `{ident}` is the key? {MARK}"))),
    }
}

const MARK: &str = "mark it `#[idem(key)]`; the others are compared, or left out with `#[idem(skip)]`";

fn of_enum(ident: &Ident, data: &syn::DataEnum) -> Result<Vec<Shape>> {
    if data.variants.is_empty() {
        return Err(Error::new(ident.span(), "an enum without variants has no value that could be a key"));
    }
    let fields: Vec<_> = data.variants.iter().map(|variant| marked(&variant.fields)).collect::<Result<_>>()?;
    // An enum that says nothing of its fields is a key as a whole.
    let is_all_key = fields.iter().flatten().all(|(_, mark)| *mark == Mark::None);
    let mut names = HashSet::new();
    let mut shapes = Vec::new();
    for (variant, marked) in data.variants.iter().zip(fields) {
        let of_variant = OfVariant::parse(&variant.attrs)?;
        let (name, span) = of_variant.name(&variant.ident);
        if !names.insert(name.clone()) {
            return Err(Error::new(
                span,
                format!("two variants are `{name}` in the key, so two intents would be one: rename one of them"),
            ));
        }
        let ident = &variant.ident;
        let shape = Shape { path: quote!(Self::#ident), name: Some(name), key: Vec::new(), rest: None };
        let shape = split(shape, marked, is_all_key || is_newtype(&variant.fields));
        shapes.push(
            shape.ok_or_else(|| Error::new(ident.span(), format!("which field of `{ident}` is the key? {MARK}")))?,
        );
    }
    Ok(shapes)
}

/// `struct OrderId(u64)`: the same as what it holds.
fn is_newtype(fields: &Fields) -> bool {
    matches!(fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    None,
    Key,
    Skip,
}

fn marked(fields: &Fields) -> Result<Vec<(Field, Mark)>> {
    let members = fields.iter().enumerate().map(|(at, field)| {
        let member = match &field.ident {
            Some(ident) => Member::Named(ident.clone()),
            None => Member::Unnamed(Index { index: u32::try_from(at).unwrap_or(u32::MAX), span: field.span() }),
        };
        let there = field.ty.span().resolved_at(Span::mixed_site());
        let local = format_ident!("field_{at}", span = there);
        Ok((Field { member, local, ty: field.ty.clone() }, OfField::parse(&field.attrs)?.mark()?))
    });
    members.collect()
}

/// Puts the fields where they belong. Where none is marked as the key, all of them are if `is_all_key`; otherwise nobody
/// can know, unless all are skipped.
fn split(mut shape: Shape, fields: Vec<(Field, Mark)>, is_all_key: bool) -> Option<Shape> {
    let has_key = fields.iter().any(|(_, mark)| *mark == Mark::Key);
    let mut rest = Vec::new();
    let is_whole = is_all_key && fields.iter().all(|(_, mark)| *mark != Mark::Skip);
    for (field, mark) in fields {
        match mark {
            Mark::Key => shape.key.push(field),
            Mark::None if is_whole && !has_key => shape.key.push(field),
            Mark::None if has_key => rest.push(field),
            Mark::None => return None,
            Mark::Skip => {}
        }
    }
    // A type that may get more fields says "nothing else" even now, or the first one would change what it says.
    shape.rest = (!is_whole).then_some(rest);
    Some(shape)
}

impl Field {
    /// What the field is called in the fingerprint.
    fn name(&self) -> String {
        match &self.member {
            Member::Named(ident) => ident.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        }
    }
}
