//! What `#[async_trait]` makes of an `async fn`, which it always does before our attribute is looked at:
//!
//! ```text
//! fn ship<'life0, 'async_trait>(&'life0 self, __arg1: (u8, u8), id: u64)
//!     -> Pin<Box<dyn Future<Output = Result<u64, Error>> + Send + 'async_trait>>
//! {
//!     Box::pin(async move {
//!         if let Some(__ret) = None::<Result<u64, Error>> {
//!             return __ret;
//!         }
//!         let __self = self;
//!         let (a, b) = { let __arg1 = __arg1; __arg1 };
//!         let id = id;
//!         let __ret: Result<u64, Error> = { /* the user's block */ };
//!         __ret
//!     })
//! }
//! ```
//!
//! All of ours goes inside of its `async move`, where `self` is still called so and nothing runs before the first poll.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    AngleBracketedGenericArguments, Error, ExprIf, GenericArgument, Ident, Pat, Path, PathArguments, Result,
    ReturnType, Signature, Token, Type, TypeParamBound, braced, parenthesized,
};

/// The `async fn` in a function that `#[async_trait]` made.
pub(crate) struct Boxed {
    /// `Box::pin`.
    pub(crate) head: Path,
    /// `async move`.
    pub(crate) future: TokenStream,
    /// What the future gives.
    pub(crate) output: Type,
    /// The receiver and the arguments that nothing can name: `let __self = self;`.
    pub(crate) unnamed: TokenStream,
    /// The other arguments, but for references.
    pub(crate) unpacked: Vec<Unpacked>,
    /// What is behind them.
    pub(crate) body: TokenStream,
    pub(crate) body_span: Span,
}

/// `let (a, b) = { let __arg1 = __arg1; __arg1 };`, or plainly `let id = id;`.
pub(crate) struct Unpacked {
    pub(crate) pat: Pat,
    pub(crate) argument: Ident,
    pub(crate) value: TokenStream,
}

impl Unpacked {
    /// Whether the argument is called as what it binds.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(&self.pat, Pat::Ident(pat) if pat.ident == self.argument)
    }
}

/// Whether `argument` stands for a `_`: its name is made up, and the body does not take it apart.
pub(crate) fn is_unnamed(argument: &Ident) -> bool {
    argument.to_string().starts_with("__arg")
}

impl ToTokens for Unpacked {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { pat, value, .. } = self;
        tokens.extend(quote!(let #pat = #value;));
    }
}

/// Whether `#[async_trait]` made this signature.
pub(crate) fn is_boxed(sig: &Signature) -> bool {
    sig.asyncness.is_none() && sig.generics.lifetimes().any(|param| param.lifetime.ident == "async_trait")
}

impl Boxed {
    /// What stands between the braces of the function.
    pub(crate) fn parse(sig: &Signature, body: ParseStream<'_>) -> Result<Self> {
        let unknown = || {
            Error::new(
                sig.ident.span(),
                "this release of `#[async_trait]` is unknown to `#[idempotent]`: write the trait with a native `async fn`",
            )
        };
        let output = output(&sig.output).ok_or_else(unknown)?.clone();
        Self::parse_body(output, body).map_err(|_| unknown())
    }

    fn parse_body(output: Type, body: ParseStream<'_>) -> Result<Self> {
        let head = body.parse()?;
        let (argument, block);
        parenthesized!(argument in body);
        let (asyncness, movement) = (argument.parse::<Token![async]>()?, argument.parse::<Token![move]>()?);
        let braces = braced!(block in argument);
        // Ours says the same of the type.
        if block.peek(Token![if]) {
            block.parse::<ExprIf>()?;
        }
        let (mut unnamed, mut unpacked) = (TokenStream::new(), Vec::new());
        while block.peek(Token![let]) && block.fork().parse::<Unpacked>().is_ok() {
            let one: Unpacked = block.parse()?;
            if one.argument == "self" || one.is_plain() && is_unnamed(&one.argument) {
                one.to_tokens(&mut unnamed);
            } else {
                unpacked.push(one);
            }
        }
        let (future, body_span) = (quote!(#asyncness #movement), braces.span.join());
        Ok(Self { head, future, output, unnamed, unpacked, body: block.parse()?, body_span })
    }
}

impl Parse for Unpacked {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        input.parse::<Token![let]>()?;
        let pat = Pat::parse_single(input)?;
        input.parse::<Token![=]>()?;
        let value: TokenTree = input.parse()?;
        input.parse::<Token![;]>()?;
        let argument = match &value {
            TokenTree::Ident(argument) => argument.clone(),
            TokenTree::Group(block) => moved.parse2(block.stream())?,
            _ => return Err(input.error("an argument")),
        };
        Ok(Self { pat, argument, value: value.into() })
    }
}

/// The argument of `let __arg1 = __arg1; __arg1`.
fn moved(input: ParseStream<'_>) -> Result<Ident> {
    input.parse::<Token![let]>()?;
    let argument = input.parse()?;
    input.parse::<TokenStream>()?;
    Ok(argument)
}

/// The `R` of `Pin<Box<dyn Future<Output = R> + Send>>`.
fn output(returns: &ReturnType) -> Option<&Type> {
    let ReturnType::Type(_, pinned) = returns else { return None };
    let boxed = only_type(arguments(path(pinned)?)?)?;
    let Type::TraitObject(future) = only_type(arguments(path(boxed)?)?)? else { return None };
    future.bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Trait(bound) => arguments(&bound.path)?.args.iter().find_map(|argument| match argument {
            GenericArgument::AssocType(assoc) if assoc.ident == "Output" => Some(&assoc.ty),
            _ => None,
        }),
        _ => None,
    })
}

fn path(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Path(ty) => Some(&ty.path),
        _ => None,
    }
}

fn arguments(path: &Path) -> Option<&AngleBracketedGenericArguments> {
    match &path.segments.last()?.arguments {
        PathArguments::AngleBracketed(list) => Some(list),
        _ => None,
    }
}

fn only_type(list: &AngleBracketedGenericArguments) -> Option<&Type> {
    match list.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}
