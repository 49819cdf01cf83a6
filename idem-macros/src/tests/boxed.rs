//! What `#[async_trait]` hands on.

use quote::quote;

use super::{assert_in, frame};

#[test]
fn all_of_the_operation_is_inside_of_the_future() {
    let expansion = frame(
        quote!(name = "orders.ship", key = (self.shop, id, a)),
        quote! {
            fn ship<'life0, 'life1, 'async_trait>(&'life0 self, mut __arg1: (u8, u8), id: u64, name: &'life1 str, __arg4: u8)
                -> ::core::pin::Pin<Box<dyn ::core::future::Future<Output = Result<u64, E>> + ::core::marker::Send + 'async_trait>>
            where
                'life0: 'async_trait,
            {
                Box::pin(async move {
                    if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<Result<u64, E>> {
                        #[allow(unreachable_code)]
                        return __ret;
                    }
                    let __self = self;
                    let (a, mut b) = { let __arg1 = __arg1; __arg1 };
                    let mut id = id;
                    let __arg4 = __arg4;
                    let __ret: Result<u64, E> = { let kept = id; Ok(kept) };
                    #[allow(unreachable_code)]
                    __ret
                })
            }
        },
    );
    assert_in(
        &expansion,
        "{ Box::pin(async move { let (a, b) = { let __arg1 = __arg1; __arg1 }; let call = { static SITE",
    );
    assert_in(
        &expansion,
        ".key(&(&::idem::__private::KeyOnly(&self.shop), &id, &a)) .arg(&b) .arg(&name); let returns = \
         ::idem::__private::returns::<Result<u64, E>>();",
    );
    assert_in(&expansion, "return ret; } let __self = self; let __arg4 = __arg4; #[allow(");
    assert_in(&expansion, "let mut b = b;");
    assert_in(&expansion, "let mut id = id;");
    assert_in(&expansion, "'_body: { let __ret: Result<u64, E> = { let kept = id; Ok(kept) };");
    assert_in(&expansion, "call.run_pinned(&returns, body).await }) }");
    assert!(!expansion.contains("::Some(__ret)"), "{expansion}");
}

#[test]
fn what_no_known_release_hands_on_is_told() {
    let item = quote! {
        fn f<'async_trait>(id: u8) -> Pin<Box<dyn Future<Output = R> + Send + 'async_trait>> { made_otherwise(id) }
    };
    let error = crate::expand_idempotent(quote!(name = "n", key = id), item).expect_err("an error");
    assert_eq!(
        error.to_string(),
        "this release of `#[async_trait]` is unknown to `#[idempotent]`: write the trait with a native `async fn`"
    );
}
