//! The keeper: one background task per engine and runtime that renews every held claim, and sends the releases of calls
//! that ended before their body began.
//!
//! It is a task of its own, so that a body which blocks its thread is still renewed on a multi-thread runtime. Holding a
//! claim costs a place in a slab, not a task and not a timer: the keeper looks the slab through when something is due.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use slab::Slab;
use tokio::sync::Notify;

use crate::claim::Claimed;
use crate::clock::Instant;
use crate::engine::{Engine, WeakEngine};
use crate::lease::Lease;
use crate::metrics::Counters;
use crate::store::{Release, RenewReply};

/// The handle to one keeper. A cheap clone.
#[derive(Clone, Default)]
pub(crate) struct Keeper(Arc<Board>);

/// What a keeper has to do.
#[derive(Default)]
struct Board {
    duties: Mutex<Duties>,
    bell: Notify,
}

#[derive(Default)]
struct Duties {
    held: Slab<Duty>,
    releases: Vec<PendingRelease>,
    /// When the claims are to be looked through next; `None` while there is nothing to look for.
    looks_at: Option<Instant>,
}

/// One held claim.
struct Duty {
    claim: Arc<Claimed>,
    renew_at: Option<Instant>,
    stop_at: Option<Instant>,
}

struct PendingRelease {
    release: Release,
    counters: Counters,
    until: Instant,
}

/// A claim's place with its keeper. Dropped, the claim is renewed no more.
pub(crate) struct Place {
    board: Arc<Board>,
    at: usize,
}

impl Keeper {
    /// Starts the task on this runtime. It ends with the engine or with the runtime, and then calls `on_end`.
    pub(crate) fn start(&self, engine: WeakEngine, on_end: impl FnOnce() + Send + 'static) {
        tokio::spawn(keep(Arc::clone(&self.0), engine, OnDrop(Some(on_end))));
    }

    /// Wakes the task, so that it sees that its engine is gone.
    pub(crate) fn ring(&self) {
        self.0.bell.notify_one();
    }

    /// Renews `claim` until the place is dropped, but not for longer than `max_run`.
    pub(crate) fn hold(&self, claim: Arc<Claimed>, max_run: Option<Duration>) -> Place {
        // Claims made together are renewed apart.
        let spread = rand::random_range(0.5..1.0);
        let renew_at = claim.lease().began() + period(claim.lease()).mul_f64(spread);
        let stop_at = max_run.map(|max_run| claim.lease().began() + max_run);
        let mut duties = self.0.duties();
        let at = duties.held.insert(Duty { claim, renew_at: Some(renew_at), stop_at });
        let sooner = duties.look_by(renew_at);
        drop(duties);
        if sooner {
            self.ring();
        }
        Place { board: Arc::clone(&self.0), at }
    }

    /// Sends `release`, again and again until `until` if there is no clear answer. Needs no runtime to be called.
    pub(crate) fn release(&self, release: Release, counters: Counters, until: Instant) {
        self.0.duties().releases.push(PendingRelease { release, counters, until });
        self.ring();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.board.duties().held.remove(self.at);
    }
}

impl Board {
    fn duties(&self) -> MutexGuard<'_, Duties> {
        // Nothing under this lock leaves it half changed.
        self.duties.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn keep(board: Arc<Board>, engine: WeakEngine, _on_end: OnDrop<impl FnOnce()>) {
    let mut work: FuturesUnordered<Work> = FuturesUnordered::new();
    loop {
        let looks_at = {
            // Strong only while there is something to do: an engine that is gone rings the bell.
            let Some(engine) = engine.upgrade() else { return };
            let mut duties = board.duties();
            work.extend(duties.due(Instant::now()).into_iter().map(|(at, claim)| renew(&engine, &board, at, claim)));
            work.extend(std::mem::take(&mut duties.releases).into_iter().map(|pending| release(&engine, pending)));
            duties.looks_at
        };
        let look = async {
            match looks_at {
                Some(looks_at) => tokio::time::sleep_until(looks_at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = board.bell.notified() => {}
            () = look => {}
            Some(()) = work.next() => {}
        }
    }
}

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Duties {
    /// Sees to it that the claims are looked through at `moment` at the latest. Whether that is sooner than planned.
    fn look_by(&mut self, moment: Instant) -> bool {
        let sooner = self.looks_at.is_none_or(|looks_at| moment < looks_at);
        if sooner {
            self.looks_at = Some(moment);
        }
        sooner
    }

    /// The claims to be renewed now.
    fn due(&mut self, now: Instant) -> Vec<(usize, Arc<Claimed>)> {
        let mut due = Vec::new();
        if self.looks_at.is_none_or(|looks_at| looks_at > now) {
            return due;
        }
        let mut next: Option<Instant> = None;
        let mut shortest = Duration::MAX;
        for (at, duty) in &mut self.held {
            let lease = duty.claim.lease();
            shortest = shortest.min(lease.length());
            duty.claim.doubt(now);
            if duty.stop_at.is_some_and(|stop_at| stop_at <= now) {
                duty.renew_at = None;
            }
            if duty.renew_at.is_some_and(|renew_at| renew_at <= now) {
                duty.renew_at = None;
                due.push((at, Arc::clone(&duty.claim)));
            }
            let doubtful_at = lease.loss().is_none().then(|| lease.sure_until());
            next = next.into_iter().chain(duty.renew_at).chain(doubtful_at).min();
        }
        // Many claims, spread, are due at many moments: what is due within a small part of a lease is done together.
        self.looks_at = next.map(|next| next.max(now + shortest / 64));
        due
    }
}

/// Renews one claim once, and says when it is due again.
fn renew(engine: &Engine, board: &Arc<Board>, at: usize, claim: Arc<Claimed>) -> Work {
    let (engine, board) = (engine.clone(), Arc::clone(board));
    Box::pin(async move {
        let sent = Instant::now();
        let period = period(claim.lease());
        let again = match claim.renew(&engine, period).await {
            Some(RenewReply::Renewed | RenewReply::Reasserted) => sent + period,
            Some(RenewReply::Lost) => return,
            // No clear answer, or a record that cannot be read: tried again, several times within what is left.
            Some(RenewReply::Corrupt(_)) | None => Instant::now() + period / 8,
        };
        let mut duties = board.duties();
        // The place may be empty by now, or another claim's.
        if let Some(duty) = duties.held.get_mut(at).filter(|duty| Arc::ptr_eq(&duty.claim, &claim)) {
            duty.renew_at = Some(again);
            duties.look_by(again);
        }
    })
}

fn release(engine: &Engine, pending: PendingRelease) -> Work {
    let engine = engine.clone();
    Box::pin(async move {
        let PendingRelease { release, counters, until } = pending;
        engine.release(&release, &counters, until).await;
    })
}

/// Three chances to renew within a lease.
fn period(lease: &Lease) -> Duration {
    lease.length() / 3
}

struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        if let Some(f) = self.0.take() {
            f();
        }
    }
}
