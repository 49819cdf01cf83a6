async fn charge(
    gateway: &Gateway,
    order_id: &str,
    amount_cents: u64,
) -> Result<Receipt, ChargeError> {
    let call = {
        enum Here {}
        static SITE: ::idem::__private::Site = ::idem::__private::Site::of_function(
            ::core::concat!(::core::module_path!(), "::charge"),
            ::core::any::type_name::<Here>,
        );
        SITE.call()
    }
        .key(&order_id)
        .arg(&amount_cents);
    let returns = ::idem::__private::returns::<Result<Receipt, ChargeError>>();
    let typed = returns.typed();
    let body = ::core::pin::pin!(async move {
        if let ::core::option::Option::Some(ret) = typed.never() {
            return ret;
        }
        #[allow(clippy::shadow_same)]
        let gateway = gateway;
        #[allow(unused_variables, clippy::shadow_same)]
        let order_id = order_id;
        #[allow(unused_variables, clippy::shadow_same)]
        let amount_cents = amount_cents;
        '_body: { gateway.charge(amount_cents).await }
    });
    call.run_pinned(&returns, body).await
}
