//! The annotated function as it was written, and what its signature binds.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, Error, FnArg, Ident, Pat, PatIdent, Result, ReturnType, Signature, Token, Type, Visibility, braced,
};

use crate::boxed::{Boxed, is_boxed, is_unnamed};
use crate::words;

/// A function with a body. The body stays tokens: nothing in it is ours to understand.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Body,
}

pub(crate) enum Body {
    /// What stands between the braces.
    Plain { tokens: TokenStream, span: Span },
    /// What `#[async_trait]` made of an `async fn`.
    Boxed(Box<Boxed>),
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        if !starts_signature(input) {
            return Err(input.error("`#[idempotent]` stands on an `async fn`"));
        }
        let sig: Signature = input.parse()?;
        if input.peek(Token![;]) {
            return Err(Error::new(
                sig.ident.span(),
                "a declaration has no body that could be run once: put `#[idempotent]` on the method of the `impl`",
            ));
        }
        let body;
        let braces = braced!(body in input);
        // Inner attributes are not allowed on the block that the body becomes, only on a function's.
        for mut attr in body.call(Attribute::parse_inner)? {
            attr.style = syn::AttrStyle::Outer;
            attrs.push(attr);
        }
        let body = if is_boxed(&sig) {
            Body::Boxed(Box::new(Boxed::parse(&sig, &body)?))
        } else {
            Body::Plain { tokens: body.parse()?, span: braces.span.join() }
        };
        Ok(Self { attrs, vis, sig, body })
    }
}

fn starts_signature(input: ParseStream<'_>) -> bool {
    input.peek(Token![fn])
        || input.peek(Token![async])
        || input.peek(Token![const])
        || input.peek(Token![unsafe])
        || input.peek(Token![extern])
}

impl Function {
    /// Whether it shows that it belongs to a type. An associated function that says `Self` nowhere does not.
    pub(crate) fn is_method(&self) -> bool {
        self.sig.receiver().is_some()
            || words::contain(self.sig.to_token_stream(), "Self")
            || match &self.body {
                Body::Plain { tokens, .. } => words::contain(tokens.clone(), "Self"),
                Body::Boxed(_) => true,
            }
    }

    /// Whether it can wait.
    pub(crate) fn is_async(&self) -> bool {
        self.sig.asyncness.is_some() || matches!(self.body, Body::Boxed(_))
    }

    /// What a call of it gives in the end.
    pub(crate) fn output(&self) -> Option<&Type> {
        match (&self.body, &self.sig.output) {
            (Body::Boxed(boxed), _) => Some(&boxed.output),
            (Body::Plain { .. }, ReturnType::Type(_, ty)) => Some(ty),
            (Body::Plain { .. }, ReturnType::Default) => None,
        }
    }

    /// Takes what the arguments bind, in order. A `mut` goes along: the body's own binding needs it, the signature's
    /// no longer does.
    pub(crate) fn take_bindings(&mut self) -> Vec<Binding> {
        let mut bindings = Vec::new();
        for input in &mut self.sig.inputs {
            let FnArg::Typed(arg) = input else { continue };
            let first = bindings.len();
            match &mut self.body {
                Body::Plain { .. } => bind(&mut arg.pat, &mut bindings),
                Body::Boxed(boxed) => bind_boxed(&mut arg.pat, boxed, &mut bindings),
            }
            let expects: Vec<_> = arg.attrs.extract_if(.., |attr| attr.path().is_ident("expect")).collect();
            for binding in &mut bindings[first..] {
                binding.expects.clone_from(&expects);
                binding.attrs = arg.attrs.iter().filter(|attr| concerns_binding(attr)).cloned().collect();
                binding.exclusive = is_exclusive(&arg.ty) && !matches!(*arg.pat, Pat::Reference(_));
            }
        }
        bindings
    }
}

/// A name that an argument's pattern binds. What the body cannot see (`_`, `..`) is no binding.
pub(crate) struct Binding {
    pub(crate) ident: Ident,
    pub(crate) mutability: Option<Token![mut]>,
    /// The argument's `#[cfg]` and levels of lints, which hold for every use of the binding too.
    pub(crate) attrs: Vec<Attribute>,
    /// The argument's `#[expect]`, which moves to the one use that can fulfil it.
    pub(crate) expects: Vec<Attribute>,
    /// Bound by an `&mut` argument.
    pub(crate) exclusive: bool,
}

fn bind(pat: &mut Pat, bindings: &mut Vec<Binding>) {
    match pat {
        Pat::Ident(pat) => {
            // An or-pattern binds the same name in each of its cases.
            if !bindings.iter().any(|binding| binding.ident == pat.ident) {
                bindings.push(Binding {
                    ident: pat.ident.clone(),
                    // `ref mut` says what the binding is, not that it changes.
                    mutability: if pat.by_ref.is_some() { None } else { pat.mutability },
                    attrs: Vec::new(),
                    expects: Vec::new(),
                    exclusive: false,
                });
            }
            if pat.by_ref.is_none() {
                pat.mutability = None;
            }
            if let Some((_, pat)) = &mut pat.subpat {
                bind(pat, bindings);
            }
        }
        Pat::Or(pat) => pat.cases.iter_mut().for_each(|pat| bind(pat, bindings)),
        Pat::Paren(pat) => bind(&mut pat.pat, bindings),
        Pat::Reference(pat) => bind(&mut pat.pat, bindings),
        Pat::Slice(pat) => pat.elems.iter_mut().for_each(|pat| bind(pat, bindings)),
        Pat::Struct(pat) => pat.fields.iter_mut().for_each(|field| bind(&mut field.pat, bindings)),
        Pat::Tuple(pat) => pat.elems.iter_mut().for_each(|pat| bind(pat, bindings)),
        Pat::TupleStruct(pat) => pat.elems.iter_mut().for_each(|pat| bind(pat, bindings)),
        _ => {}
    }
}

/// Under `#[async_trait]` the body takes most arguments apart.
fn bind_boxed(pat: &mut Pat, boxed: &mut Boxed, bindings: &mut Vec<Binding>) {
    let Pat::Ident(PatIdent { ident, .. }) = pat else { return };
    match boxed.unpacked.iter_mut().find(|unpacked| unpacked.argument == *ident) {
        Some(unpacked) => bind(&mut unpacked.pat, bindings),
        None if is_unnamed(ident) => {}
        None => bind(pat, bindings),
    }
}

fn concerns_binding(attr: &Attribute) -> bool {
    ["cfg", "allow", "warn", "deny", "forbid"].iter().any(|name| attr.path().is_ident(name))
}

fn is_exclusive(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => reference.mutability.is_some(),
        Type::Tuple(tuple) => tuple.elems.iter().any(is_exclusive),
        Type::Paren(paren) => is_exclusive(&paren.elem),
        Type::Group(group) => is_exclusive(&group.elem),
        _ => false,
    }
}
