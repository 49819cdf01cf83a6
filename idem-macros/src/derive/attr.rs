//! `#[idem(…)]`: on a field, on a variant, on the type.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Error, Ident, LitStr, Path, Result, Token};

use super::{Mark, facade};
use crate::args::{Flag, Given, set};

/// `#[idem(key)]`, `#[idem(skip)]`.
#[derive(Default)]
pub(super) struct OfField {
    key: Option<Given<Flag>>,
    skip: Option<Given<Flag>>,
}

/// `#[idem(rename = "…")]`.
#[derive(Default)]
pub(super) struct OfVariant {
    rename: Option<Given<LitStr>>,
}

/// `#[idem(crate = path)]`.
#[derive(Default)]
pub(super) struct OfType {
    krate: Option<Given<Path>>,
}

impl OfField {
    pub(super) fn parse(attrs: &[Attribute]) -> Result<Self> {
        let mut this = Self::default();
        each(attrs, |keyword, input| match keyword.to_string().as_str() {
            "key" => set(&mut this.key, keyword, input),
            "skip" => set(&mut this.skip, keyword, input),
            _ => Err(misplaced(&keyword)),
        })?;
        Ok(this)
    }

    pub(super) fn mark(&self) -> Result<Mark> {
        match (&self.key, &self.skip) {
            (Some(_), Some(skip)) => {
                Err(Error::new(skip.keyword.span(), "a field is the key or left out, not both: write one of the two"))
            }
            (Some(_), None) => Ok(Mark::Key),
            (None, Some(_)) => Ok(Mark::Skip),
            (None, None) => Ok(Mark::None),
        }
    }
}

impl OfVariant {
    pub(super) fn parse(attrs: &[Attribute]) -> Result<Self> {
        let mut this = Self::default();
        each(attrs, |keyword, input| match keyword.to_string().as_str() {
            "rename" => set(&mut this.rename, keyword, input),
            _ => Err(misplaced(&keyword)),
        })?;
        match &this.rename {
            Some(Given { value, .. }) if value.value().trim().is_empty() => {
                Err(Error::new(value.span(), "the name of a variant cannot be empty: it tells its keys from others'"))
            }
            _ => Ok(this),
        }
    }

    /// What the variant is called in the key, and where that is said.
    pub(super) fn name(&self, ident: &Ident) -> (String, Span) {
        match &self.rename {
            Some(Given { value, .. }) => (value.value(), value.span()),
            None => (ident.unraw().to_string(), ident.span()),
        }
    }
}

impl OfType {
    pub(super) fn parse(attrs: &[Attribute]) -> Result<Self> {
        let mut this = Self::default();
        each(attrs, |keyword, input| match keyword.to_string().as_str() {
            "crate" => set(&mut this.krate, keyword, input),
            _ => Err(misplaced(&keyword)),
        })?;
        Ok(this)
    }

    pub(super) fn krate(self) -> Path {
        self.krate.map_or_else(facade, |krate| krate.value)
    }
}

/// Hands each keyword in `#[idem(…)]` to `read`, and what follows it.
fn each(attrs: &[Attribute], mut read: impl FnMut(Ident, ParseStream<'_>) -> Result<()>) -> Result<()> {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("idem")) {
        attr.parse_args_with(|input: ParseStream<'_>| {
            while !input.is_empty() {
                // `crate` is a keyword, so a plain `Ident` would not do.
                read(input.call(Ident::parse_any)?, input)?;
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn misplaced(keyword: &Ident) -> Error {
    let sentence = match keyword.to_string().as_str() {
        word @ ("key" | "skip") => format!("`{word}` stands on a field: `#[idem({word})]`"),
        "rename" => "`rename` stands on a variant of an enum, whose name is in the key; other names are not".to_owned(),
        "crate" => "`crate` stands on the type: `#[idem(crate = path)]`".to_owned(),
        unknown => format!(
            "`{unknown}` is no argument of `#[idem(…)]`; there are: `key` and `skip` for fields, `rename` for variants, \
             `crate` for the type"
        ),
    };
    Error::new(keyword.span(), sentence)
}
