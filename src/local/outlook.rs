//! When a newcomer could start: what a site tells the grid about its queue.

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// When a job of each size could start if it came now, as far as estimates tell.
///
/// A step function: `steps` ascends by processors; a job of `n` processors could start at the time of the first step of at
/// least `n`. There is none for more processors than are present.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlook {
    /// `(most processors, start)`, ascending in both.
    pub steps: Vec<(u32, Time)>,
}

impl Outlook {
    /// When a job of so many processors could start; `None` if there are not so many now.
    pub fn start(&self, procs: u32) -> Option<Time> {
        let at = self.steps.partition_point(|(most, _)| *most < procs);
        self.steps.get(at).map(|(_, start)| *start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_that_is_large_enough_counts() {
        let outlook = Outlook { steps: vec![(4, Time::from_secs(1)), (8, Time::from_secs(5))] };
        assert_eq!(outlook.start(1), Some(Time::from_secs(1)));
        assert_eq!(outlook.start(5), Some(Time::from_secs(5)));
        assert_eq!(outlook.start(9), None);
    }
}
