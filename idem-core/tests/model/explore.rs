//! Breadth first through every state of a world.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::hash::Fast;
use super::mutation::Mutation;
use super::state::State;
use super::steps::Model;
use super::world::World;

/// What exploring a world came to.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) states: usize,
    pub(crate) edges: usize,
    pub(crate) took: Duration,
}

/// A step that no world may show, with all that led there.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) what: &'static str,
    pub(crate) trace: String,
    pub(crate) states: usize,
}

struct Node {
    state: State,
    parent: u32,
    /// Which of its parent's steps leads here.
    step: u8,
}

/// Goes through all states of `world`. An invariant that fails ends it.
pub(crate) fn explore(world: World, mutation: Option<Mutation>) -> Result<Report, Violation> {
    let began = Instant::now();
    let mut model = Model::new(world, mutation);
    let start = State::start();
    let mut seen: HashSet<State, Fast> = HashSet::default();
    seen.insert(start);
    let mut nodes = vec![Node { state: start, parent: 0, step: 0 }];
    let (mut at, mut edges) = (0, 0);
    while at < nodes.len() {
        let state = nodes[at].state;
        for (step, next) in model.steps(&state).into_iter().enumerate() {
            edges += 1;
            let parent = u32::try_from(at).expect("fewer states");
            let step = u8::try_from(step).expect("fewer steps");
            if let Err(what) = next.verdict {
                nodes.push(Node { state: next.state, parent, step });
                return Err(Violation { what, trace: trace(&mut model, &nodes), states: nodes.len() });
            }
            if seen.insert(next.state) {
                nodes.push(Node { state: next.state, parent, step });
            }
        }
        at += 1;
    }
    Ok(Report { states: nodes.len(), edges, took: began.elapsed() })
}

/// The labels of the steps from the start to the last node.
fn trace(model: &mut Model, nodes: &[Node]) -> String {
    let mut path = Vec::new();
    let mut at = nodes.len() - 1;
    while at != 0 {
        let Node { parent, step, .. } = nodes[at];
        path.push((parent as usize, usize::from(step)));
        at = parent as usize;
    }
    let mut text = String::new();
    for (parent, step) in path.into_iter().rev() {
        let label = model.steps(&nodes[parent].state)[step].label;
        writeln!(text, "  {label}").expect("a string takes all");
    }
    text
}
