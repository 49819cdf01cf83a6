use std::cell::RefCell;
use std::rc::Rc;

use idem::{Engine, Error, idempotent};

type Log = Rc<RefCell<Vec<&'static str>>>;

struct Noisy(&'static str, Log);

impl Drop for Noisy {
    fn drop(&mut self) {
        self.1.borrow_mut().push(self.0);
    }
}

macro_rules! twice {
    (#[$attribute:meta] $($item:tt)*) => {
        mod annotated {
            use super::{Error, Noisy, Rc, idempotent};
            #[$attribute]
            $($item)*
        }
        mod plain {
            use super::{Error, Noisy, Rc};
            $($item)*
        }
    };
}

twice! {
    #[idempotent(key = id, skip_all)]
    pub async fn run(id: u8, a: Noisy, _b: Noisy, (c, d): (Noisy, Noisy), mut e: Noisy) -> Result<u8, Error> {
        let _local = Noisy("local", Rc::clone(&a.1));
        tokio::task::yield_now().await;
        e.0 = "e";
        drop(d);
        let _ = &c;
        Ok(id)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let log = Log::default();
    let noisy = |name| Noisy(name, Rc::clone(&log));
    let pair = || (noisy("c"), noisy("d"));
    idem::with_engine(Engine::in_memory(), async {
        plain::run(1, noisy("a"), noisy("b"), pair(), noisy("")).await.unwrap();
        let expected = log.take();
        annotated::run(1, noisy("a"), noisy("b"), pair(), noisy("")).await.unwrap();
        assert_eq!(log.take(), expected);
        annotated::run(1, noisy("a"), noisy("b"), pair(), noisy("")).await.unwrap();
        assert_eq!(log.take().len(), 5, "a replay drops them too, and makes no local");
    })
    .await;
}
