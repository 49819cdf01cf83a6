//! What idem promises on a real Redis. Each test has a server of its own.

mod arguments;
mod commands;
mod crashes;
mod durations;
mod keys;
mod races;
mod results;
mod scripts;
mod support;
