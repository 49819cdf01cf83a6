//! What the compiler says of mistakes, and shapes that must compile and run.
//!
//! `TRYBUILD=overwrite cargo test --test ui` writes the `.stderr` files anew; read each before committing it: one error, at
//! the user's own tokens, that says what is wrong and what to write.
#![cfg(feature = "macros")]

#[test]
fn mistakes_are_told_once_and_shapes_run() {
    let tests = trybuild::TestCases::new();
    tests.pass("tests/ui/pass/*.rs");
    tests.compile_fail("tests/ui/fail/*.rs");
}
