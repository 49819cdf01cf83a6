use proptest::prelude::*;

use super::Instant;
use crate::key::{IdempotencyKey, Key};

/// The key as a person reads it: colons stand for themselves.
fn text(value: impl IdempotencyKey) -> String {
    Key::of(&value).expect("a valid key").as_str().replace("%3A", ":")
}

/// Instants, and what they read as.
const INSTANTS: [(i64, u32, &str); 11] = [
    (0, 0, "1970-01-01T00:00:00Z"),
    (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
    (-1, 500_000_000, "1969-12-31T23:59:59.5Z"),
    (951_782_400, 1, "2000-02-29T00:00:00.000000001Z"),
    (951_868_799, 120_000_000, "2000-02-29T23:59:59.12Z"),
    (951_868_800, 0, "2000-03-01T00:00:00Z"),
    (1_772_323_199, 0, "2026-02-28T23:59:59Z"),
    (1_772_323_200, 0, "2026-03-01T00:00:00Z"),
    (-2_203_891_200, 0, "1900-03-01T00:00:00Z"),
    (-62_167_219_200, 0, "0000-01-01T00:00:00Z"),
    (-62_167_219_201, 0, "-000001-12-31T23:59:59Z"),
];

#[test]
fn instants_read_in_utc() {
    for (seconds, nanos, expected) in INSTANTS {
        assert_eq!(Instant { seconds, nanos }.to_string(), expected);
    }
    assert_eq!(Instant { seconds: 253_402_300_800, nanos: 0 }.to_string(), "+010000-01-01T00:00:00Z");
}

#[cfg(feature = "chrono")]
mod of_chrono {
    use super::*;
    use chrono::{DateTime, FixedOffset, NaiveDate, TimeZone, Utc};

    fn offset(seconds: i32) -> FixedOffset {
        FixedOffset::east_opt(seconds).unwrap()
    }

    #[test]
    fn one_instant_has_one_text_in_every_zone() {
        for (seconds, nanos, expected) in INSTANTS {
            let instant = Utc.timestamp_opt(seconds, nanos).unwrap();
            assert_eq!(text(instant), expected);
            assert_eq!(text(instant.with_timezone(&offset(5 * 3600 + 45 * 60))), expected);
            assert_eq!(text(instant.with_timezone(&offset(-12 * 3600))), expected);
        }
    }

    #[test]
    fn local_dates_and_times_have_no_zone() {
        let date = NaiveDate::from_ymd_opt(2026, 3, 1).unwrap();
        assert_eq!(text(date), "2026-03-01");
        assert_eq!(text(date.and_hms_milli_opt(4, 5, 6, 70).unwrap()), "2026-03-01T04:05:06.07");
        assert_eq!(text(NaiveDate::from_ymd_opt(12_026, 3, 1).unwrap()), "+012026-03-01");
    }

    #[test]
    fn a_leap_second_is_not_the_one_before_it() {
        let leap = NaiveDate::from_ymd_opt(2016, 12, 31).unwrap().and_hms_nano_opt(23, 59, 59, 1_500_000_000).unwrap();
        assert_eq!(text(leap), "2016-12-31T23:59:60.5");
        assert_eq!(text(leap.and_utc()), "2016-12-31T23:59:60.5Z");
    }

    proptest! {
        #[test]
        fn days_are_those_of_chrono(seconds in -8_000_000_000_000_i64..8_000_000_000_000) {
            let day = DateTime::from_timestamp(seconds, 0).unwrap().date_naive();
            let instant = Instant { seconds, nanos: 0 }.to_string();
            prop_assert_eq!(instant.rsplit_once('T').unwrap().0, text(day));
        }
    }
}

#[cfg(feature = "time")]
mod of_time {
    use super::*;
    use time::{Date, Month, OffsetDateTime, Time, UtcDateTime, UtcOffset};

    #[test]
    fn one_instant_has_one_text_in_every_zone() {
        for (seconds, nanos, expected) in INSTANTS {
            let instant = OffsetDateTime::from_unix_timestamp(seconds).unwrap().replace_nanosecond(nanos).unwrap();
            assert_eq!(text(instant), expected);
            assert_eq!(text(UtcDateTime::from(instant)), expected);
            for offset in [(5, 45, 0), (-12, 0, 0)] {
                let offset = UtcOffset::from_hms(offset.0, offset.1, offset.2).unwrap();
                assert_eq!(text(instant.to_offset(offset)), expected);
            }
        }
    }

    #[test]
    fn local_dates_and_times_have_no_zone() {
        let date = Date::from_calendar_date(2026, Month::March, 1).unwrap();
        assert_eq!(text(date), "2026-03-01");
        assert_eq!(text(date.with_time(Time::from_hms_milli(4, 5, 6, 70).unwrap())), "2026-03-01T04:05:06.07");
    }

    #[test]
    fn the_ends_of_the_calendar_have_texts_in_utc_too() {
        let behind = UtcOffset::from_hms(-1, 0, 0).unwrap();
        let last = Date::MAX.with_hms(23, 59, 59).unwrap().assume_offset(behind);
        assert_eq!(text(last), "+010000-01-01T00:59:59Z");
    }
}

#[cfg(feature = "jiff")]
mod of_jiff {
    use super::*;
    use jiff::civil::date;
    use jiff::tz::{Offset, TimeZone};
    use jiff::{SignedDuration, Timestamp};

    #[test]
    fn one_instant_has_one_text_in_every_zone() {
        for (seconds, nanos, expected) in INSTANTS {
            let since = SignedDuration::from_secs(seconds) + SignedDuration::from_nanos(nanos.into());
            let instant = Timestamp::from_duration(since).unwrap();
            assert_eq!(text(instant), expected);
            for hours in [5, -12] {
                let zone = TimeZone::fixed(Offset::from_hours(hours).unwrap());
                assert_eq!(text(instant.to_zoned_datetime(zone)), expected);
            }
        }
    }

    #[test]
    fn local_dates_and_times_have_no_zone() {
        assert_eq!(text(date(2026, 3, 1)), "2026-03-01");
        assert_eq!(text(date(2026, 3, 1).at(4, 5, 6, 70_000_000)), "2026-03-01T04:05:06.07");
        assert_eq!(text(date(-1, 3, 1)), "-000001-03-01");
    }
}
