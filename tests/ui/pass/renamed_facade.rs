mod vendor {
    pub extern crate idem as once;
}

use vendor::once;

// Whoever says `idem` here means something else.
mod idem {}

#[once::idempotent(key = id, crate = crate::vendor::once)]
async fn ship(id: u8) -> Result<u8, once::Error> {
    Ok(id)
}

macro_rules! from_a_macro {
    ($name:ident) => {
        #[once::idempotent(key = id, crate = $crate::vendor::once)]
        async fn $name(id: u8) -> Result<u8, once::Error> {
            Ok(id)
        }
    };
}

from_a_macro!(also);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    #[allow(unused_imports)]
    use idem as _;
    once::with_engine(once::Engine::in_memory(), async {
        for _ in 0..2 {
            assert_eq!(ship(1).await.unwrap(), 1);
            assert_eq!(also(1).await.unwrap(), 1);
        }
    })
    .await;
}
