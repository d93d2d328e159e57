//! The power cap of a site: what its machines may draw at most, and how many processors it leaves to jobs.

use super::{PartitionSpec, SiteError, SiteSpec};
use crate::units::Power;

/// What machines draw, in milliwatts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Draws {
    /// Without jobs, at most.
    standing: u128,
    /// Beyond that with all cores busy, at most.
    dynamic: u128,
}

impl SiteSpec {
    /// What its machines draw at most without any job: all of them idle, or on their way to sleep or back where that draws more.
    pub fn standing_power(&self) -> Power {
        power(self.draws().standing)
    }

    /// What its machines draw at most.
    pub fn greatest_power(&self) -> Power {
        let Draws { standing, dynamic } = self.draws();
        power(standing + dynamic)
    }

    /// Limits what its machines draw: of each partition no more processors are in use at once than keep the sum of all below the cap, whatever
    /// machines do meanwhile. What the cap leaves beyond the power without jobs is divided among the partitions in proportion to what
    /// jobs can draw there.
    ///
    /// # Errors
    /// [`SiteError::PowerCap`] if a partition would have no processors for jobs.
    pub fn cap_power(&mut self, cap: Option<Power>) -> Result<(), SiteError> {
        self.power_cap = cap;
        self.partitions.iter_mut().for_each(|part| part.most_in_use = None);
        let Draws { standing, dynamic } = self.draws();
        let Some(cap) = cap.filter(|cap| u128::from(cap.milliwatts()) < standing + dynamic) else {
            return Ok(());
        };
        let left = u128::from(cap.milliwatts()).saturating_sub(standing);
        let sleeps = self.may_sleep();
        for part in &mut self.partitions {
            let budget = (left * part.draws(sleeps).dynamic).checked_div(dynamic).unwrap_or_default();
            let most = part.in_use_within(budget, sleeps);
            part.most_in_use = (most < part.usable()).then_some(most);
        }
        if u128::from(cap.milliwatts()) < standing || self.partitions.iter().any(|part| part.most() == 0) {
            let (standing, greatest) = (self.standing_power(), self.greatest_power());
            return Err(SiteError::PowerCap { site: self.name.clone(), cap, standing, greatest });
        }
        Ok(())
    }

    /// Whether any machine may sleep under its power policy.
    pub fn may_sleep(&self) -> bool {
        let mut groups = self.partitions.iter().flat_map(|part| &part.groups);
        self.power.name != "always-on" && groups.any(|group| group.sleep.is_some())
    }

    fn draws(&self) -> Draws {
        let sleeps = self.may_sleep();
        let draws = self.partitions.iter().map(|part| part.draws(sleeps));
        draws.fold(Draws::default(), |sum, part| Draws {
            standing: sum.standing + part.standing,
            dynamic: sum.dynamic + part.dynamic,
        })
    }
}

impl PartitionSpec {
    fn draws(&self, sleeps: bool) -> Draws {
        self.machine_draws(sleeps).iter().fold(Draws::default(), |sum, (machines, machine)| Draws {
            standing: sum.standing + machines * machine.standing,
            dynamic: sum.dynamic + machines * machine.dynamic,
        })
    }

    /// The number of machines of each group, and what one of them draws. A machine that sleeps now and then counts as if it drew what a transition
    /// does whenever its cores are idle: so much it draws at most, with however many cores busy, since power is linear in them.
    fn machine_draws(&self, sleeps: bool) -> Vec<(u128, Draws)> {
        let machine = |group: &super::MachineGroup| {
            let idle = group.idle_machine(self.cores).milliwatts();
            let busy = group.busy.milliwatts().saturating_mul(u64::from(self.cores));
            let of_sleep = group.sleep.filter(|_| sleeps).map_or(0, |sleep| {
                [sleep.asleep, sleep.waking, sleep.falling]
                    .map(Power::milliwatts)
                    .into_iter()
                    .max()
                    .unwrap_or(0)
            });
            let standing = idle.max(of_sleep);
            let dynamic = match &group.by_load {
                None => busy.saturating_sub(standing).into(),
                Some(points) => steepest(points, standing, self.cores),
            };
            let draws = Draws { standing: standing.into(), dynamic };
            (u128::from(group.machines), draws)
        };
        self.groups.iter().map(machine).collect()
    }

    /// The most processors that draw no more than this beyond the power without jobs, whichever they are: those that draw most come first. In whole
    /// allocation units.
    fn in_use_within(&self, mut budget: u128, sleeps: bool) -> u32 {
        let mut groups = self.machine_draws(sleeps);
        groups.sort_by_key(|(_, machine)| std::cmp::Reverse(machine.dynamic));
        let (mut most, cores) = (0, u128::from(self.cores));
        for (machines, machine) in groups {
            let whole = machines * machine.dynamic;
            if whole > budget {
                most += budget * cores / machine.dynamic;
                break;
            }
            (most, budget) = (most + machines * cores, budget - whole);
        }
        let unit = self.allocation_unit.max(1);
        u32::try_from(most).unwrap_or(u32::MAX).min(self.usable()) / unit * unit
    }
}

/// What a machine with a power by load draws at most beyond `standing` milliwatts with all its cores busy, if it did so in proportion to its busy cores: with
/// however many cores busy it draws no more than that. Rounded up.
fn steepest(points: &[Power], standing: u64, cores: u32) -> u128 {
    let (steps, cores) = (points.len().saturating_sub(1) as u128, u128::from(cores));
    let point = |at: u128| points.get(at as usize).map_or(0, |power| u128::from(power.milliwatts()));
    let beyond = |busy: u128| {
        let (step, part) = (busy * steps / cores, busy * steps % cores);
        let above = point(step + u128::from(part > 0)).saturating_sub(point(step));
        let drawn = point(step) + (above * part).div_ceil(cores);
        (drawn.saturating_sub(standing.into()) * cores).div_ceil(busy)
    };
    (1..=cores).map(beyond).max().unwrap_or(0)
}

fn power(milliwatts: u128) -> Power {
    Power::from_milliwatts(u64::try_from(milliwatts).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MachineGroup, Named, SleepSpec};
    use crate::units::Span;

    fn watts(watts: u64) -> Power {
        Power::from_milliwatts(1_000 * watts)
    }

    /// Machines that draw so many watts idle and with all their cores busy.
    fn group(machines: u32, cores: u64, idle: u64, busy: u64) -> MachineGroup {
        let (idle, busy) = (watts(idle / cores), watts(busy / cores));
        MachineGroup { idle, busy, ..MachineGroup::plain("any", machines) }
    }

    fn site(parts: Vec<PartitionSpec>) -> SiteSpec {
        SiteSpec { partitions: parts, ..SiteSpec::plain("delft", 1, Named::bare("easy")) }
    }

    fn most(site: &SiteSpec) -> Vec<u32> {
        site.partitions.iter().map(PartitionSpec::most).collect()
    }

    /// Ten machines of 100 W idle and 200 W busy: under 1500 W five run, under 1599 W too; 2000 W has no effect; 1000 W and less are refused.
    #[test]
    fn a_cap_in_processors() {
        let mut site = site(vec![PartitionSpec::of(group(10, 1, 100, 200))]);
        assert_eq!((site.standing_power(), site.greatest_power()), (watts(1_000), watts(2_000)));
        for (cap, leaves) in
            [(1_500, Some(5)), (1_599, Some(5)), (1_600, Some(6)), (2_000, None), (9_000, None)]
        {
            site.cap_power(Some(watts(cap))).unwrap();
            assert_eq!(site.partitions[0].most_in_use, leaves, "{cap} W");
        }
        assert!(site.cap_power(Some(watts(1_099))).is_err() && site.cap_power(Some(watts(900))).is_err());
        site.cap_power(None).unwrap();
        assert_eq!((site.power_cap, most(&site)), (None, vec![10]));
    }

    /// Two partitions that draw 1000 W and 100 W idle, and 1000 W and 3000 W more when busy: of the 2000 W beyond the 1100 W a quarter and three
    /// quarters, which is half of each.
    #[test]
    fn a_cap_is_divided_by_what_jobs_can_draw() {
        let even = PartitionSpec { cores: 4, ..PartitionSpec::of(group(10, 4, 100, 200)) };
        let mut uneven = PartitionSpec::of(group(10, 1, 10, 310));
        uneven.allocation_unit = 2;
        let mut site = site(vec![even, uneven]);
        site.cap_power(Some(watts(3_100))).unwrap();
        assert_eq!(most(&site), [20, 4], "5 are not whole allocation units");
    }

    /// Of two groups the hungry one counts first: 10 cores of 30 W, then cores of 10 W.
    #[test]
    fn the_hungriest_processors_count_first() {
        let groups = vec![group(10, 1, 0, 10), group(10, 1, 0, 30)];
        let mut site = site(vec![PartitionSpec { groups, ..PartitionSpec::plain(1) }]);
        for (cap, leaves) in [(299, 9), (300, 10), (350, 15), (399, 19), (400, 20)] {
            site.cap_power(Some(watts(cap))).unwrap();
            assert_eq!(most(&site), [leaves], "{cap} W");
        }
    }

    /// Two cores: the first draws 30 W beyond idle, the second 10 W. So under a cap each counts 30 W.
    #[test]
    fn the_steepest_part_of_a_power_by_load_counts() {
        let by_load = Some([60, 90, 100].map(watts).to_vec());
        let group = MachineGroup { by_load, ..group(10, 2, 60, 100) };
        let mut site = site(vec![PartitionSpec { cores: 2, ..PartitionSpec::of(group) }]);
        site.cap_power(Some(watts(750))).unwrap();
        assert_eq!((most(&site), site.greatest_power()), (vec![5], watts(1_200)));
    }

    /// A machine of 95 W idle and 200 W busy that draws 125 W while it wakes up: where it never sleeps 10 machines draw 950 W without jobs, else
    /// 1250 W at most.
    #[test]
    fn transitions_count_where_machines_sleep() {
        let (wake, fall) = (Span::from_secs(150), Span::from_secs(6));
        let sleep = SleepSpec { asleep: watts(9), wake, waking: watts(125), fall, falling: watts(100) };
        let group = MachineGroup { sleep: Some(sleep), ..group(10, 1, 95, 200) };
        let mut site = site(vec![PartitionSpec::of(group)]);
        site.cap_power(Some(watts(1_475))).unwrap();
        assert_eq!((most(&site), site.standing_power()), (vec![5], watts(950)), "525 W of 105 W each");
        site.power = Named::bare("sleep-idle");
        site.cap_power(Some(watts(1_475))).unwrap();
        assert_eq!((most(&site), site.standing_power()), (vec![3], watts(1_250)), "225 W of 75 W each");
        assert_eq!(site.greatest_power(), watts(2_000));
    }
}
