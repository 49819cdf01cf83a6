//! Dates and instants of other crates as keys.
//!
//! The text is made here and not by those crates: it then stays the same across their versions, and one instant has one
//! text, whichever of them it comes from. Years beyond four digits have a sign and six, as in ISO 8601.

use std::fmt;

use crate::key::{IdempotencyKey, KeyWriter};

/// `2026-01-31`.
#[derive(Clone, Copy)]
struct CalendarDate {
    year: i64,
    month: u8,
    day: u8,
}

/// `23:59:59`, with as much of a fraction as there is.
#[derive(Clone, Copy)]
struct Time {
    hour: u8,
    minute: u8,
    second: u8,
    nanos: u32,
}

/// A date and a time of no zone.
struct Local(CalendarDate, Time);

/// A point in time, in UTC.
struct Instant {
    seconds: i64,
    /// From 0; a second and more of them are a leap second, which follows the second that they are counted from.
    nanos: u32,
}

impl fmt::Display for CalendarDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.year {
            0..=9999 => write!(f, "{:04}", self.year)?,
            _ => write!(f, "{:+07}", self.year)?,
        }
        write!(f, "-{:02}-{:02}", self.month, self.day)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leap = self.nanos / 1_000_000_000;
        write!(f, "{:02}:{:02}:{:02}", self.hour, self.minute, u32::from(self.second) + leap)?;
        match self.nanos % 1_000_000_000 {
            0 => Ok(()),
            nanos => write!(f, ".{}", format!("{nanos:09}").trim_end_matches('0')),
        }
    }
}

impl fmt::Display for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}T{}", self.0, self.1)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_day = self.seconds.rem_euclid(86_400);
        let [hour, minute, second] = [of_day / 3600, of_day / 60 % 60, of_day % 60].map(small);
        let time = Time { hour, minute, second, nanos: self.nanos };
        write!(f, "{}Z", Local(CalendarDate::since_epoch(self.seconds.div_euclid(86_400)), time))
    }
}

impl CalendarDate {
    /// The date so many days after 1970-01-01, in the Gregorian calendar.
    fn since_epoch(days: i64) -> Self {
        // Counted from a 1st of March, so that a leap day is the last of its year, and in eras of 400 years, which are all
        // alike.
        let days = days + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Self { year: era * 400 + year_of_era + i64::from(month <= 2), month: small(month), day: small(day) }
    }
}

fn small(number: impl TryInto<u8>) -> u8 {
    number.try_into().unwrap_or(u8::MAX)
}

#[cfg(feature = "chrono")]
mod of_chrono {
    use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, TimeZone, Timelike};

    use super::{CalendarDate, IdempotencyKey, Instant, KeyWriter, Local, Time, small};

    fn date(date: NaiveDate) -> CalendarDate {
        CalendarDate { year: date.year().into(), month: small(date.month()), day: small(date.day()) }
    }

    impl IdempotencyKey for NaiveDate {
        fn write_key(&self, key: &mut KeyWriter) {
            key.part(date(*self));
        }
    }

    impl IdempotencyKey for NaiveDateTime {
        fn write_key(&self, key: &mut KeyWriter) {
            let [hour, minute, second] = [self.hour(), self.minute(), self.second()].map(small);
            key.part(Local(date(self.date()), Time { hour, minute, second, nanos: self.nanosecond() }));
        }
    }

    impl<Z: TimeZone> IdempotencyKey for DateTime<Z> {
        fn write_key(&self, key: &mut KeyWriter) {
            key.part(Instant { seconds: self.timestamp(), nanos: self.timestamp_subsec_nanos() });
        }
    }
}

#[cfg(feature = "time")]
mod of_time {
    use time::{Date, OffsetDateTime, PrimitiveDateTime, UtcDateTime};

    use super::{CalendarDate, IdempotencyKey, Instant, KeyWriter, Local, Time};

    fn date(date: Date) -> CalendarDate {
        CalendarDate { year: date.year().into(), month: date.month().into(), day: date.day() }
    }

    impl IdempotencyKey for Date {
        fn write_key(&self, key: &mut KeyWriter) {
            key.part(date(*self));
        }
    }

    impl IdempotencyKey for PrimitiveDateTime {
        fn write_key(&self, key: &mut KeyWriter) {
            let (hour, minute, second, nanos) = self.as_hms_nano();
            key.part(Local(date(self.date()), Time { hour, minute, second, nanos }));
        }
    }

    impl IdempotencyKey for OffsetDateTime {
        fn write_key(&self, key: &mut KeyWriter) {
            key.part(Instant { seconds: self.unix_timestamp(), nanos: self.nanosecond() });
        }
    }

    impl IdempotencyKey for UtcDateTime {
        fn write_key(&self, key: &mut KeyWriter) {
            key.part(Instant { seconds: self.unix_timestamp(), nanos: self.nanosecond() });
        }
    }
}

#[cfg(feature = "jiff")]
mod of_jiff {
    use jiff::{Timestamp, ZonedDateTime, civil};

    use super::{CalendarDate, IdempotencyKey, Instant, KeyWriter, Local, Time, small};

    fn date(date: civil::Date) -> CalendarDate {
        CalendarDate { year: date.year().into(), month: small(date.month()), day: small(date.day()) }
    }

    impl IdempotencyKey for civil::Date {
        fn write_key(&self, key: &mut KeyWriter) {
            key.part(date(*self));
        }
    }

    impl IdempotencyKey for civil::DateTime {
        fn write_key(&self, key: &mut KeyWriter) {
            let [hour, minute, second] = [self.hour(), self.minute(), self.second()].map(small);
            let nanos = self.subsec_nanosecond().unsigned_abs();
            key.part(Local(date(self.date()), Time { hour, minute, second, nanos }));
        }
    }

    impl IdempotencyKey for Timestamp {
        fn write_key(&self, key: &mut KeyWriter) {
            // Before 1970 both of its parts are negative.
            let (seconds, nanos) = (self.as_second(), self.subsec_nanosecond());
            let (seconds, nanos) = if nanos < 0 { (seconds - 1, nanos + 1_000_000_000) } else { (seconds, nanos) };
            key.part(Instant { seconds, nanos: nanos.unsigned_abs() });
        }
    }

    impl IdempotencyKey for ZonedDateTime {
        fn write_key(&self, key: &mut KeyWriter) {
            self.timestamp().write_key(key);
        }
    }
}

#[cfg(test)]
mod tests;
