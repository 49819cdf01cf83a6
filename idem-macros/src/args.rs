//! Tokens -> typed view: what stands between the attribute's parentheses.
//!
//! Only the form of each argument is checked here; what the arguments mean together, and for the function they stand
//! on, is checked in `operation.rs`.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, ExprPath, Ident, Lit, LitStr, Path, Result, Token, ext::IdentExt, parenthesized};

/// The arguments as they were written.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) key: Option<Given<Expr>>,
    pub(crate) name: Option<Given<Name>>,
    pub(crate) scope: Option<Given<Expr>>,
    pub(crate) skip: Option<Given<Names>>,
    pub(crate) skip_all: Option<Given<Flag>>,
    pub(crate) retention: Option<Given<Duration>>,
    pub(crate) lease: Option<Given<Duration>>,
    pub(crate) fingerprint: Option<Given<Expr>>,
    pub(crate) policy: Option<Given<Expr>>,
    pub(crate) engine: Option<Given<Expr>>,
    pub(crate) hold: Option<Given<Predicate>>,
    pub(crate) keep: Option<Given<Predicate>>,
    pub(crate) reject: Option<Given<Predicate>>,
    pub(crate) recover: Option<Given<Expr>>,
    pub(crate) detach: Option<Given<Flag>>,
    pub(crate) krate: Option<Given<Path>>,
}

/// Every keyword there is, for the error about one that is not.
const KEYWORDS: &str = "`key`, `name`, `scope`, `skip`, `skip_all`, `fingerprint`, `policy`, `retention`, `lease`, `engine`, \
                        `hold`, `keep`, `reject`, `recover`, `detach`, `crate`";

impl Parse for Args {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut args = Self::default();
        while !input.is_empty() {
            // `crate` is a keyword, so a plain `Ident` would not do.
            let keyword = input.call(Ident::parse_any)?;
            match keyword.to_string().as_str() {
                "key" => set(&mut args.key, keyword, input)?,
                "name" => set(&mut args.name, keyword, input)?,
                "scope" => set(&mut args.scope, keyword, input)?,
                "skip" => set(&mut args.skip, keyword, input)?,
                "skip_all" => set(&mut args.skip_all, keyword, input)?,
                "fingerprint" => set(&mut args.fingerprint, keyword, input)?,
                "policy" => set(&mut args.policy, keyword, input)?,
                "retention" => set(&mut args.retention, keyword, input)?,
                "lease" => set(&mut args.lease, keyword, input)?,
                "engine" => set(&mut args.engine, keyword, input)?,
                "hold" => set(&mut args.hold, keyword, input)?,
                "keep" => set(&mut args.keep, keyword, input)?,
                "reject" => set(&mut args.reject, keyword, input)?,
                "recover" => set(&mut args.recover, keyword, input)?,
                "detach" => set(&mut args.detach, keyword, input)?,
                "crate" => set(&mut args.krate, keyword, input)?,
                unknown => {
                    return Err(Error::new(
                        keyword.span(),
                        format!("`{unknown}` is no argument of `#[idempotent]`; there are: {KEYWORDS}"),
                    ));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(args)
    }
}

/// An argument that was given: its keyword, for the errors that point there, and its value.
pub(crate) struct Given<T> {
    pub(crate) keyword: Ident,
    pub(crate) value: T,
}

/// Fills `slot` with what follows `keyword`, unless an earlier argument did.
pub(crate) fn set<T: Value>(slot: &mut Option<Given<T>>, keyword: Ident, input: ParseStream<'_>) -> Result<()> {
    if slot.is_some() {
        return Err(Error::new(keyword.span(), format!("`{keyword}` is given twice: write it once")));
    }
    let value = T::parse_value(input)?;
    *slot = Some(Given { keyword, value });
    Ok(())
}

/// How the tokens after a keyword read.
pub(crate) trait Value: Sized {
    fn parse_value(input: ParseStream<'_>) -> Result<Self>;
}

impl Value for Expr {
    fn parse_value(input: ParseStream<'_>) -> Result<Self> {
        input.parse::<Token![=]>()?;
        input.parse()
    }
}

impl Value for Path {
    fn parse_value(input: ParseStream<'_>) -> Result<Self> {
        input.parse::<Token![=]>()?;
        input.call(Path::parse_mod_style)
    }
}

impl Value for LitStr {
    fn parse_value(input: ParseStream<'_>) -> Result<Self> {
        input.parse::<Token![=]>()?;
        input.parse()
    }
}

/// A function that picks errors: `hold = PayError::is_timeout`.
pub(crate) struct Predicate(pub(crate) ExprPath);

impl Value for Predicate {
    fn parse_value(input: ParseStream<'_>) -> Result<Self> {
        match Expr::parse_value(input)? {
            Expr::Path(path) => Ok(Self(path)),
            other => Err(Error::new_spanned(
                other,
                "this is the path of a function that takes the error by reference and tells whether it is meant, as in \
                 `hold = PayError::is_timeout`",
            )),
        }
    }
}

/// An argument that is there or not: `skip_all`.
pub(crate) struct Flag;

impl Value for Flag {
    fn parse_value(_: ParseStream<'_>) -> Result<Self> {
        Ok(Self)
    }
}

/// A list in parentheses: `skip(gateway, self)`.
pub(crate) struct Names(pub(crate) Vec<Ident>);

impl Value for Names {
    fn parse_value(input: ParseStream<'_>) -> Result<Self> {
        let list;
        parenthesized!(list in input);
        let names = Punctuated::<Ident, Token![,]>::parse_terminated_with(&list, Ident::parse_any)?;
        Ok(Self(names.into_iter().collect()))
    }
}

/// A stable name: `name = "payments.charge"`.
pub(crate) struct Name(pub(crate) LitStr);

/// The longest name, in bytes. It stands in every record's key.
const MAX_NAME: usize = 128;

impl Value for Name {
    fn parse_value(input: ParseStream<'_>) -> Result<Self> {
        let expr = Expr::parse_value(input)?;
        let Some(literal) = text(&expr) else {
            return Err(Error::new_spanned(
                expr,
                "a `name` is a string literal, as in `name = \"orders.charge\"`: records are found by it for as long as \
                 they are kept",
            ));
        };
        let name = literal.value();
        let complaint = if name.trim().is_empty() {
            "a `name` cannot be empty: write one that stays, as in `name = \"orders.charge\"`"
        } else if name.len() > MAX_NAME {
            "a `name` has at most 128 bytes"
        } else if name.chars().any(char::is_control) {
            "a `name` has no control characters"
        } else {
            return Ok(Self(literal.clone()));
        };
        Err(Error::new(literal.span(), complaint))
    }
}

/// A length of time: `lease = "30s"`.
pub(crate) struct Duration {
    pub(crate) literal: LitStr,
    pub(crate) millis: u64,
}

impl Value for Duration {
    fn parse_value(input: ParseStream<'_>) -> Result<Self> {
        let expr = Expr::parse_value(input)?;
        let literal = text(&expr);
        if let Some(literal) = literal
            && let Some(millis) = millis(&literal.value())
        {
            return Ok(Self { literal: literal.clone(), millis });
        }
        let written = literal.map_or_else(|| quote::quote!(#expr).to_string(), LitStr::value);
        Err(Error::new_spanned(
            expr,
            format!("`{written}` is no duration: write a number and one of ms, s, m, h, d, as in \"30s\""),
        ))
    }
}

/// The string literal that `expr` is, also where a `macro_rules!` macro passed it on (in a group without delimiters).
fn text(expr: &Expr) -> Option<&LitStr> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(literal), .. }) => Some(literal),
        Expr::Group(group) => text(&group.expr),
        _ => None,
    }
}

fn millis(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let millis_per_unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60 * 1_000,
        "h" => 60 * 60 * 1_000,
        "d" => 24 * 60 * 60 * 1_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(millis_per_unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(args: &str) -> String {
        syn::parse_str::<Args>(args).err().expect("an error").to_string()
    }

    #[test]
    fn every_keyword_of_the_list_exists() {
        for keyword in KEYWORDS.split(", ") {
            let error = syn::parse_str::<Args>(&format!("{} ;", keyword.trim_matches('`'))).err();
            let error = error.expect("`;` fits nowhere").to_string();
            assert!(error.starts_with("expected"), "{keyword}: {error}");
        }
    }

    #[test]
    fn unknown_and_repeated_arguments_are_named() {
        assert_eq!(
            error("kye = id"),
            "`kye` is no argument of `#[idempotent]`; there are: `key`, `name`, `scope`, `skip`, `skip_all`, \
             `fingerprint`, `policy`, `retention`, `lease`, `engine`, `hold`, `keep`, `reject`, `recover`, `detach`, `crate`"
        );
        assert_eq!(error("key = a, key = b"), "`key` is given twice: write it once");
        assert_eq!(error("skip_all, key = b, skip_all"), "`skip_all` is given twice: write it once");
        assert_eq!(error("crate = a, crate = b"), "`crate` is given twice: write it once");
    }

    #[test]
    fn durations_are_a_number_and_a_unit() {
        for (text, expected) in
            [("250ms", 250), ("30s", 30_000), ("10m", 600_000), ("24h", 86_400_000), ("7d", 604_800_000), ("0s", 0)]
        {
            assert_eq!(millis(text), Some(expected), "{text}");
        }
        for text in
            ["", "s", "30", "30 s", "-1s", "1.5h", "1h30m", "1M", "1w", "99999999999999999999s", "999999999999d"]
        {
            assert_eq!(millis(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_shown_as_written() {
        let sentence = |written: &str| {
            format!("`{written}` is no duration: write a number and one of ms, s, m, h, d, as in \"30s\"")
        };
        assert_eq!(error("lease = 30"), sentence("30"));
        assert_eq!(error("retention = \"soon\""), sentence("soon"));
        assert_eq!(error("retention = DAY"), sentence("DAY"));
    }

    #[test]
    fn names_are_short_literals() {
        assert!(error("name = NAME").starts_with("a `name` is a string literal"));
        assert!(error("name = \" \"").starts_with("a `name` cannot be empty: "));
        assert_eq!(error(r#"name = "a\nb""#), "a `name` has no control characters");
        assert_eq!(error(&format!("name = \"{}\"", "é".repeat(65))), "a `name` has at most 128 bytes");
        assert!(syn::parse_str::<Args>(&format!("name = \"{}\"", "n".repeat(128))).is_ok());
    }

    #[test]
    fn commas_may_trail() {
        let args: Args = syn::parse_str("key = (a, b), skip(c, self,), skip_all, crate = ::other::idem,").unwrap();
        assert_eq!(args.skip.unwrap().value.0.len(), 2);
        assert!(args.krate.unwrap().value.leading_colon.is_some());
    }
}
