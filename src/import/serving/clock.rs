//! Time stamps of log lines, as seconds whose differences mean something.
//!
//! Read are `2025-06-07 21:25:14`, the same with `T`, fractions after a point or comma, and vLLM's `10-22 10:27:57`, which
//! names no year. The last one in a prefix counts: container runtimes put their own before the server's.

use crate::units::Seconds;

/// The last time stamp in `text`; none where there is none.
pub(super) fn clock(text: &str) -> Option<Seconds> {
    let bytes = text.as_bytes();
    let mut end = bytes.len();
    // `hh:mm:ss` takes eight bytes; colons are looked for from the right.
    while let Some(colon) = bytes[..end].iter().rposition(|b| *b == b':') {
        end = colon;
        if colon >= 5
            && let Some(seconds) = stamp(bytes, colon)
        {
            return Some(seconds);
        }
    }
    None
}

/// The stamp whose last colon stands at `colon`.
fn stamp(bytes: &[u8], colon: usize) -> Option<Seconds> {
    let second = two(bytes, colon + 1)?;
    let minute = two(bytes, colon.checked_sub(2)?)?;
    let hour = two(bytes, colon.checked_sub(5)?)?;
    if bytes[colon - 3] != b':' || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let day =
        colon.checked_sub(6).filter(|at| matches!(bytes[*at], b' ' | b'T')).and_then(|at| date(bytes, at));
    let time = 3600 * hour + 60 * minute + second;
    Some(Seconds::new(86_400.0 * day.unwrap_or(0) as f64 + f64::from(time) + fraction(bytes, colon + 3)))
}

/// The day that ends before `end`, counted from 1970; without a year, that of a common year.
fn date(bytes: &[u8], end: usize) -> Option<i64> {
    let day = two(bytes, end.checked_sub(2)?)?;
    let month = two(bytes, end.checked_sub(5)?)?;
    if bytes[end - 3] != b'-' || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = end
        .checked_sub(10)
        .filter(|_| bytes[end - 6] == b'-')
        .and_then(|at| Some(100 * two(bytes, at)? + two(bytes, at + 2)?))
        .unwrap_or(2025);
    Some(days(i64::from(year), i64::from(month), i64::from(day)))
}

/// Days since 1970-01-01 in the Gregorian calendar.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn fraction(bytes: &[u8], at: usize) -> f64 {
    if !matches!(bytes.get(at), Some(b'.' | b',')) {
        return 0.0;
    }
    let digits = bytes[at + 1..].iter().take(9).take_while(|b| b.is_ascii_digit());
    digits.fold((0.0, 0.1), |(sum, place), digit| (sum + f64::from(digit - b'0') * place, place * 0.1)).0
}

fn two(bytes: &[u8], at: usize) -> Option<u32> {
    let digit = |at: usize| bytes.get(at).filter(|b| b.is_ascii_digit()).map(|b| u32::from(b - b'0'));
    Some(10 * digit(at)? + digit(at + 1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_all_servers() {
        let at = |text: &str| clock(text).map(Seconds::get);
        // date -u -d '2025-06-07 21:25:14' +%s
        assert_eq!(at("[2025-06-07 21:25:14 TP0] "), Some(1_749_331_514.0));
        assert_eq!(at("2025-06-07T21:25:14.5Z stdout F "), Some(1_749_331_514.5));
        assert_eq!(at("2024-02-29T00:00:00Z x [2025-06-07 21:25:14] "), Some(1_749_331_514.0));
        let minute =
            at("INFO 10-22 10:28:57 [x.py:1] ").unwrap() - at("INFO 10-22 10:27:57 [x.py:1] ").unwrap();
        assert!((minute - 60.0).abs() < 1e-9);
        let day = at("INFO 03-01 00:00:00,000 ").unwrap() - at("INFO 02-28 00:00:00,250 ").unwrap();
        assert!((day - 86_399.75).abs() < 1e-6);
        for text in ["", "1:2:3", "99:99:99", "::", "[metrics.py:96] ", "ü:12:34:56x"] {
            assert!(at(text).is_none_or(|t| t < 86_401.0), "{text}");
        }
    }
}
