//! The sleep state of a machine.

use serde::{Deserialize, Serialize};

use crate::units::{Power, Span};

/// A state in which a machine draws little and runs nothing, with the ways into it and out of it. Powers are those of a whole machine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SleepSpec {
    /// Power while it sleeps.
    pub asleep: Power,
    /// How long it takes to wake up.
    pub wake: Span,
    /// Power while it wakes up.
    pub waking: Power,
    /// How long it takes to go to sleep; once begun, this is carried through.
    pub fall: Span,
    /// Power while it goes to sleep.
    pub falling: Power,
}

impl SleepSpec {
    /// The break-even time of a machine that draws `idle` when it is idle: an idle time that is longer costs more energy awake than
    /// asleep, with both transitions. It is (E₁ + E₂ − P·(t₁ + t₂)) / (P₀ − P), with the energies E and durations t of the
    /// transitions, the power P asleep and P₀ idle; but never less than the transitions take. [`Span::MAX`] if sleep saves
    /// nothing.
    pub fn break_even(&self, idle: Power) -> Span {
        let energy = |power: Power, span: Span| u128::from(power.milliwatts()) * u128::from(span.micros());
        let saved = u128::from(idle.milliwatts().saturating_sub(self.asleep.milliwatts()));
        let turns = self.wake + self.fall;
        let transitions = energy(self.waking, self.wake) + energy(self.falling, self.fall);
        let extra = transitions.saturating_sub(energy(self.asleep, turns));
        let micros = extra.checked_div(saved).map(|micros| u64::try_from(micros).unwrap_or(u64::MAX));
        micros.map_or(Span::MAX, |micros| Span::from_micros(micros).max(turns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node that boots in 150 s at 125 W, shuts down in 6 s at 100 W, draws 9 W when off and 95 W when idle.
    #[test]
    fn the_break_even_time_by_hand() {
        let watts = |watts: u64| Power::from_milliwatts(1_000 * watts);
        let node = SleepSpec {
            asleep: watts(9),
            wake: Span::from_secs(150),
            waking: watts(125),
            fall: Span::from_secs(6),
            falling: watts(100),
        };
        // (18,750 J + 600 J − 9 W × 156 s) / 86 W = 17,946 / 86 s.
        assert_eq!(node.break_even(watts(95)).micros(), 208_674_418);
        assert_eq!(node.break_even(watts(9)), Span::MAX, "it saves nothing");
        // Cheap transitions: no shorter than they take.
        let cheap = SleepSpec { waking: watts(9), falling: watts(9), ..node };
        assert_eq!(cheap.break_even(watts(95)), Span::from_secs(156));
    }
}
