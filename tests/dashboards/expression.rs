//! What an expression of Prometheus mentions. It is no parser of that language: it knows names, matchers, quoted texts
//! and `by (…) (…)`, which is all that these files use.

use std::collections::BTreeSet;

/// A series that an expression asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) name: String,
    /// The labels that it must have: those of its matchers, and those that it is grouped by.
    pub(crate) labels: BTreeSet<String>,
}

/// The series of idem, and of its recording rules, that `expr` mentions.
pub(crate) fn mentions(expr: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    collect(expr, &BTreeSet::new(), &mut found);
    found
}

fn collect(expr: &str, grouped: &BTreeSet<String>, found: &mut Vec<Mention>) {
    let mut rest = expr;
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            rest = &rest[quoted(rest)..];
        } else if is_name(first) && !first.is_ascii_digit() {
            let (name, behind) = rest.split_at(rest.find(|c| !is_name(c)).unwrap_or(rest.len()));
            let behind = behind.trim_start();
            rest = match name {
                "by" => {
                    let (labels, behind) = enclosed(behind, '(', ')');
                    let (inner, behind) = enclosed(behind.trim_start(), '(', ')');
                    let labels = labels.split(',').map(|label| label.trim().to_owned());
                    // Inside of another grouping the outer one sees only what the inner one leaves.
                    collect(inner, &labels.collect(), found);
                    behind
                }
                "without" | "on" | "ignoring" | "group_left" | "group_right" => {
                    panic!("`{name}` is not understood here")
                }
                _ if name.starts_with("idem") => {
                    let (matchers, behind) =
                        if behind.starts_with('{') { enclosed(behind, '{', '}') } else { ("", behind) };
                    let labels = matched(matchers).chain(grouped.iter().cloned()).collect();
                    found.push(Mention { name: name.to_owned(), labels });
                    behind
                }
                _ => behind,
            };
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
}

/// The labels that matchers name: each stands before `=` or `!`.
fn matched(matchers: &str) -> impl Iterator<Item = String> {
    let mut labels = Vec::new();
    let mut rest = matchers;
    while let Some(at) = rest.find(['=', '!']) {
        labels.push(rest[..at].trim_matches(|c: char| c == ',' || c.is_whitespace()).to_owned());
        rest = &rest[at..];
        rest = &rest[rest.find('"').expect("a matcher has a quoted text")..];
        rest = &rest[quoted(rest)..];
    }
    labels.into_iter()
}

/// What stands between `text`'s first character, which opens, and the one that closes it; and what comes behind.
fn enclosed(text: &str, open: char, close: char) -> (&str, &str) {
    assert!(text.starts_with(open), "{open} is missing before {text}");
    let mut depth = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c == '"' {
            at += quoted(&text[at..]);
            continue;
        }
        depth += i32::from(c == open) - i32::from(c == close);
        if depth == 0 {
            return (&text[1..at], &text[at + 1..]);
        }
        at += c.len_utf8();
    }
    panic!("{close} is missing in {text}");
}

/// How long the quoted text is that `text` begins with, quotes included.
fn quoted(text: &str) -> usize {
    2 + text[1..].find('"').expect("quotes are closed")
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == ':'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mention(name: &str, labels: &[&str]) -> Mention {
        Mention { name: name.into(), labels: labels.iter().map(|label| (*label).to_owned()).collect() }
    }

    #[test]
    fn matchers_and_groupings_are_labels_of_what_they_enclose() {
        let expr = r#"sum by (job, op) (rate(idem_a_total{kind!~"x|y}", job="z"}[5m])) / idem:b > 0.1"#;
        assert_eq!(mentions(expr), [mention("idem_a_total", &["job", "kind", "op"]), mention("idem:b", &[])]);
        let nested = "histogram_quantile(0.99, sum by (le) (rate(idem_c_bucket[1h])))";
        assert_eq!(mentions(nested), [mention("idem_c_bucket", &["le"])]);
        let inner = "max by (job) (sum by (job, op) (idem_d))";
        assert_eq!(mentions(inner), [mention("idem_d", &["job", "op"])]);
    }
}
