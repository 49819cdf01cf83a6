//! What is in `dashboards/`: held against the one list of metrics, and driven on a real Prometheus.
#![cfg(all(feature = "macros", feature = "redis"))]

mod drift;
mod expression;
mod files;
mod live;
mod tools;
