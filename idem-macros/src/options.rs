//! How the function is run beyond its identity: for how long what holds, what its errors mean, whom to ask after a crash,
//! and in whose task.

use proc_macro2::Span;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Error, Expr, ExprPath, FnArg, Lifetime, ReceiverKind, Result, Signature, TypeReference};

use crate::args::{Args, Duration, Given};
use crate::words::Words;

/// What of the attribute is about the run and not about the identity.
pub(crate) struct Options {
    pub(crate) policy: Option<Expr>,
    pub(crate) retention: Option<Duration>,
    pub(crate) lease: Option<Duration>,
    pub(crate) hold: Option<ExprPath>,
    pub(crate) keep: Option<ExprPath>,
    pub(crate) reject: Option<ExprPath>,
    pub(crate) recover: Option<Expr>,
    pub(crate) detach: bool,
}

impl Options {
    pub(crate) fn take(args: &mut Args, sig: &Signature) -> Result<Self> {
        if args.detach.is_some() {
            require_owned(sig)?;
        }
        if let Some(recover) = &args.recover
            && let Some(word) = Words::of(recover.value.to_token_stream()).keyword("return")
        {
            return Err(Error::new(
                word.span(),
                "no `return` in `recover`: its value is `Ok(Some(…))` if it happened, `Ok(None)` if it did not, `Err(…)` if \
                 nobody knows",
            ));
        }
        check_durations(args.retention.as_ref(), args.lease.as_ref())?;
        Ok(Self {
            policy: args.policy.take().map(|given| given.value),
            retention: args.retention.take().map(|given| given.value),
            lease: args.lease.take().map(|given| given.value),
            hold: args.hold.take().map(|given| given.value.0),
            keep: args.keep.take().map(|given| given.value.0),
            reject: args.reject.take().map(|given| given.value.0),
            recover: args.recover.take().map(|given| given.value),
            detach: args.detach.take().is_some(),
        })
    }
}

/// A task of its own outlives its caller. What borrows in a way that cannot be seen here, the compiler reports.
fn require_owned(sig: &Signature) -> Result<()> {
    let complain = |span, instead| {
        let sentence = format!("`detach` runs the body in a task of its own, which cannot borrow: take {instead}");
        Err(Error::new(span, sentence))
    };
    for input in &sig.inputs {
        let ty = match input {
            FnArg::Receiver(receiver) => match &receiver.kind {
                ReceiverKind::Value => continue,
                ReceiverKind::Typed(_, ty) => ty,
                _ => return complain(receiver.self_token.span, "`self: Arc<Self>`"),
            },
            FnArg::Typed(argument) => &argument.ty,
        };
        let mut borrows = Borrows(None);
        borrows.visit_type(ty);
        if let Some(span) = borrows.0 {
            return complain(span, "an owned value (`String`, `Arc<T>`)");
        }
    }
    Ok(())
}

/// Finds what a type borrows, but for good.
struct Borrows(Option<Span>);

impl<'ast> Visit<'ast> for Borrows {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        if reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident != "static") {
            self.0.get_or_insert(reference.and_token.span);
        }
        visit::visit_type_reference(self, reference);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident == "_" {
            self.0.get_or_insert(lifetime.span());
        }
    }
}

/// The longest that a policy accepts, told here where it is written.
const TEN_YEARS_MILLIS: u64 = 10 * 365 * 86_400_000;

/// What can be known from the literals alone. One of them beside a policy's other half is known at the first call only.
fn check_durations(retention: Option<&Given<Duration>>, lease: Option<&Given<Duration>>) -> Result<()> {
    let (retention, lease) = (retention.map(|given| &given.value), lease.map(|given| &given.value));
    if let Some(retention) = retention
        && retention.millis == 0
    {
        return Err(Error::new(
            retention.literal.span(),
            "a `retention` of zero keeps no result, so no repeat would ever be recognised: write how long repeats may come, as \
             in \"24h\"",
        ));
    }
    if let Some(lease) = lease
        && lease.millis < 100
    {
        return Err(Error::new(lease.literal.span(), "a `lease` is at least 100 ms"));
    }
    for (name, given) in [("retention", retention), ("lease", lease)] {
        if let Some(given) = given
            && given.millis > TEN_YEARS_MILLIS
        {
            return Err(Error::new(given.literal.span(), format!("a `{name}` is at most ten years: \"3650d\"")));
        }
    }
    if let (Some(retention), Some(lease)) = (retention, lease)
        && lease.millis >= retention.millis
    {
        return Err(Error::new(
            lease.literal.span(),
            format!("a `lease` is shorter than the `retention`, which is \"{}\" here", retention.literal.value()),
        ));
    }
    Ok(())
}
