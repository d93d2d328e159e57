//! The power cap of a site: what its machines may draw at most, and how much of it each partition has.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::{MachineGroup, PartitionSpec, SiteError, SiteSpec, SleepSpec};
use crate::units::{Power, Span};

/// The part of a power cap that a partition has.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerPart {
    /// What its machines may draw at once.
    pub power: Power,
    /// Whether it is kept by counting watts, and not as a number of processors in use.
    pub in_watts: bool,
}

/// What machines draw, in milliwatts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Draws {
    /// Without jobs, if all are awake or on their way to sleep.
    standing: u128,
    /// Beyond that at most.
    dynamic: u128,
}

/// What a machine draws at most in each of its states, in milliwatts: until its state changes, and also when it does so by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MachineDraws {
    cores: u64,
    /// At equal steps of load; never falling.
    points: Vec<u64>,
    /// Its sleep state, and whether it ever goes there.
    sleep: Option<(SleepSpec, bool)>,
}

impl MachineDraws {
    /// Those of a machine of a group with so many cores, given its sleep state and whether it goes there.
    pub(crate) fn of(group: &MachineGroup, cores: u32, sleep: Option<(SleepSpec, bool)>) -> Self {
        let whole = |core: Power| core.milliwatts().saturating_mul(u64::from(cores));
        let mut points = match &group.by_load {
            Some(points) => points.iter().map(|point| point.milliwatts()).collect(),
            None => vec![whole(group.idle), whole(group.busy)],
        };
        let mut most = 0;
        for point in &mut points {
            most = most.max(*point);
            *point = most;
        }
        Self { cores: cores.max(1).into(), points, sleep }
    }

    /// With so many cores in use, rounded up.
    fn loaded(&self, used: u32) -> u64 {
        let steps = self.points.len().saturating_sub(1) as u64;
        let at = u64::from(used).min(self.cores) * steps;
        let (step, part) = ((at / self.cores) as usize, at % self.cores);
        let point = |step: usize| self.points.get(step).copied().unwrap_or_default();
        if part == 0 {
            return point(step);
        }
        let more = u128::from(point(step + 1) - point(step)) * u128::from(part);
        point(step) + more.div_ceil(u128::from(self.cores)) as u64
    }

    /// Idle, and not on its way to sleep.
    pub(crate) fn idle(&self) -> u64 {
        self.loaded(0)
    }

    /// Awake with so many cores in use; it may go to sleep when none is.
    pub(crate) fn awake(&self, used: u32) -> u64 {
        self.loaded(used).max(self.sleep.filter(|(_, falls)| *falls).map_or(0, |(state, _)| down(&state)))
    }

    /// On its way from sleep to being awake with so many cores in use, or on its way to sleep and needed afterwards.
    pub(crate) fn woken(&self, used: u32) -> u64 {
        let of_sleep = self.sleep.map_or(0, |(state, _)| state.waking.milliwatts().max(down(&state)));
        self.loaded(used).max(of_sleep)
    }

    pub(crate) fn asleep(&self) -> u64 {
        self.sleep.map_or(0, |(state, _)| state.asleep.milliwatts())
    }

    /// On its way to sleep.
    pub(crate) fn falling(&self) -> u64 {
        self.sleep.map_or(0, |(state, _)| down(&state))
    }

    fn greatest(&self) -> u64 {
        let used = self.cores as u32;
        if self.sleep.is_some() { self.woken(used) } else { self.awake(used) }
    }
}

/// What a machine draws at most that goes to sleep, and when it is there.
fn down(state: &SleepSpec) -> u64 {
    state.falling.milliwatts().max(state.asleep.milliwatts())
}

impl SiteSpec {
    /// What its machines draw at most without any job: all of them idle, or on their way to sleep where that draws more.
    pub fn standing_power(&self) -> Power {
        power(self.draws().standing)
    }

    /// What its machines draw at most.
    pub fn greatest_power(&self) -> Power {
        let Draws { standing, dynamic } = self.draws();
        power(standing + dynamic)
    }

    /// Limits what its machines draw. What the cap leaves beyond the power without jobs is divided among the partitions in proportion to what
    /// they can draw there. Where each processor in use draws the same that makes a number of processors, else the partition counts in watts
    /// ([`PartitionSpec::power_part`]).
    ///
    /// # Errors
    /// [`SiteError::PowerCap`] if a partition would have no processors for jobs.
    pub fn cap_power(&mut self, cap: Option<Power>) -> Result<(), SiteError> {
        self.power_cap = cap;
        for part in &mut self.partitions {
            (part.most_in_use, part.power_part) = (None, None);
        }
        let Draws { standing, dynamic } = self.draws();
        let Some(cap) = cap else { return Ok(()) };
        if u128::from(cap.milliwatts()) >= standing + dynamic {
            self.part_for_wake_ups(u128::from(cap.milliwatts()) - standing - dynamic);
            return Ok(());
        }
        let left = u128::from(cap.milliwatts()).saturating_sub(standing);
        let (sleeps, surely) = (self.may_sleep(), self.sleeps_surely());
        let mut short = None;
        for part in &mut self.partitions {
            let Draws { standing, dynamic: own } = part.draws(sleeps);
            let budget = (left * own).checked_div(dynamic).unwrap_or_default();
            if budget >= own {
                part.keep_for_wake_ups(standing + budget, sleeps);
                continue;
            }
            let each = part.per_machine(sleeps);
            part.power_part = Some(PowerPart { power: power(standing + budget), in_watts: each.is_none() });
            let (most, needs) = match each {
                Some(machine) => {
                    let (most, cores) = (budget * u128::from(part.cores) / machine, part.cores.max(1));
                    (part.in_blocks(most), machine.div_ceil(u128::from(cores)))
                }
                None => part.most_within(standing + budget, &surely),
            };
            part.most_in_use = (most < part.usable()).then_some(most);
            if most == 0 && short.is_none() {
                short = Some((part.name.clone(), power(budget), power(needs)));
            }
        }
        let standing = self.standing_power();
        if cap < standing || short.is_some() {
            let (site, greatest) = (self.name.clone(), self.greatest_power());
            let short = short.filter(|_| cap >= standing).map(Box::new);
            return Err(SiteError::PowerCap { site, cap, standing, greatest, short });
        }
        Ok(())
    }

    /// Divides what a cap leaves beyond the most that machines draw which do not sleep. Machines that sleep before a fork may draw more on their way
    /// back.
    fn part_for_wake_ups(&mut self, left: u128) {
        let sleeps = self.may_sleep();
        let more = |part: &PartitionSpec| {
            let (now, woken) = (part.draws(sleeps), part.draws(true));
            (
                now.standing + now.dynamic,
                (woken.standing + woken.dynamic).saturating_sub(now.standing + now.dynamic),
            )
        };
        let all: u128 = self.partitions.iter().map(|part| more(part).1).sum();
        for part in &mut self.partitions {
            let (most, more) = more(part);
            part.keep_for_wake_ups(most + (left * more).checked_div(all).unwrap_or_default(), sleeps);
        }
    }

    /// Whether any machine may sleep under its power policy.
    pub fn may_sleep(&self) -> bool {
        let mut groups = self.partitions.iter().flat_map(|part| &part.groups);
        !self.is_awake() && groups.any(|group| group.sleep.is_some())
    }

    /// Whether its power policy never lets machines sleep.
    fn is_awake(&self) -> bool {
        let after = self.power.params.get("after").map_or("never", String::as_str);
        self.power.name == "always-on" || self.power.name == "lowest-level" && after == "never"
    }

    /// How many idle machines of a partition stay awake whose sleep state and power idle let them sleep: only of policies that are known here.
    fn sleeps_surely(&self) -> Surely {
        let param = |key: &str| self.power.params.get(key).map(String::as_str);
        let reserve = param("reserve").map_or(Some(0), |reserve| reserve.parse().ok());
        let rule: fn(&SleepSpec, Power) -> bool = match self.power.name.as_str() {
            "sleep-idle" => |_, _| true,
            "lowest-level" if !self.is_awake() => |_, _| true,
            "sleep-break-even" => |state, idle| state.break_even(idle) < Span::MAX,
            _ => |_, _| false,
        };
        Surely { reserve: reserve.unwrap_or(u32::MAX), rule }
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

/// Which machines sleep in the end if no job comes.
struct Surely {
    /// So many stay awake.
    reserve: u32,
    rule: fn(&SleepSpec, Power) -> bool,
}

impl PartitionSpec {
    fn draws(&self, sleeps: bool) -> Draws {
        self.machine_draws(sleeps).iter().zip(&self.groups).fold(Draws::default(), |sum, (machine, group)| {
            let (machines, standing) = (u128::from(group.machines), machine.awake(0));
            Draws {
                standing: sum.standing + machines * u128::from(standing),
                dynamic: sum.dynamic + machines * u128::from(machine.greatest() - standing),
            }
        })
    }

    /// Keeps so much power for what machines draw that do not sleep any more, if those could draw more that did before a fork.
    fn keep_for_wake_ups(&mut self, most: u128, sleeps: bool) {
        let Draws { standing, dynamic } = self.draws(true);
        if !sleeps && standing + dynamic > most {
            self.power_part = Some(PowerPart { power: power(most), in_watts: false });
        }
    }

    /// What a machine of each group draws.
    fn machine_draws(&self, sleeps: bool) -> Vec<MachineDraws> {
        let sleep = |group: &MachineGroup| group.sleep.filter(|_| sleeps).map(|state| (state, true));
        self.groups.iter().map(|group| MachineDraws::of(group, self.cores, sleep(group))).collect()
    }

    /// What a machine of whatever group draws beyond idle with all its cores busy, if that is the same for all, in proportion to its busy cores,
    /// and none sleeps.
    fn per_machine(&self, sleeps: bool) -> Option<u128> {
        let plain = |group: &MachineGroup| group.by_load.is_none() && (group.sleep.is_none() || !sleeps);
        let mut groups = self.groups.iter().filter(|group| group.machines > 0);
        let beyond = |group: &MachineGroup| group.busy.milliwatts().saturating_sub(group.idle.milliwatts());
        let first = groups.clone().next().map(beyond)?;
        let same = groups.all(|group| plain(group) && beyond(group) == first);
        (same && first > 0).then(|| u128::from(first) * u128::from(self.cores))
    }

    /// So many processors in whole allocation units, as far as there are any.
    fn in_blocks(&self, procs: u128) -> u32 {
        let unit = self.allocation_unit.max(1);
        u32::try_from(procs).unwrap_or(u32::MAX).min(self.usable()) / unit * unit
    }

    /// The groups, those first of which a machine that is taken out of sleep, or from idle if it does not sleep, draws least more for each core.
    pub(crate) fn by_watts(&self, draws: &[MachineDraws]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..draws.len()).collect();
        order.sort_by_key(|at| {
            let draws = &draws[*at];
            let sleeps = draws.sleep.is_some_and(|(_, falls)| falls);
            draws.greatest() - if sleeps { draws.asleep() } else { draws.awake(0) }
        });
        order
    }

    /// The most processors that can be in use with so much power in the end, when nothing else runs and the machines sleep that do so by themselves; and
    /// what one more draws on the machines that draw least. They are counted as they are taken: group by group, each from its first machine on, until one
    /// does not fit.
    fn most_within(&self, power: u128, surely: &Surely) -> (u32, u128) {
        let draws = self.machine_draws(true);
        let rests = |group: usize| {
            let of = &self.groups[group];
            let state = of.sleep.filter(|state| (surely.rule)(state, of.idle_machine(self.cores)));
            state.map_or(draws[group].awake(0), |_| draws[group].asleep())
        };
        // Machines that are never given, being the rest of an incomplete block, stay awake.
        let ever = self.usable().div_ceil(self.cores.max(1));
        let at_rest = |(at, (machines, _)): (usize, (std::ops::Range<u32>, _))| {
            let sleep = machines.end.min(ever).saturating_sub(machines.start);
            let awake = machines.end - machines.start - sleep;
            u128::from(sleep) * u128::from(rests(at)) + u128::from(awake) * u128::from(draws[at].awake(0))
        };
        let mut standing: u128 = self.numbered().enumerate().map(at_rest).sum();
        // Those that stay awake are the ones that this makes most of.
        let mut more: Vec<(u64, u32)> =
            (0..draws.len()).map(|at| (draws[at].awake(0) - rests(at), self.groups[at].machines)).collect();
        more.sort_unstable_by_key(|(more, _)| Reverse(*more));
        let mut reserve = surely.reserve;
        for (more, machines) in more {
            let awake = machines.min(reserve);
            reserve -= awake;
            standing += u128::from(awake) * u128::from(more);
        }
        let mut left = power.saturating_sub(standing);
        let of_one = |group: usize, used: u32| {
            let draws = &draws[group];
            let sleeps = rests(group) < draws.awake(0);
            let drawn = if sleeps || draws.sleep.is_some() { draws.woken(used) } else { draws.awake(used) };
            u128::from(drawn - rests(group))
        };
        let order: Vec<usize> =
            self.by_watts(&draws).into_iter().filter(|at| self.groups[*at].machines > 0).collect();
        let needs = order.iter().map(|at| of_one(*at, 1)).min().unwrap_or_default();
        if self.allocation_unit > 1 {
            return (self.blocks_within(left, &order, of_one), needs);
        }
        let mut most = 0;
        for at in order {
            let (machines, one) = (u128::from(self.groups[at].machines), of_one(at, self.cores));
            let whole = left.checked_div(one).unwrap_or(machines).min(machines);
            most += whole * u128::from(self.cores);
            left -= whole * one;
            if whole < machines {
                let (mut low, mut high) = (0, self.cores);
                while low + 1 < high {
                    let middle = u32::midpoint(low, high);
                    if of_one(at, middle) <= left { low = middle } else { high = middle }
                }
                most += u128::from(low);
                break;
            }
        }
        (self.in_blocks(most), needs)
    }

    /// The same in allocation blocks, which may be of several machines.
    fn blocks_within(&self, mut left: u128, order: &[usize], of_one: impl Fn(usize, u32) -> u128) -> u32 {
        let cores = self.cores.max(1);
        let ends: Vec<u32> = self.numbered().map(|(machines, _)| machines.end).collect();
        let mut used = vec![0_u32; self.machines() as usize];
        let blocks: Vec<_> = self.blocks().collect();
        let mut most = 0;
        for at in order {
            for first in blocks[*at].clone().step_by(self.allocation_unit as usize) {
                let mut more = 0;
                let last = first + self.allocation_unit;
                let machines = first / cores..=(last - 1) / cores;
                for machine in machines.clone() {
                    let group = ends.partition_point(|end| *end <= machine);
                    let count = last.min((machine + 1) * cores) - first.max(machine * cores);
                    let had = used[machine as usize];
                    let before = if had == 0 { 0 } else { of_one(group, had) };
                    more += of_one(group, had + count) - before;
                }
                if more > left {
                    return most;
                }
                left -= more;
                most += self.allocation_unit;
                for machine in machines {
                    let count = last.min((machine + 1) * cores) - first.max(machine * cores);
                    used[machine as usize] += count;
                }
            }
        }
        most
    }
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

    /// Of two groups the one that draws less counts first: 10 cores of 10 W, then cores of 30 W.
    #[test]
    fn the_largest_job_is_on_the_machines_that_draw_least() {
        let groups = vec![group(10, 1, 0, 10), group(10, 1, 0, 30)];
        let mut site = site(vec![PartitionSpec { groups, ..PartitionSpec::plain(1) }]);
        for (cap, leaves) in [(99, 9), (100, 10), (129, 10), (130, 11), (399, 19), (400, 20)] {
            site.cap_power(Some(watts(cap))).unwrap();
            assert_eq!(most(&site), [leaves], "{cap} W");
        }
    }

    /// Two cores: the first draws 30 W beyond idle, the second 10 W. So 150 W are three machines with both, and one with one.
    #[test]
    fn a_power_by_load_counts_as_it_is() {
        let by_load = Some([60, 90, 100].map(watts).to_vec());
        let group = MachineGroup { by_load, ..group(10, 2, 60, 100) };
        let mut site = site(vec![PartitionSpec { cores: 2, ..PartitionSpec::of(group) }]);
        site.cap_power(Some(watts(750))).unwrap();
        assert_eq!((most(&site), site.greatest_power()), (vec![7], watts(1_000)));
    }

    /// A machine of 95 W idle and 200 W busy that draws 9 W asleep, 125 W while it wakes up and 100 W on its way to sleep. Where it never sleeps 525 W
    /// of 105 W each are left; where it does the others sleep: 1385 W of 191 W each.
    #[test]
    fn machines_that_sleep_leave_more() {
        let (wake, fall) = (Span::from_secs(150), Span::from_secs(6));
        let sleep = SleepSpec { asleep: watts(9), wake, waking: watts(125), fall, falling: watts(100) };
        let group = MachineGroup { sleep: Some(sleep), ..group(10, 1, 95, 200) };
        let mut site = site(vec![PartitionSpec::of(group)]);
        site.cap_power(Some(watts(1_475))).unwrap();
        assert_eq!((most(&site), site.standing_power()), (vec![5], watts(950)));
        // A policy under which none sleeps is like none.
        for never in ["lowest-level", "lowest-level[after=never]"] {
            site.power = never.parse().unwrap();
            site.cap_power(Some(watts(1_475))).unwrap();
            assert_eq!((most(&site), site.standing_power()), (vec![5], watts(950)), "{never}");
        }
        site.power = Named::bare("sleep-idle");
        site.cap_power(Some(watts(1_475))).unwrap();
        assert_eq!((most(&site), site.standing_power()), (vec![7], watts(1_000)), "at first none sleeps");
        assert_eq!(site.greatest_power(), watts(2_000));
        // Three that stay awake draw 91 W more each: 1112 W.
        site.power = "sleep-idle[reserve=3]".parse().unwrap();
        site.cap_power(Some(watts(1_475))).unwrap();
        assert_eq!(most(&site), [5]);
        // Of a policy that is not known here nothing is expected.
        site.power = Named::bare("mine");
        site.cap_power(Some(watts(1_475))).unwrap();
        assert_eq!(most(&site), [4], "475 W of 100 W each");
    }

    /// What is left of the cap, and what a processor needs, is told: also where machines that have fallen asleep could not wake up.
    #[test]
    fn what_is_too_little_is_told() {
        let mut site = site(vec![PartitionSpec::of(group(10, 1, 100, 200))]);
        let told = |site: &mut SiteSpec, cap| site.cap_power(Some(watts(cap))).unwrap_err().to_string();
        let words = "1090 W leave no power to jobs: the machines of site `delft` draw 1000 W without any (`any` has 90 W left, and a processor needs 100 W more)";
        assert!(told(&mut site, 1_090).starts_with(words), "{}", told(&mut site, 1_090));
        assert!(!told(&mut site, 900).contains("left"));
    }
}
