//! The presence and the speed of machines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ProcSet;
use crate::units::Rate;

/// Why a machine is down.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// The machine has an outage.
    Chance,
    /// The script, or a command, made it leave.
    Script,
    /// Its whole site has left.
    Site,
    /// The node that it follows was down.
    Trace,
    /// It failed in a group.
    Group,
    /// Its site has failed without a word.
    Fault,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Chance, Self::Script, Self::Site, Self::Trace, Self::Group, Self::Fault];
}

/// The machines of a partition: which are present, for which reasons the others are down, and which are slowed down.
///
/// A machine is present exactly if no [`Reason`] keeps it down. Leaving twice for one reason counts once. A machine
/// that was slowed down keeps its factor while it is down, until the script gives it another.
///
/// A machine drains from when a leave is announced until it leaves for that reason, or until that leave is called off. If it is down for another
/// reason meanwhile, it drains again when it is back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    machines: u32,
    /// The machines that each reason keeps down.
    kept: [ProcSet; Reason::ALL.len()],
    /// The machines of which it is known that they will leave for each reason.
    draining: [ProcSet; Reason::ALL.len()],
    /// The factors other than [`Rate::FULL`].
    factors: BTreeMap<u32, Rate>,
}

impl Presence {
    /// The machines `0..machines`; the last `absent` of them are down until the script brings them.
    pub fn new(machines: u32, absent: u32) -> Self {
        let mut kept = Reason::ALL.map(|_| ProcSet::new());
        kept[Reason::Script as usize] = ProcSet::range(machines.saturating_sub(absent), machines);
        Self { machines, kept, draining: Reason::ALL.map(|_| ProcSet::new()), factors: BTreeMap::new() }
    }

    /// The number of machines, present or not.
    pub fn machines(&self) -> u32 {
        self.machines
    }

    /// Those of the machines that belong to the partition.
    fn own(&self, which: &ProcSet) -> ProcSet {
        let end = which.last().map_or(0, |last| last + 1);
        which.difference(&ProcSet::range(self.machines, end))
    }

    /// Takes machines down for a reason. Returns those that were present until now. Numbers outside of
    /// the partition are ignored.
    pub fn leave(&mut self, which: &ProcSet, why: Reason) -> ProcSet {
        let leaving = self.own(which);
        let mut gone = leaving.clone();
        self.kept.iter().for_each(|kept| gone.remove_all(kept));
        self.kept[why as usize].insert_all(&leaving);
        self.draining[why as usize].remove_all(&leaving);
        gone
    }

    /// Announces that machines will leave for a reason; of those that it keeps down nothing is announced.
    pub fn drain(&mut self, which: &ProcSet, why: Reason) {
        let mut own = self.own(which);
        own.remove_all(&self.kept[why as usize]);
        self.draining[why as usize].insert_all(&own);
    }

    /// Calls off what was announced.
    pub fn stay(&mut self, which: &ProcSet, why: Reason) {
        self.draining[why as usize].remove_all(which);
    }

    /// The machines that will leave for a reason, as announced.
    pub fn draining_for(&self, why: Reason) -> &ProcSet {
        &self.draining[why as usize]
    }

    /// The machines that will leave, as announced, whether they are down for another reason or not.
    pub fn draining(&self) -> ProcSet {
        let mut draining = ProcSet::new();
        self.draining.iter().for_each(|own| draining.insert_all(own));
        draining
    }

    /// Ends a reason, and calls off what was announced for it. Returns the machines that are present from now on; those that another reason keeps down
    /// are not among them.
    pub fn join(&mut self, which: &ProcSet, why: Reason) -> ProcSet {
        self.stay(which, why);
        let kept = &mut self.kept[why as usize];
        let mut back = which.intersection(kept);
        kept.remove_all(&back);
        self.kept.iter().for_each(|kept| back.remove_all(kept));
        back
    }

    /// Takes all machines down with their site. Returns those that were present until now.
    pub fn leave_site(&mut self) -> ProcSet {
        self.leave(&ProcSet::full(self.machines), Reason::Site)
    }

    /// Brings the site back. Returns the machines that are present from now on.
    pub fn join_site(&mut self) -> ProcSet {
        self.join(&ProcSet::full(self.machines), Reason::Site)
    }

    /// The machines that are down.
    pub fn down(&self) -> ProcSet {
        let [first, others @ ..] = &self.kept;
        let mut down = first.clone();
        others.iter().for_each(|kept| down.insert_all(kept));
        down
    }

    /// The machines that a reason keeps down.
    pub fn kept(&self, why: Reason) -> &ProcSet {
        &self.kept[why as usize]
    }

    /// The machines that are present.
    pub fn present(&self) -> ProcSet {
        let mut present = ProcSet::full(self.machines);
        present.remove_all(&self.down());
        present
    }

    /// Sets the fraction of their own speed at which machines continue; [`Rate::FULL`] ends it. Returns those whose factor has changed.
    /// Numbers outside of the partition are ignored.
    pub fn slow(&mut self, which: &ProcSet, factor: Rate) -> ProcSet {
        let own = self.own(which);
        let changed: ProcSet = own.iter().filter(|machine| self.factor(*machine) != factor).collect();
        for machine in changed.iter() {
            if factor == Rate::FULL {
                self.factors.remove(&machine);
            } else {
                self.factors.insert(machine, factor);
            }
        }
        changed
    }

    /// The fraction of its own speed at which a machine runs.
    pub fn factor(&self, machine: u32) -> Rate {
        self.factors.get(&machine).copied().unwrap_or(Rate::FULL)
    }

    /// The smallest factor of some machines, which is the factor of a rigid job on all of them.
    pub fn slowest(&self, which: &ProcSet) -> Rate {
        if self.factors.is_empty() {
            // This is nearly always the case.
            return Rate::FULL;
        }
        which.iter().map(|machine| self.factor(machine)).min().unwrap_or(Rate::FULL)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn of(machines: &[u32]) -> ProcSet {
        machines.iter().copied().collect()
    }

    #[test]
    fn chance_and_script_do_not_fight() {
        let mut here = Presence::new(4, 1);
        assert_eq!(here.present(), of(&[0, 1, 2]));
        // Machine 1 leaves by script; an outage and its end in the meantime change nothing.
        assert_eq!(here.leave(&of(&[1]), Reason::Script), of(&[1]));
        assert_eq!(here.leave(&of(&[0, 1]), Reason::Chance), of(&[0]));
        assert_eq!(here.join(&of(&[1]), Reason::Chance), of(&[]));
        // The script brings back machine 0 during its outage: nothing changes, because it had not left by script.
        assert_eq!(here.join(&of(&[0, 1]), Reason::Script), of(&[1]));
        // The site leaves and comes back without 0, whose outage is not over, and without 3, which never came.
        assert_eq!(here.leave_site(), of(&[1, 2]));
        assert_eq!(here.join(&of(&[3]), Reason::Script), of(&[]));
        assert_eq!(here.join_site(), of(&[1, 2, 3]));
        assert_eq!(here.kept[Reason::Chance as usize], of(&[0]));
        assert_eq!(here.join(&of(&[0, 9]), Reason::Chance), of(&[0]));
        assert_eq!(here.leave(&of(&[9]), Reason::Script), of(&[]));
        assert!(here.present().contains(3) && !here.present().contains(9));
    }

    #[test]
    fn the_slowest_machine_counts() {
        let mut here = Presence::new(8, 0);
        let half = Rate::ratio(1, 2);
        assert_eq!(here.slow(&of(&[2, 3, 11]), half), of(&[2, 3]));
        assert_eq!(here.slow(&of(&[3, 4]), half), of(&[4]));
        assert_eq!((here.slowest(&of(&[0, 1])), here.slowest(&of(&[1, 2]))), (Rate::FULL, half));
        assert_eq!(here.slow(&of(&[2, 3, 4, 5]), Rate::FULL), of(&[2, 3, 4]));
        assert_eq!(here, Presence::new(8, 0));
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_reasons_a_machine(
            steps in proptest::collection::vec(
                (any::<bool>(), 0..Reason::ALL.len(), proptest::collection::btree_set(0_u32..12, 0..6)), 0..40,
            ),
        ) {
            let reasons = Reason::ALL;
            let mut here = Presence::new(10, 2);
            let mut twin = vec![BTreeSet::new(); 10];
            for late in &mut twin[8..] {
                late.insert(Reason::Script);
            }
            for (leaves, why, which) in steps {
                let before: Vec<bool> = twin.iter().map(BTreeSet::is_empty).collect();
                for machine in which.iter().filter(|machine| **machine < 10) {
                    let own = &mut twin[*machine as usize];
                    if leaves { own.insert(reasons[why]) } else { own.remove(&reasons[why]) };
                }
                let which = which.into_iter().collect();
                let changed = if leaves { here.leave(&which, reasons[why]) } else { here.join(&which, reasons[why]) };
                let expected =
                    (0..10).filter(|machine| before[*machine as usize] != twin[*machine as usize].is_empty());
                prop_assert_eq!(changed, expected.collect());
                for machine in 0..10 {
                    prop_assert_eq!(here.present().contains(machine), twin[machine as usize].is_empty());
                }
                let saved = postcard::to_stdvec(&here).unwrap();
                prop_assert_eq!(&postcard::from_bytes::<Presence>(&saved).unwrap(), &here);
            }
        }
    }
}
