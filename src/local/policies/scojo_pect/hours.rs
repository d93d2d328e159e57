//! Shares by the hour of the day.

use super::queues::CLASSES;
use super::variants::{shares, sum_to_one};
use crate::units::Span;

/// The shares of short, medium and long jobs at hours of the day at which they are not the usual ones, such as at night.
///
/// Written like the [factors of a tariff](crate::model::DayRates), with a semicolon between stretches: `22-6=0.5%/9.5%/90%;8-12=2%/38%/60%`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SharesByHour([Option<[u64; CLASSES]>; HOURS]);

const HOURS: usize = 24;
const HOUR: u64 = Span::from_secs(3_600).micros();

impl SharesByHour {
    /// Reads them. The error says what they should be.
    pub(super) fn read(written: &str) -> Result<Self, String> {
        let mut hours: [Option<[u64; CLASSES]>; HOURS] = [None; HOURS];
        for stretch in written.split(';') {
            let read = || {
                let (hours, text) = stretch.split_once('=')?;
                let (from, to) = hours.split_once('-')?;
                let hour = |text: &str| text.trim().parse::<usize>().ok();
                Some(((hour(from)?, hour(to)?), shares(text)?))
            };
            let ((from, to), shares) = read().ok_or_else(|| {
                format!(
                    "hours of the day with three shares each, such as `22-6=0.5%/9.5%/90%;8-12=2%/38%/60%`: see `{}`",
                    stretch.trim()
                )
            })?;
            if from > HOURS || to > HOURS || from % HOURS == to % HOURS && (from, to) != (0, HOURS) {
                return Err(format!("hours of a day, 0 to 24, that differ: these are {from} and {to}"));
            }
            if let Err(sum) = sum_to_one(shares) {
                return Err(format!("100 % together at each hour: from {from} to {to} these are {sum} %"));
            }
            let to = if to <= from { to + HOURS } else { to };
            for hour in (from..to).map(|hour| hour % HOURS) {
                if hours[hour].replace(shares).is_some() {
                    return Err(format!("one for each hour: hours {hour} to {} have shares twice", hour + 1));
                }
            }
        }
        Ok(Self(hours))
    }

    /// The shares at a time of the day, if they are not the usual ones.
    pub(super) fn at(&self, time_of_day: Span) -> Option<[u64; CLASSES]> {
        self.0[(time_of_day.micros() / HOUR) as usize % HOURS]
    }

    /// Whether it says the shares of each hour.
    pub(super) fn says_all(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_may_go_on_to_the_next_day() {
        let by_hour = SharesByHour::read("22-6=0.5%/9.5%/90%; 8-12=2%/38%/60%").unwrap();
        let at = |hours: f64| by_hour.at(Span::from_micros((hours * HOUR as f64) as u64));
        let (night, morning) =
            (Some([500_000, 9_500_000, 90_000_000]), Some([2_000_000, 38_000_000, 60_000_000]));
        assert_eq!([at(21.99), at(22.0), at(23.5), at(0.0), at(5.99)], [None, night, night, night, night]);
        assert_eq!([at(6.0), at(7.99), at(8.0), at(11.99), at(12.0)], [None, None, morning, morning, None]);
        assert!(!by_hour.says_all() && SharesByHour::read("0-24=1%/9%/90%").unwrap().says_all());
        assert!(SharesByHour::read("6-22=1%/9%/90%;22-6=1%/9%/90%").unwrap().says_all());
    }

    #[test]
    fn what_is_wrong_is_told() {
        let wrong = |written: &str| SharesByHour::read(written).unwrap_err();
        for (written, told) in [
            ("", "see ``"),
            ("22-6=50%/50%", "three shares each, such as"),
            ("8-12=1%/9%/90%;night=1%/9%/90%", "see `night=1%/9%/90%`"),
            ("8-25=1%/9%/90%", "0 to 24, that differ: these are 8 and 25"),
            ("8-8=1%/9%/90%", "these are 8 and 8"),
            ("8-12=1%/2%/3%", "from 8 to 12 these are 6 %"),
            ("20-4=1%/9%/90%;3-5=2%/8%/90%", "hours 3 to 4 have shares twice"),
        ] {
            assert!(wrong(written).contains(told), "{}", wrong(written));
        }
        // All decimals that a share can have.
        assert!(SharesByHour::read("0-1=0.000001%/0.999999%/99%").is_ok());
    }
}
