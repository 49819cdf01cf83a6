//! What all threads of a proxy share: the faults that are on, and the bytes on their way.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::link::Sockets;
use super::{Connections, Direction};

/// One lock for everything: tests carry a handful of connections, and a change must be seen by all of them at once.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) target: u16,
    pub(super) refuse: bool,
    pub(super) refused: u64,
    accepted: u64,
    stopping: bool,
    ways: [Way; 2],
    /// Numbered in the order of their arrival.
    open: BTreeMap<u64, OpenLink>,
}

/// The faults of one direction.
#[derive(Debug, Default)]
pub(super) struct Way {
    pub(super) delay: Duration,
    pub(super) hold: bool,
    pub(super) black_hole: bool,
    swallowed: u64,
}

#[derive(Debug)]
struct OpenLink {
    /// Weak, since the sockets close with their last owner.
    sockets: Weak<Sockets>,
    cut: bool,
    queues: [VecDeque<Arrival>; 2],
}

#[derive(Debug)]
struct Arrival {
    at: Instant,
    piece: Piece,
}

/// What is read from one end and written to the other.
#[derive(Debug)]
pub(super) enum Piece {
    Bytes(Vec<u8>),
    End,
}

/// What a gate lets happen to the first in a queue.
enum Passage {
    Pass(Piece),
    Swallowed,
    /// Until something changes, or until then.
    Wait(Option<Duration>),
}

impl Shared {
    pub(super) fn new(target: u16) -> Self {
        let state = State {
            target,
            refuse: false,
            refused: 0,
            accepted: 0,
            stopping: false,
            ways: Default::default(),
            open: BTreeMap::new(),
        };
        Self { state: Mutex::new(state), news: Condvar::new() }
    }

    /// Changes something that others may wait for.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let result = change(&mut self.lock());
        self.news.notify_all();
        result
    }

    /// Where a new connection goes; `None` if it is to be refused.
    pub(super) fn target(&self) -> Option<u16> {
        let state = self.lock();
        (!state.refuse && !state.stopping).then_some(state.target)
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    pub(super) fn is_cut(&self, id: u64) -> bool {
        self.lock().open.get(&id).is_none_or(|link| link.cut)
    }

    pub(super) fn connections(&self) -> Connections {
        let state = self.lock();
        Connections { open: state.open.len(), accepted: state.accepted, refused: state.refused }
    }

    pub(super) fn held(&self, direction: Direction) -> u64 {
        let state = self.lock();
        let queues = state.open.values().map(|link| &link.queues[direction as usize]);
        queues.flatten().map(|arrival| arrival.piece.size()).sum()
    }

    pub(super) fn swallowed(&self, direction: Direction) -> u64 {
        self.lock().way(direction).swallowed
    }

    /// The number of a new connection; `None` where it is too late for one.
    pub(super) fn open(&self, sockets: &Arc<Sockets>) -> Option<u64> {
        self.change(|state| {
            if state.stopping {
                return None;
            }
            let id = state.accepted;
            state.accepted += 1;
            let link = OpenLink { sockets: Arc::downgrade(sockets), cut: false, queues: Default::default() };
            state.open.insert(id, link);
            Some(id)
        })
    }

    pub(super) fn close(&self, id: u64) {
        self.change(|state| state.open.remove(&id));
    }

    /// Puts what was read behind what was read before.
    pub(super) fn arrive(&self, id: u64, direction: Direction, piece: Piece) {
        self.change(|state| {
            if let Some(link) = state.open.get_mut(&id) {
                link.queues[direction as usize].push_back(Arrival { at: Instant::now(), piece });
            }
        });
    }

    /// Waits for what is to be written next; `None` once the connection is cut.
    pub(super) fn next(&self, id: u64, direction: Direction) -> Option<Piece> {
        let mut state = self.lock();
        loop {
            match state.passage(id, direction)? {
                Passage::Pass(piece) => return Some(piece),
                Passage::Swallowed => {}
                Passage::Wait(limit) => state = self.wait(state, limit),
            }
        }
    }

    /// Breaks what is open now, and waits until it is closed.
    pub(super) fn cut(&self) {
        let first_new = self.change(|state| {
            state.cut();
            state.accepted
        });
        let mut state = self.lock();
        while state.open.keys().any(|id| *id < first_new) {
            state = self.wait(state, None);
        }
    }

    /// Breaks what is open, and lets nothing in any more.
    pub(super) fn stop(&self) {
        self.change(|state| {
            state.stopping = true;
            state.cut();
        });
    }

    /// A test that panicked must not keep `Drop` from its work.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, limit: Option<Duration>) -> MutexGuard<'a, State> {
        match limit {
            None => self.news.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => self.news.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner).0,
        }
    }
}

impl State {
    pub(super) fn way(&mut self, direction: Direction) -> &mut Way {
        &mut self.ways[direction as usize]
    }

    fn cut(&mut self) {
        for link in self.open.values_mut() {
            link.cut = true;
            if let Some(sockets) = link.sockets.upgrade() {
                sockets.stop_reading();
            }
        }
    }

    /// Takes the first of a queue through the gates. `None` if its connection is cut.
    fn passage(&mut self, id: u64, direction: Direction) -> Option<Passage> {
        let link = self.open.get_mut(&id).filter(|link| !link.cut)?;
        let queue = &mut link.queues[direction as usize];
        let way = &mut self.ways[direction as usize];
        let Some(first) = queue.front() else {
            return Some(Passage::Wait(None));
        };
        let delay = way.delay.saturating_sub(first.at.elapsed());
        if !delay.is_zero() {
            return Some(Passage::Wait(Some(delay)));
        }
        let is_end = matches!(first.piece, Piece::End);
        if way.hold || (way.black_hole && is_end) {
            return Some(Passage::Wait(None));
        }
        let first = queue.pop_front()?;
        if way.black_hole {
            way.swallowed += first.piece.size();
            return Some(Passage::Swallowed);
        }
        Some(Passage::Pass(first.piece))
    }
}

impl Piece {
    fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::End => 0,
        }
    }
}
