//! What idem promises on a real Redis. Each test has a server of its own.

mod actors;
mod answers;
mod arguments;
mod cluster;
mod commands;
mod connections;
mod crashes;
mod damage;
mod decoding;
mod drops;
mod durations;
mod failover;
mod fences;
mod keys;
mod late;
mod leases;
mod lost_answers;
mod memory_full;
mod outages;
mod races;
mod results;
mod runtimes;
mod scripts;
mod storm;
mod support;
mod trouble;
