//! The keeper: one background task per engine that renews every held claim, and sends what calls leave behind that ended
//! before they were done: releases, and completions whose caller has gone.
//!
//! The calls of all multi-thread runtimes have theirs on a thread of its own, so that a body which blocks its thread is
//! still renewed. Holding a claim costs a place in a slab, not a task and not a timer: the keeper looks the slab through
//! when something is due.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use metrics::gauge;
use slab::Slab;
use tokio::runtime::{self, Handle, RuntimeFlavor};
use tokio::sync::Notify;

use crate::claim::Claimed;
use crate::clock::Instant;
use crate::engine::{Engine, WeakEngine};
use crate::instruments::Instruments;
use crate::lease::Lease;
use crate::metrics::{KEEPER_LAG_SECONDS, UNRECORDED};
use crate::store::{Complete, CompleteReply, Release, RenewReply};
use crate::visits::Visit;

/// The runtime that the keeper of this runtime's claims lives on.
///
/// A body that blocks a worker stops more than itself: what was last woken from that worker stays in its LIFO slot, where
/// nobody can steal it, and no other worker need take over the timers that it looked after. So the keeper of a
/// multi-thread runtime is on a thread of its own, one for the process. A current-thread runtime has its keeper itself: a
/// clock that is paused, or a recorder of metrics that is set for the thread, then count for both.
pub(crate) fn home() -> Handle {
    static THREAD: OnceLock<Option<Handle>> = OnceLock::new();
    let here = Handle::current();
    match here.runtime_flavor() {
        RuntimeFlavor::CurrentThread => here,
        // Without a thread to be had, renewing on this runtime is better than not at all.
        _ => THREAD.get_or_init(start_thread).clone().unwrap_or(here),
    }
}

fn start_thread() -> Option<Handle> {
    let (made, receive) = std::sync::mpsc::sync_channel(1);
    let thread = std::thread::Builder::new().name("idem-keeper".to_owned());
    let run = move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().ok()?;
        made.send(runtime.handle().clone()).ok()?;
        runtime.block_on(std::future::pending::<Option<()>>())
    };
    thread.spawn(run).ok()?;
    receive.recv().ok()
}

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
    errands: Vec<Pending>,
    /// When the claims are to be looked through next; `None` while there is nothing to look for.
    looks_at: Option<Instant>,
    /// When the store is to be asked for signs of lost records; `None` until the next claim is held.
    watches_at: Option<Instant>,
}

/// One held claim.
struct Duty {
    claim: Arc<Claimed>,
    renew_at: Option<Instant>,
    stop_at: Option<Instant>,
}

/// What an ended call has left to be sent.
pub(crate) enum Errand {
    /// Its body never began, or ended with an error.
    Release(Release),
    /// Its body came to a result, and then the caller went away, or got no answer in time.
    Complete(Complete),
}

struct Pending {
    errand: Errand,
    instruments: Arc<Instruments>,
    until: Instant,
    _visit: Visit,
}

/// More errands than this do not pile up while a store cannot be reached: the leases of the rest run out by themselves.
const MAX_ERRANDS: usize = 4096;

/// A claim's place with its keeper. Dropped, the claim is renewed no more.
pub(crate) struct Place {
    board: Arc<Board>,
    at: usize,
}

impl Keeper {
    /// Starts the task at its home. It ends with the engine or with that runtime, and then calls `on_end`.
    pub(crate) fn start(&self, home: &Handle, engine: WeakEngine, on_end: impl FnOnce() + Send + 'static) {
        home.spawn(keep(Arc::clone(&self.0), engine, OnDrop(Some(on_end))));
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
        let watches_at = *duties.watches_at.get_or_insert_with(|| Instant::now() + WATCH_PERIOD);
        let sooner = duties.look_by(renew_at.min(watches_at));
        drop(duties);
        if sooner {
            self.ring();
        }
        Place { board: Arc::clone(&self.0), at }
    }

    /// Sends `errand`, again and again until `until` if there is no clear answer. Needs no runtime to be called.
    pub(crate) fn send(&self, errand: Errand, instruments: Arc<Instruments>, until: Instant, visit: Visit) {
        let mut duties = self.0.duties();
        if duties.errands.len() < MAX_ERRANDS {
            duties.errands.push(Pending { errand, instruments, until, _visit: visit });
        }
        drop(duties);
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
            let Due { renewals, doubtful, watch, lag } = duties.due(Instant::now());
            let errands = match MAX_ERRANDS.saturating_sub(work.len()) {
                0 => Vec::new(),
                room => duties.take_errands(room),
            };
            let looks_at = duties.looks_at;
            drop(duties);
            work.extend(renewals.into_iter().map(|(at, claim)| Box::pin(renew(&engine, &board, at, claim)) as Work));
            work.extend(watch.then(|| guarded(watch_store(engine.clone()))));
            work.extend(errands.into_iter().map(|pending| guarded(run(engine.clone(), pending))));
            if let Some(lag) = lag {
                gauge!(KEEPER_LAG_SECONDS).set(lag);
            }
            for claim in doubtful {
                claim.warn_of_doubt();
            }
            looks_at
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

/// A store that panics must not end the renewals of every other claim.
fn guarded(work: impl Future<Output = ()> + Send + 'static) -> Work {
    Box::pin(AssertUnwindSafe(work).catch_unwind().map(|ended| {
        if ended.is_err() {
            tracing::error!("a store panicked on an errand of the keeper");
        }
    }))
}

#[derive(Default)]
struct Due {
    renewals: Vec<(usize, Arc<Claimed>)>,
    doubtful: Vec<Arc<Claimed>>,
    watch: bool,
    /// How much later than planned this look is.
    lag: Option<Duration>,
}

impl Duties {
    /// Sees to it that the claims are looked through at `moment` at the latest. Whether that is sooner than planned.
    fn look_by(&mut self, moment: Instant) -> bool {
        let sooner = self.looks_at.is_none_or(|looks_at| moment < looks_at);
        if sooner {
            self.looks_at = Some(moment);
        }
        sooner
    }

    /// What is to be done for `claim`, while the place at `at` is its own: it may be empty by now, or another claim's.
    fn of(&mut self, at: usize, claim: &Arc<Claimed>) -> Option<&mut Duty> {
        self.held.get_mut(at).filter(|duty| Arc::ptr_eq(&duty.claim, claim))
    }

    fn take_errands(&mut self, room: usize) -> Vec<Pending> {
        let room = room.min(self.errands.len());
        self.errands.drain(..room).collect()
    }

    /// The claims to be renewed now, and those whose holders have just been told to doubt.
    fn due(&mut self, now: Instant) -> Due {
        let mut due = Due::default();
        let Some(lag) = self.looks_at.and_then(|looks_at| now.checked_duration_since(looks_at)) else {
            return due;
        };
        due.lag = Some(lag);
        due.watch = self.watches_at.is_some_and(|watches_at| watches_at <= now);
        if due.watch {
            self.watches_at = None;
        }
        let mut next = self.watches_at;
        let mut shortest = Duration::MAX;
        for (at, duty) in &mut self.held {
            let lease = duty.claim.lease();
            shortest = shortest.min(lease.length());
            if lease.doubt(now) {
                due.doubtful.push(Arc::clone(&duty.claim));
            }
            if duty.stop_at.is_some_and(|stop_at| stop_at <= now) {
                duty.renew_at = None;
            }
            if duty.renew_at.is_some_and(|renew_at| renew_at <= now) {
                duty.renew_at = None;
                due.renewals.push((at, Arc::clone(&duty.claim)));
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
fn renew(engine: &Engine, board: &Arc<Board>, at: usize, claim: Arc<Claimed>) -> impl Future<Output = ()> + use<> {
    let (engine, board) = (engine.clone(), Arc::clone(board));
    async move {
        let sent = Instant::now();
        let period = period(claim.lease());
        // A store that panics has given no clear answer.
        let asked = AssertUnwindSafe(claim.renew(&engine, period)).catch_unwind().await;
        let reply = asked.unwrap_or_else(|_| {
            tracing::error!("a store panicked while it renewed a claim");
            None
        });
        // Nothing is told to a call that has ended: what its renewal met may be its own completion or release.
        if board.duties().of(at, &claim).is_none() {
            return;
        }
        let again = match reply {
            // Nothing is left to hold on to.
            Some(RenewReply::Lost | RenewReply::Uncertain) => None,
            Some(RenewReply::Renewed | RenewReply::Reasserted) => Some(sent + period),
            // No clear answer, or a record that cannot be read: tried again, several times within what is left.
            Some(RenewReply::Absent | RenewReply::Corrupt(_)) | None => Some(Instant::now() + period / 8),
        };
        if let Some(reply) = reply {
            claim.hear(reply, sent);
        }
        let mut duties = board.duties();
        if let (Some(again), Some(duty)) = (again, duties.of(at, &claim)) {
            duty.renew_at = Some(again);
            duties.look_by(again);
        }
    }
}

async fn run(engine: Engine, pending: Pending) {
    let Pending { errand, instruments, until, _visit } = pending;
    match errand {
        Errand::Release(release) => engine.release(&release, &instruments, until).await,
        Errand::Complete(mut complete) => {
            let reply = engine.complete(&mut complete, &instruments, until).await;
            if !matches!(reply, Ok(CompleteReply::Completed | CompleteReply::Already | CompleteReply::Restored)) {
                instruments.add_one(UNRECORDED);
                tracing::error!(
                    operation = complete.operation.name(),
                    fence = complete.owner.fence.get(),
                    "the operation ran, and its caller left; its result could not be recorded: a repeat may run it again"
                );
            }
        }
    }
}

/// How often a store is asked for signs of lost records, while claims are held.
const WATCH_PERIOD: Duration = Duration::from_secs(30);

async fn watch_store(engine: Engine) {
    // What cannot be asked now is asked the next time.
    let times = engine.store_times();
    let _ = engine.bounded(&times, "watch", engine.store_bound(), engine.store().watch()).await;
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
