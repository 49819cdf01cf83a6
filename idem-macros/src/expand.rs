//! Validated view -> tokens.
//!
//! ```text
//! #[idempotent(key = order_id, skip(gateway), retention = "24h")]
//! async fn charge(gateway: &Gateway, order_id: &str, cents: u64) -> Result<Receipt, ChargeError> {
//!     gateway.charge(order_id, cents).await
//! }
//! ```
//!
//! becomes, the absolute paths shortened:
//!
//! ```text
//! async fn charge(gateway: &Gateway, order_id: &str, cents: u64) -> Result<Receipt, ChargeError> {
//!     let call = {
//!         enum Here {}                               // tells a function at module level from any other
//!         static SITE: Site = Site::of_function(concat!(module_path!(), "::charge"), type_name::<Here>)
//!             .retention(Duration::from_millis(86_400_000));
//!         SITE.call()
//!     }
//!     .key(&order_id)
//!     .arg(&cents);                                  // evaluated here, owned afterwards: no borrow is left
//!     let returns = returns::<Result<Receipt, ChargeError>>();           // the only bound, at the return type
//!     let typed = returns.typed();
//!     let body = pin!(async move {
//!         if let Some(ret) = typed.never() {         // types the block as the function: coercions, `?`, `todo!()`
//!             return ret;
//!         }
//!         let gateway = gateway;                     // moves whole arguments, which drop in the order they always did
//!         #[allow(unused_variables)]                 // used already, by the key and the fingerprint
//!         let order_id = order_id;
//!         #[allow(unused_variables)]
//!         let cents = cents;
//!         '_body: {
//!             gateway.charge(order_id, cents).await
//!         }
//!     });
//!     call.run_pinned(&returns, body).await
//! }
//! ```
//!
//! An argument that is itself the key counts in the fingerprint with what `IdempotencyKey` says beyond its text, not with
//! all that serde would write. Of any other key (`order.id`) only the text counts: `.key_only(&order.id)`.
//!
//! Every path is absolute, since nothing is known of what the function's module imports or calls its own. Locals have
//! mixed-site spans, so neither the body nor the user's expressions see them; items cannot have one, so they stand in a
//! block of their own.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprPath, Ident, Lifetime, LitInt, Path, spanned::Spanned};

use crate::args::Duration;
use crate::boxed::Boxed;
use crate::function::{Binding, Body};
use crate::operation::{Argument, Name, Operation};

/// The annotated function, run through its operation.
pub(crate) fn expand(operation: &Operation) -> TokenStream {
    let function = &operation.function;
    let (attrs, vis, sig) = (&function.attrs, &function.vis, &function.sig);
    let here = Span::mixed_site();
    let call = call(operation);
    let returns = returns(operation);
    let ready = operation.options.recover.as_ref().map(ready);
    let body = body(operation);
    let runs = if ready.is_some() { quote_spanned!(here=> ready) } else { quote_spanned!(here=> call) };
    let run = if operation.options.detach { "run_spawned" } else { "run_pinned" };
    let run = Ident::new(run, here);
    let statements = quote_spanned! {here=>
        #call
        #returns
        #ready
        #body
        #runs.#run(&returns, body).await
    };
    let block = match &function.body {
        // The user's own braces, or what is said of the function as a whole would be said of its body.
        Body::Plain { span, .. } => braced(statements, *span),
        Body::Boxed(boxed) => {
            let Boxed { head, future, unpacked, .. } = &**boxed;
            let unpacked = unpacked.iter().filter(|unpacked| !unpacked.is_plain());
            let statements = braced(quote!(#(#unpacked)* #statements), boxed.body_span);
            braced(quote!(#head(#future #statements)), boxed.body_span)
        }
    };
    quote!(#(#attrs)* #vis #sig #block)
}

/// `let call = …;`: who calls, and with what key and arguments. They are read now and borrowed no longer.
fn call(operation: &Operation) -> TokenStream {
    let here = Span::mixed_site();
    let site = site(operation);
    let engine = operation.engine.as_ref().map(|engine| step("engine", engine));
    let key = key(operation);
    let scope = operation.scope.as_ref().map(|scope| step("scope", scope));
    let policy = operation.options.policy.as_ref().map(|policy| quote_spanned!(here=> .policy(#policy)));
    let fingerprint = operation.fingerprint.as_ref().map(|fingerprint| step("fingerprint", fingerprint));
    let start = quote_spanned!(here=> #site #engine #policy #key #scope #fingerprint);

    let intent: Vec<&Argument> =
        operation.arguments.iter().filter(|argument| argument.is_intent && !argument.is_key).collect();
    let used = operation.arguments.iter().filter(|argument| argument.is_used);
    let allow = used
        .map(|argument| &argument.binding.ident)
        .any(is_underscored)
        .then(|| quote_spanned!(here=> #[allow(clippy::used_underscore_binding)]));
    let steps = intent.iter().map(|Argument { binding, .. }| {
        let ident = &binding.ident;
        let borrow = borrow_at(ident.span());
        quote_spanned!(here=> .arg(#borrow #ident))
    });
    if intent.iter().any(|argument| !argument.binding.attrs.is_empty()) {
        // A `#[cfg]` can stand on a statement but not on a step of a chain.
        let attrs = intent.iter().map(|argument| &argument.binding.attrs);
        quote_spanned!(here=> #allow let call = #start; #(#(#attrs)* #allow let call = call #steps;)*)
    } else {
        quote_spanned!(here=> #allow let call = #start #(#steps)*;)
    }
}

/// The operation as far as it is known before any call.
fn site(operation: &Operation) -> TokenStream {
    let here = Span::mixed_site();
    let krate = &operation.krate;
    let site = match &operation.name {
        Name::Given(name) => quote_spanned!(here=> #krate::__private::Site::new(#name)),
        Name::OfFunction(name) => {
            let path = format!("::{name}");
            quote_spanned! {here=>
                #krate::__private::Site::of_function(
                    ::core::concat!(::core::module_path!(), #path),
                    ::core::any::type_name::<Here>,
                )
            }
        }
    };
    let here_type = matches!(operation.name, Name::OfFunction(_)).then(|| quote_spanned!(here=> enum Here {}));
    let retention = operation.options.retention.as_ref().map(|retention| limit("retention", retention));
    let lease = operation.options.lease.as_ref().map(|lease| limit("lease", lease));
    quote_spanned! {here=>
        {
            #here_type
            static SITE: #krate::__private::Site = #site #retention #lease;
            SITE.call()
        }
    }
}

/// `.lease(::core::time::Duration::from_millis(30_000))`.
fn limit(method: &str, duration: &Duration) -> TokenStream {
    let here = Span::mixed_site();
    let method = Ident::new(method, here);
    let digits = duration.millis.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    let millis = LitInt::new(&groups.join("_"), here);
    quote_spanned!(here=> .#method(::core::time::Duration::from_millis(#millis)))
}

/// `.key(&order_id)`, `.key_only(&order.id)`, or `.key(&(&order_id, &KeyOnly(&part.id)))`.
fn key(operation: &Operation) -> TokenStream {
    if !operation.compares_key() {
        return step("key_only", &operation.key);
    }
    let (here, krate) = (Span::mixed_site(), &operation.krate);
    let key = borrowed(&operation.key, &|element, borrowed| {
        if operation.is_compared(element) {
            borrowed
        } else {
            let borrow = borrow_at(element.span());
            quote_spanned!(here=> #borrow #krate::__private::KeyOnly(#borrowed))
        }
    });
    quote_spanned!(here=> .key(#key))
}

/// `.scope(&tenant)`.
fn step(method: &str, expr: &Expr) -> TokenStream {
    let here = Span::mixed_site();
    let method = Ident::new(method, here);
    let expr = borrowed(expr, &|_, borrowed| borrowed);
    quote_spanned!(here=> .#method(#expr))
}

/// A reference to the value of `expr`, made by `element`. A tuple literal borrows each of its elements, so that the key
/// moves no argument.
fn borrowed(expr: &Expr, element: &dyn Fn(&Expr, TokenStream) -> TokenStream) -> TokenStream {
    let borrow = borrow_at(expr.span());
    let borrowed = match expr {
        // Groups without delimiters are what `macro_rules!` passes on.
        Expr::Group(group) => return borrowed(&group.expr, element),
        Expr::Paren(paren) => return borrowed(&paren.expr, element),
        Expr::Tuple(tuple) => {
            let elems = tuple.elems.iter().map(|elem| borrowed(elem, element));
            return quote_spanned!(expr.span().resolved_at(Span::mixed_site())=> #borrow (#(#elems,)*));
        }
        Expr::Path(_) | Expr::Field(_) | Expr::MethodCall(_) | Expr::Call(_) | Expr::Macro(_) | Expr::Try(_) => {
            quote!(#borrow #expr)
        }
        _ => quote_spanned!(expr.span().resolved_at(Span::mixed_site())=> #borrow (#expr)),
    };
    element(expr, borrowed)
}

/// An `&` that stands where `span` does: a complaint about the whole then points at the user's expression.
fn borrow_at(span: Span) -> TokenStream {
    quote_spanned!(span.resolved_at(Span::mixed_site())=> &)
}

/// `let returns = …;`: a witness of what the return type must be. It is the only place with a bound on it, so each
/// mistake is told once, and every token of it stands at the return type, so it is told there.
fn returns(operation: &Operation) -> TokenStream {
    let ty = &operation.returns;
    let there = ty.span();
    let krate = located_at(&operation.krate, there);
    let witness = quote_spanned!(there=> #krate::__private::returns::<#ty>());
    let options = &operation.options;
    let judges = [("hold", &options.hold), ("keep", &options.keep), ("reject", &options.reject)];
    let judges = judges.into_iter().filter_map(|(method, path)| Some(judge(method, path.as_ref()?)));
    quote_spanned!(Span::mixed_site()=> let returns = #witness #(#judges)*; let typed = returns.typed();)
}

/// `.hold(PayError::is_timeout)`; that the function does not fit, or the error, is told where it is named.
fn judge(method: &str, path: &ExprPath) -> TokenStream {
    let there = path.span().resolved_at(Span::mixed_site());
    let method = Ident::new(method, there);
    quote_spanned!(there=> .#method(#path))
}

/// `let ready = …;`: the call, once it is known what became of the attempts before. What is asked borrows the arguments,
/// and is done with them before the body moves them.
fn ready(recover: &Expr) -> TokenStream {
    let there = recover.span().resolved_at(Span::mixed_site());
    let recover = match recover {
        Expr::Async(_) | Expr::Call(_) | Expr::Macro(_) | Expr::MethodCall(_) | Expr::Path(_) => {
            recover.to_token_stream()
        }
        _ => quote_spanned!(there=> (#recover)),
    };
    // In a block of its own, so that a `?` leaves what is asked and not the call.
    let asked = quote_spanned!(there=> async { returns.asked(async { #recover.await }.await) });
    quote_spanned! {Span::mixed_site()=>
        let ready = {
            let ask = ::core::pin::pin!(#asked);
            match call.ask_pinned(&returns, ask).await {
                ::core::result::Result::Ok(ready) => ready,
                ::core::result::Result::Err(answer) => return answer,
            }
        };
    }
}

/// `path` with every token at `span`, each still meaning what it did (`$crate` is known by its span).
fn located_at(path: &Path, span: Span) -> TokenStream {
    let tokens = path.to_token_stream().into_iter();
    tokens
        .map(|mut token: TokenTree| {
            token.set_span(token.span().located_at(span));
            token
        })
        .collect()
}

/// `let body = …;`: the user's block as a future that nothing has polled yet.
fn body(operation: &Operation) -> TokenStream {
    let here = Span::mixed_site();
    let (unnamed, tokens, span) = match &operation.function.body {
        Body::Plain { tokens, span } => (None, tokens, *span),
        Body::Boxed(boxed) => (Some(&boxed.unnamed), &boxed.body, boxed.body_span),
    };
    let bindings = operation.arguments.iter().map(rebind);
    // Clippy takes a block that begins at a token of ours for ours, and says nothing of the macros called in it. So the
    // user's block begins at a token of theirs; the label is there to keep `unused_braces` quiet about a short one.
    let label = Lifetime::new("'_body", span);
    let block = braced(tokens.clone(), span);
    let statements = quote_spanned! {here=>
        if let ::core::option::Option::Some(ret) = typed.never() {
            return ret;
        }
        #unnamed
        #(#bindings)*
        #label: #block
    };
    // At the place of the user's braces, or a missing tail expression would be reported at the attribute.
    let there = span.resolved_at(here);
    let statements = braced(statements, there);
    let future = quote_spanned!(there=> async move #statements);
    if operation.options.detach {
        quote_spanned!(here=> let body = #future;)
    } else {
        quote_spanned!(here=> let body = ::core::pin::pin!(#future);)
    }
}

/// `let mut order = order;`: moves an argument whole, and has it drop where it would have dropped without us.
fn rebind(Argument { binding, is_used, .. }: &Argument) -> TokenStream {
    let Binding { attrs, expects, mutability, ident, .. } = binding;
    let here = Span::mixed_site();
    // An argument that nothing used yet must go on being reported when the body does not use it either.
    let used = is_used.then(|| quote_spanned!(here=> unused_variables,));
    let underscored = is_underscored(ident)
        .then(|| quote_spanned!(here=> clippy::used_underscore_binding, clippy::no_effect_underscore_binding,));
    quote_spanned! {here=>
        #(#attrs)*
        #(#expects)*
        #[allow(#used #underscored clippy::shadow_same)]
        let #mutability #ident = #ident;
    }
}

fn is_underscored(ident: &Ident) -> bool {
    ident.to_string().starts_with('_')
}

fn braced(tokens: TokenStream, span: Span) -> Group {
    let mut group = Group::new(Delimiter::Brace, tokens);
    group.set_span(span);
    group
}
