//! What the compiler says of mistakes, and shapes that must compile and run.
//!
//! - `ui/shape` (cases O-39, O-40): one shape of function a file, executed once and replayed once (`ls tests/ui/shape | wc -l`
//!   counts them);
//! - `ui/pass`: what else must hold of functions that compile: drop order, hostile names, lints, derived keys;
//! - `ui/fail`: one mistake a file, and what is said of it.
//!
//! `TRYBUILD=overwrite cargo test --test ui` writes the `.stderr` files anew; read each before committing it: one error, at
//! the user's own tokens, that says what is wrong and what to write.
#![cfg(feature = "macros")]

#[test]
fn each_shape_is_executed_once_and_replayed() {
    trybuild::TestCases::new().pass("tests/ui/shape/*.rs");
}

#[test]
fn what_compiles_does_what_is_promised_of_it() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}

#[test]
fn mistakes_are_told_once_and_where_they_are() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}
