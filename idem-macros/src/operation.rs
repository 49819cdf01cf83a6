//! Typed view + function -> validated view: what the operation is, or why there can be none.

use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{
    Error, Expr, GenericArgument, Ident, LitStr, Path, PathArguments, PathSegment, Result, ReturnType, Type,
    TypeReference, parse_quote,
};

use crate::args::{Args, Given, Names};
use crate::function::{Binding, Function};
use crate::options::Options;
use crate::words::Words;

/// Everything the expansion needs to know.
pub(crate) struct Operation {
    /// The facade: `::idem`, or what `crate = …` says.
    pub(crate) krate: Path,
    pub(crate) name: Name,
    pub(crate) engine: Option<Expr>,
    pub(crate) key: Expr,
    pub(crate) scope: Option<Expr>,
    /// What is compared in place of the arguments.
    pub(crate) fingerprint: Option<Expr>,
    pub(crate) options: Options,
    /// Whether a key that is `self` counts with all it says.
    pub(crate) compares_self: bool,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) returns: Type,
    pub(crate) function: Function,
}

pub(crate) enum Name {
    /// `name = "…"`.
    Given(LitStr),
    /// The function's own name, to be put after its module's.
    OfFunction(String),
}

/// A name bound by the function's arguments, and what it is used for.
pub(crate) struct Argument {
    pub(crate) binding: Binding,
    /// Part of the fingerprint.
    pub(crate) is_intent: bool,
    /// Itself the key or an element of it, and as such part of the fingerprint: what it says beyond the key.
    pub(crate) is_key: bool,
    /// Used outside of the body: by the fingerprint, the key, the scope or the engine.
    pub(crate) is_used: bool,
}

impl Operation {
    pub(crate) fn new(mut args: Args, mut function: Function) -> Result<Self> {
        require_async(&function)?;
        let options = Options::take(&mut args, &function.sig)?;
        let key = require_key(args.key.take())?;
        let name = name(args.name.take().map(|name| name.value.0), &function)?;
        let returns = returns(&function)?;

        let has_self = function.sig.receiver().is_some();
        let fingerprint = fingerprint(&mut args)?;
        let compares_nothing = args.skip_all.is_some() || fingerprint.is_some();
        let mut arguments = intent(function.take_bindings(), args.skip.as_ref(), compares_nothing, has_self)?;

        let mut compares_self = has_self && !compares_nothing;
        compares_self &= !args.skip.as_ref().is_some_and(|skip| skip.value.0.iter().any(|name| name == "self"));
        let scope = args.scope.map(|scope| scope.value);
        for argument in arguments.iter_mut().filter(|argument| argument.is_intent) {
            let ident = &argument.binding.ident;
            argument.is_key = elements(&key).any(|name| name == ident);
            // A repeat of another scope is no repeat, so there is nothing to compare.
            let is_scope = scope.as_ref().is_some_and(|scope| elements(scope).any(|name| name == ident));
            argument.is_intent = argument.is_key || !is_scope;
        }

        let engine = args.engine.map(|engine| engine.value);
        let before = [
            ("key", Some(&key)),
            ("scope", scope.as_ref()),
            ("fingerprint", fingerprint.as_ref()),
            ("policy", options.policy.as_ref()),
            ("engine", engine.as_ref()),
            ("recover", options.recover.as_ref()),
        ];
        for (what, expr) in before {
            let Some(expr) = expr else { continue };
            let words = Words::of(expr.to_token_stream());
            if what != "recover" {
                require_plain(&words, what)?;
            }
            if what == "key" {
                require_stable(&words)?;
                require_mention(&words, expr, &arguments, has_self)?;
            }
            for argument in &mut arguments {
                argument.is_used |= words.mention(&argument.binding.ident);
            }
        }

        Ok(Self {
            krate: args.krate.map_or_else(|| parse_quote!(::idem), |krate| krate.value),
            name,
            engine,
            key,
            scope,
            fingerprint,
            options,
            compares_self,
            arguments,
            returns,
            function,
        })
    }
}

/// The variables that are the key, or an element of it, as a whole.
fn elements(key: &Expr) -> Box<dyn Iterator<Item = &Ident> + '_> {
    match key {
        Expr::Tuple(tuple) => Box::new(tuple.elems.iter().flat_map(elements)),
        Expr::Group(group) => elements(&group.expr),
        Expr::Paren(paren) => elements(&paren.expr),
        _ => Box::new(variable(key).into_iter()),
    }
}

/// The variable that `expr` is, or borrows.
pub(crate) fn variable(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) if path.qself.is_none() => path.path.get_ident(),
        Expr::Reference(reference) if reference.mutability.is_none() => variable(&reference.expr),
        Expr::Group(group) => variable(&group.expr),
        Expr::Paren(paren) => variable(&paren.expr),
        _ => None,
    }
}

impl Operation {
    /// Whether an element of the key counts with all it says, and not only with its text.
    pub(crate) fn is_compared(&self, element: &Expr) -> bool {
        variable(element).is_some_and(|name| match self.arguments.iter().find(|arg| arg.binding.ident == *name) {
            Some(argument) => argument.is_key,
            None => self.compares_self && name == "self",
        })
    }

    /// Whether any element of the key does.
    pub(crate) fn compares_key(&self) -> bool {
        self.compares_self && elements(&self.key).any(|name| name == "self")
            || self.arguments.iter().any(|arg| arg.is_key)
    }
}

fn require_async(function: &Function) -> Result<()> {
    let sig = &function.sig;
    if function.is_async() {
        return Ok(());
    }
    let sentence = match &sig.output {
        ReturnType::Type(_, ty) if matches!(**ty, Type::ImplTrait(_)) => {
            "`#[idempotent]` needs an `async fn`: it waits for the store before and after the body; write `async fn`, \
             also for a trait's `-> impl Future`"
        }
        _ => "`#[idempotent]` needs an `async fn`: it waits for the store before and after the body; write `async fn`",
    };
    Err(Error::new(sig.fn_token.span, sentence))
}

fn require_key(key: Option<Given<Expr>>) -> Result<Expr> {
    key.map(|key| key.value).ok_or_else(|| {
        Error::new(
            Span::call_site(),
            "which calls are the same? write `#[idempotent(key = …)]` over the arguments, as in `key = order_id`",
        )
    })
}

fn name(given: Option<LitStr>, function: &Function) -> Result<Name> {
    let ident = &function.sig.ident;
    match given {
        Some(name) => Ok(Name::Given(name)),
        None if function.is_method() => Err(Error::new(
            ident.span(),
            "a method needs a `name`, since an attribute cannot see the type it belongs to: `name = \"orders.charge\"`",
        )),
        None => Ok(Name::OfFunction(ident.unraw().to_string())),
    }
}

/// The return type. That it is a `Result` of the right types is for the compiler to say, which knows types.
fn returns(function: &Function) -> Result<Type> {
    let Some(ty) = function.output() else {
        return Err(Error::new(
            function.sig.ident.span(),
            "an idempotent function returns `Result<T, E>`, so that a conflict can be told: write `-> Result<(), E>` \
             with `E: From<idem::Error>`",
        ));
    };
    // The compiler could only say that some `Deserialize` is "not general enough", and says it at the attribute.
    if let Some(kept) = first_type_argument(ty) {
        let mut borrows = Borrows(None);
        borrows.visit_type(kept);
        if let Some(reference) = borrows.0 {
            return Err(Error::new(
                reference.and_token.span,
                format!("a kept value must own its data: return {}", owned(&reference.elem)),
            ));
        }
    }
    let mut ty = ty.clone();
    infer_opaque(&mut ty);
    Ok(ty)
}

/// The `T` of `Result<T, E>`, or of an alias like it.
fn first_type_argument(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Group(group) => first_type_argument(&group.elem),
        Type::Paren(paren) => first_type_argument(&paren.elem),
        Type::Path(path) => match &path.path.segments.last()?.arguments {
            PathArguments::AngleBracketed(list) => list.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            }),
            _ => None,
        },
        _ => None,
    }
}

/// Finds a reference among what a type holds.
struct Borrows<'ast>(Option<&'ast TypeReference>);

impl<'ast> Visit<'ast> for Borrows<'ast> {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        self.0.get_or_insert(reference);
    }

    fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
        // It holds nothing, so it borrows nothing.
        if segment.ident != "PhantomData" {
            visit::visit_path_segment(self, segment);
        }
    }
}

/// What to return in place of a reference to `ty`.
fn owned(ty: &Type) -> String {
    match ty {
        Type::Path(path) if path.path.is_ident("str") => "`String`".to_owned(),
        Type::Slice(_) => "a `Vec`".to_owned(),
        _ => "the value itself".to_owned(),
    }
}

/// Writes `_` for each `impl Trait`, which may stand in a signature but not in a body.
fn infer_opaque(ty: &mut Type) {
    match ty {
        Type::ImplTrait(_) => *ty = parse_quote!(_),
        Type::Group(group) => infer_opaque(&mut group.elem),
        Type::Paren(paren) => infer_opaque(&mut paren.elem),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(infer_opaque),
        Type::Path(path) => {
            for segment in &mut path.path.segments {
                let PathArguments::AngleBracketed(list) = &mut segment.arguments else { continue };
                for argument in &mut list.args {
                    if let GenericArgument::Type(ty) = argument {
                        infer_opaque(ty);
                    }
                }
            }
        }
        _ => {}
    }
}

/// What is compared in place of the arguments: all of them, so that there is nothing left to skip.
fn fingerprint(args: &mut Args) -> Result<Option<Expr>> {
    let lists = [args.skip.as_ref().map(|skip| &skip.keyword), args.fingerprint.as_ref().map(|given| &given.keyword)];
    if let (Some(all), [Some(list), _] | [_, Some(list)]) = (&args.skip_all, lists) {
        let sentence = if list == "skip" {
            "`skip_all` leaves out every argument, those of `skip(…)` too: write one of the two"
        } else {
            "`skip_all` compares nothing, and `fingerprint` what it says: write one of the two"
        };
        return Err(Error::new(all.keyword.span(), sentence));
    }
    if let [Some(skip), Some(_)] = lists {
        return Err(Error::new(
            skip.span(),
            "`fingerprint` stands for all arguments, so there is nothing left to skip: write one of the two",
        ));
    }
    Ok(args.fingerprint.take().map(|given| given.value))
}

/// The bindings, and which of them the fingerprint is made of.
fn intent(
    bindings: Vec<Binding>,
    skip: Option<&Given<Names>>,
    compares_nothing: bool,
    has_self: bool,
) -> Result<Vec<Argument>> {
    let skipped = skip.map_or_else(Default::default, |skip| skip.value.0.as_slice());
    for name in skipped {
        // Receivers are left out anyway, but `tracing` has taught people to write it.
        let exists = has_self && name == "self" || bindings.iter().any(|binding| is_same(&binding.ident, name));
        if !exists {
            return Err(unknown_skip(name, &bindings));
        }
    }
    let is_intent = |binding: &Binding| !compares_nothing && !skipped.iter().any(|name| is_same(&binding.ident, name));
    if let Some(Binding { ident, .. }) = bindings.iter().find(|binding| binding.exclusive && is_intent(binding)) {
        return Err(Error::new(
            ident.span(),
            format!(
                "an `&mut` argument must be skipped, since a replay returns the result but repeats no change: `skip({ident})`"
            ),
        ));
    }
    let argument = |binding| {
        let is_intent = is_intent(&binding);
        Argument { binding, is_intent, is_key: false, is_used: is_intent }
    };
    Ok(bindings.into_iter().map(argument).collect())
}

fn is_same(a: &Ident, b: &Ident) -> bool {
    a.unraw() == b.unraw()
}

fn unknown_skip(name: &Ident, bindings: &[Binding]) -> Error {
    let there_are = match bindings {
        [] => "it has none to skip".to_owned(),
        _ => format!("there are: {}", list(bindings.iter())),
    };
    Error::new(name.span(), format!("`{name}` is no argument of this function; {there_are}"))
}

fn list<'a>(bindings: impl Iterator<Item = &'a Binding>) -> String {
    bindings.map(|binding| format!("`{}`", binding.ident)).collect::<Vec<_>>().join(", ")
}

/// The expressions run in the function's own scope, before anything is sent; they neither wait nor leave, but for `?`.
fn require_plain(words: &Words, what: &str) -> Result<()> {
    if let Some(word) = words.keyword("await") {
        let article = if what == "engine" { "an" } else { "a" };
        return Err(Error::new(
            word.span(),
            format!(
                "{article} {what} is computed, not fetched: await before the call and pass the value as an argument"
            ),
        ));
    }
    if let Some(word) = words.keyword("return") {
        return Err(Error::new(
            word.span(),
            format!("no `return` in the {what}: `?` leaves the function with an error before anything is sent"),
        ));
    }
    Ok(())
}

fn require_stable(key: &Words) -> Result<()> {
    key.volatile().map_or(Ok(()), |word| {
        Err(Error::new(
            word.span(),
            format!(
                "`{word}` gives another value on every call, so no repeat would ever be recognised; make the key where \
                 the intent is born (the client, the message) and pass it in as an argument"
            ),
        ))
    })
}

fn require_mention(words: &Words, key: &Expr, arguments: &[Argument], has_self: bool) -> Result<()> {
    let receiver = has_self.then(|| Ident::new("self", Span::call_site()));
    if arguments.iter().map(|argument| &argument.binding.ident).chain(&receiver).any(|name| words.mention(name)) {
        return Ok(());
    }
    // A skipped argument is rarely the key, a client never.
    let likely = list(arguments.iter().filter(|argument| argument.is_intent).map(|argument| &argument.binding));
    let any = list(arguments.iter().map(|argument| &argument.binding));
    let names = match (likely.as_str(), any.as_str()) {
        ("", "") if has_self => "a field of `self`",
        ("", "") => {
            return Err(Error::new_spanned(
                key,
                "this key is the same for every call, so the function would run once per retention; give it an argument \
                 that names the intent (for a daily job: the date)",
            ));
        }
        ("", any) => &format!("one of {any}"),
        (likely, _) => &format!("one of {likely}"),
    };
    Err(Error::new_spanned(
        key,
        format!("this key mentions no argument, so every call would be a repeat of the first; use {names}"),
    ))
}
