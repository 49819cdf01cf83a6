//! The verbs of people and jobs, for a store of a test that troubles the others only.

/// Within `impl Store`: settle, forget, inspect and survey as the store at `self.0.<field>` does them.
macro_rules! rest_as {
    ($field:ident) => {
        async fn settle(
            &self,
            request: &idem_core::store::Settle,
        ) -> Result<idem_core::store::SettleReply, StoreError> {
            self.0.$field.settle(request).await
        }

        async fn forget(
            &self,
            request: &idem_core::store::Forget,
        ) -> Result<idem_core::store::ForgetReply, StoreError> {
            self.0.$field.forget(request).await
        }

        async fn inspect(
            &self,
            operation: &idem_core::Operation,
        ) -> Result<idem_core::store::InspectReply, StoreError> {
            self.0.$field.inspect(operation).await
        }

        async fn survey(&self, request: &idem_core::store::Survey) -> Result<idem_core::store::Page, StoreError> {
            self.0.$field.survey(request).await
        }
    };
}
