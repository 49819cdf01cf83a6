#[automatically_derived]
#[allow(deprecated)]
impl<'a, T, U> ::idem::IdempotencyKey for Message<'a, T, U>
where
    T: ::idem::IdempotencyKey,
    Vec<U>: ::idem::Argument,
{
    fn write_key(&self, key: &mut ::idem::KeyWriter) {
        match self {
            Self { tenant: field_0, r#type: field_3, .. } => {
                ::idem::IdempotencyKey::write_key(field_0, key);
                ::idem::IdempotencyKey::write_key(field_3, key);
            }
        }
    }
    fn fingerprint(
        &self,
        rest: ::idem::FingerprintBuilder,
    ) -> ::idem::FingerprintBuilder {
        match self {
            Self {
                tenant: field_0,
                r#type: field_3,
                text: field_1,
                sent: field_4,
                ..
            } => {
                let rest = ::idem::IdempotencyKey::fingerprint(field_0, rest);
                let rest = ::idem::IdempotencyKey::fingerprint(field_3, rest);
                rest.fields(|rest| rest.field("text", field_1).field("sent", field_4))
            }
        }
    }
}

#[automatically_derived]
#[allow(deprecated)]
impl crate::vendor::idem::IdempotencyKey for Event {
    fn write_key(&self, key: &mut crate::vendor::idem::KeyWriter) {
        match self {
            Self::Paid { order: field_0, .. } => {
                key.part("Paid");
                crate::vendor::idem::IdempotencyKey::write_key(field_0, key);
            }
            Self::Refunded { 0: field_0, .. } => {
                key.part("refunded");
                crate::vendor::idem::IdempotencyKey::write_key(field_0, key);
            }
            Self::Pinged { .. } => {
                key.part("Pinged");
            }
            Self::Closed { .. } => {
                key.part("Closed");
            }
        }
    }
    fn fingerprint(
        &self,
        rest: crate::vendor::idem::FingerprintBuilder,
    ) -> crate::vendor::idem::FingerprintBuilder {
        match self {
            Self::Paid { order: field_0, cents: field_1, .. } => {
                let rest = crate::vendor::idem::IdempotencyKey::fingerprint(
                    field_0,
                    rest,
                );
                rest.fields(|rest| rest.field("cents", field_1))
            }
            Self::Refunded { 0: field_0, .. } => {
                let rest = crate::vendor::idem::IdempotencyKey::fingerprint(
                    field_0,
                    rest,
                );
                rest
            }
            Self::Pinged { .. } => rest.fields(|rest| rest),
            Self::Closed { .. } => rest.fields(|rest| rest),
        }
    }
}

#[automatically_derived]
#[allow(deprecated)]
impl ::idem::IdempotencyKey for OrderId {
    fn write_key(&self, key: &mut ::idem::KeyWriter) {
        match self {
            Self { 0: field_0, .. } => {
                ::idem::IdempotencyKey::write_key(field_0, key);
            }
        }
    }
    fn fingerprint(
        &self,
        rest: ::idem::FingerprintBuilder,
    ) -> ::idem::FingerprintBuilder {
        match self {
            Self { 0: field_0, .. } => {
                let rest = ::idem::IdempotencyKey::fingerprint(field_0, rest);
                rest
            }
        }
    }
}

#[automatically_derived]
#[allow(deprecated)]
impl ::idem::IdempotencyKey for Target {
    fn write_key(&self, key: &mut ::idem::KeyWriter) {
        match self {
            Self::User { 0: field_0, .. } => {
                key.part("User");
                ::idem::IdempotencyKey::write_key(field_0, key);
            }
            Self::Group { org: field_0, id: field_1, .. } => {
                key.part("Group");
                ::idem::IdempotencyKey::write_key(field_0, key);
                ::idem::IdempotencyKey::write_key(field_1, key);
            }
            Self::All { .. } => {
                key.part("All");
            }
        }
    }
    fn fingerprint(
        &self,
        rest: ::idem::FingerprintBuilder,
    ) -> ::idem::FingerprintBuilder {
        match self {
            Self::User { 0: field_0, .. } => {
                let rest = ::idem::IdempotencyKey::fingerprint(field_0, rest);
                rest
            }
            Self::Group { org: field_0, id: field_1, .. } => {
                let rest = ::idem::IdempotencyKey::fingerprint(field_0, rest);
                let rest = ::idem::IdempotencyKey::fingerprint(field_1, rest);
                rest
            }
            Self::All { .. } => rest,
        }
    }
}
