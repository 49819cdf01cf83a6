//! What an expression of the attribute says, token by token.
//!
//! These rules read tokens and not syntax, because a macro's input has no syntax: `format!("{order_id}")` mentions
//! `order_id`. They may accept too much (the key is then bad as any expression can be), never refuse what is right.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;

/// Functions whose value differs on every call.
#[rustfmt::skip]
const VOLATILE: [&str; 15] = [
    "new_v4", "new_v7", "now_v1", "now_v6", "now_v7", "now", "now_utc", "now_local", "elapsed",
    "rand", "random", "rng", "thread_rng", "getrandom", "nanoid",
];

/// The words of an expression, in order, those inside of macro input too.
#[derive(Default)]
pub(crate) struct Words {
    words: Vec<Word>,
    /// The string literals among macro input, where `{name}` is a mention.
    texts: Vec<String>,
}

/// An identifier (or keyword) and what stands around it.
struct Word {
    ident: Ident,
    /// `.word`: a field or a method, so not a variable.
    is_member: bool,
    /// `word(…)`, `word::<…>(…)` or `word!(…)`.
    is_called: bool,
    /// `word::…` or `…::word`.
    is_in_path: bool,
}

impl Words {
    pub(crate) fn of(tokens: TokenStream) -> Self {
        let mut words = Self::default();
        words.read(tokens, false);
        words
    }

    fn read(&mut self, tokens: TokenStream, in_macro: bool) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            let (before, after) = (&trees[..at], &trees[at + 1..]);
            match tree {
                TokenTree::Group(group) => {
                    let is_input = matches!(before, [.., TokenTree::Ident(_), bang] if is_punct(bang, '!'));
                    self.read(group.stream(), in_macro || is_input);
                }
                TokenTree::Ident(ident) => self.words.push(Word {
                    ident: ident.clone(),
                    // Two dots are a range.
                    is_member: before.iter().rev().take_while(|tree| is_punct(tree, '.')).count() == 1,
                    is_called: is_call(after),
                    is_in_path: before.iter().rev().take_while(|tree| is_punct(tree, ':')).count() == 2
                        || after.iter().take_while(|tree| is_punct(tree, ':')).count() == 2,
                }),
                TokenTree::Literal(literal) if in_macro => self.texts.push(literal.to_string()),
                TokenTree::Literal(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    /// Whether the variable `name` is mentioned.
    pub(crate) fn mention(&self, name: &Ident) -> bool {
        self.words.iter().any(|word| word.ident == *name && !word.is_member)
            || self.texts.iter().any(|text| captures(text, &name.unraw().to_string()))
    }

    /// A word that gives another value on every call: one that is called, or else one that stands in a path
    /// (`rand::rng().random()` complains of `rng`, `unwrap_or_else(rand::random)` of `random`).
    pub(crate) fn volatile(&self) -> Option<&Ident> {
        let volatile = || self.words.iter().filter(|word| VOLATILE.iter().any(|name| word.ident == name));
        let word = volatile().find(|word| word.is_called).or_else(|| volatile().rfind(|word| word.is_in_path));
        word.map(|word| &word.ident)
    }

    /// The first of the keywords `keyword`.
    pub(crate) fn keyword(&self, keyword: &str) -> Option<&Ident> {
        self.words.iter().map(|word| &word.ident).find(|ident| *ident == keyword)
    }
}

/// Whether the word `name` is anywhere among `tokens`.
pub(crate) fn contain(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => contain(group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn is_punct(tree: &TokenTree, char: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char)
}

fn is_call(after: &[TokenTree]) -> bool {
    match after {
        [TokenTree::Group(group), ..] => group.delimiter() == Delimiter::Parenthesis,
        [bang, TokenTree::Group(_), ..] => is_punct(bang, '!'),
        [first, second, third, ..] => is_punct(first, ':') && is_punct(second, ':') && is_punct(third, '<'),
        _ => false,
    }
}

/// Whether the format string `text` holds `{name}`, `{name:…}` or the like.
fn captures(text: &str, name: &str) -> bool {
    text.split('{').skip(1).any(|rest| {
        rest.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;

    fn words(expr: &str) -> Words {
        Words::of(expr.parse().unwrap())
    }

    #[test]
    fn variables_are_mentioned_wherever_they_stand() {
        let id = Ident::new("id", Span::call_site());
        for expr in [
            "id",
            "&id",
            "(1, (id.clone(), 2))",
            "id.0",
            "0..id",
            "f(&[id])",
            "format!(\"{}\", id)",
            "format!(\"{id}\")",
            "format!(\"order-{id:?}\")",
            "concat(format!(\"{}\", format!(\"{id}\")))",
        ] {
            assert!(words(expr).mention(&id), "{expr}");
        }
        for expr in
            ["1", "x.id", "x.id()", "ids", "\"id\"", "\"order-{id}\"", "format!(\"{ids}\")", "format!(\"id\")", "N"]
        {
            assert!(!words(expr).mention(&id), "{expr}");
        }
    }

    #[test]
    fn raw_names_are_mentioned_in_texts_without_their_prefix() {
        let ident = Ident::new_raw("type", Span::call_site());
        assert!(words("r#type").mention(&ident));
        assert!(words("format!(\"{type}\")").mention(&ident));
    }

    #[test]
    fn volatile_values_are_found_and_variables_left_alone() {
        for (expr, expected) in [
            ("Uuid::new_v4()", "new_v4"),
            ("(id, Utc::now(), Uuid::now_v7())", "now"),
            ("format!(\"{id}-{}\", Uuid::new_v4())", "new_v4"),
            ("id.unwrap_or_else(Uuid::new_v4)", "new_v4"),
            ("id.unwrap_or_else(rand::random)", "random"),
            ("rand::rng().random::<u64>()", "rng"),
            ("rand::random::<u64>()", "random"),
            ("start.elapsed()", "elapsed"),
            ("nanoid!()", "nanoid"),
        ] {
            assert_eq!(words(expr).volatile().map(ToString::to_string).as_deref(), Some(expected), "{expr}");
        }
        for expr in ["now", "(now, rng.id)", "order.now", "Slot { now: id }", "known()", "renew_v4()"] {
            assert!(words(expr).volatile().is_none(), "{expr}");
        }
    }
}
