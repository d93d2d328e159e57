//! The parameters of group optimization.

use super::schedule::Member;
use crate::local::policies::preemptive::Factor;
use crate::search::discrepancy::Strategy;
use crate::units::Span;

/// When jobs of a class form a group. The thresholds are inclusive.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// The least number of jobs.
    pub least: u32,
    /// The largest number of jobs: the first ones in the order of arrival.
    pub most: u32,
    /// The processors of all its jobs together, in machines.
    pub size: Factor,
    /// The work of all its jobs together over the processors of the machine, in run times of [`GroupLimits::runtime`].
    pub work: Factor,
    /// The typical run time of the class. A job that runs for so long can be long and wide.
    pub runtime: Span,
    /// The processors from which on a job can be long and wide, in machines.
    pub wide: Factor,
}

/// What a search leaves out.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum GroupBound {
    /// Nothing.
    None,
    /// Orders whose first jobs have as much slowdown as all jobs of the best order.
    #[default]
    Placed,
    /// Orders whose first jobs have as much, with the slowdown that the others have at least: if each were alone behind what runs.
    Least,
}

/// How one of the three orders with the least slowdown is chosen [Kanavallil 2007, section 6.4.4].
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum GroupChoice {
    /// In the order of their slowdown, one takes the place of another if its makespan is shorter than so many times the other's, its utilization
    /// above so many times, and its mean response time below so many times.
    #[default]
    Shorter,
    /// The same, but its makespan has to be *longer* than so many times the other's, as printed.
    Printed,
    /// The one with the least slowdown.
    Least,
}

/// Parameters of group optimisation. The defaults are those of the thesis's Table 4.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GroupOptions {
    /// Of medium and of long jobs.
    pub limits: [GroupLimits; 2],
    /// How many long and wide jobs there must be for the first level of the search, and how many there are at most.
    pub first: (u32, u32),
    /// The order in which orders are tried.
    pub search: Strategy,
    /// How many orders a search tries at most.
    pub orders: u64,
    /// How many jobs all searches of a group place at most; each completes one order in any case.
    pub nodes: u64,
    /// Orders with more discrepancies are not tried.
    pub discrepancies: u32,
    /// What is left out.
    pub bound: GroupBound,
    /// A job is moved into a hole if it runs for at most so many times as long as that; `None` if never.
    pub shift: Option<Factor>,
    /// Which of the three best orders is taken.
    pub choice: GroupChoice,
    /// The factors of makespan, utilization and response time for that.
    pub factors: [Factor; 3],
    /// By how much utilization may drop from the end of one job to the next without that the group is over.
    pub drop: Factor,
    /// Above which utilization it may drop by more.
    pub utilization: Factor,
    /// Slowdowns are over at least this run time.
    pub bounded: Span,
    /// Whether there is a second level of the search: of all jobs of the group.
    pub second: bool,
    /// Whether the long and wide jobs keep the places that the first level gave them.
    pub fixed: bool,
    /// Whether a job that arrives within the slice of a group is tried before others that wait.
    pub dynamic: bool,
    /// Whether jobs of a plan may start before those in front of them that do not fit.
    pub backfills: bool,
    /// From how many times the planned slowdown on the jobs that are left of a group are searched again; `None` if never.
    pub again: Option<Factor>,
    /// How long a node takes.
    pub per_node: Span,
}

impl Default for GroupOptions {
    fn default() -> Self {
        let limits = |least, most, size, work, runtime, wide| GroupLimits {
            least,
            most,
            size: Factor::millionths(size),
            work: Factor::whole(work),
            runtime: Span::from_secs(runtime),
            wide: Factor::millionths(wide),
        };
        Self {
            limits: [
                limits(10, 20, 1_500_000, 2, 800, 100_000),
                limits(5, 30, 2_000_000, 1, 15_000, 250_000),
            ],
            first: (4, 6),
            search: Strategy::DepthFirst,
            orders: 10_000,
            nodes: 1_000_000,
            discrepancies: u32::MAX,
            bound: GroupBound::Placed,
            shift: Some(Factor::millionths(1_500_000)),
            choice: GroupChoice::Shorter,
            factors: [1_100_000, 950_000, 1_100_000].map(Factor::millionths),
            drop: Factor::millionths(50_000),
            utilization: Factor::millionths(700_000),
            bounded: Span::from_secs(600),
            second: true,
            fixed: false,
            dynamic: true,
            backfills: true,
            again: None,
            per_node: Span::ZERO,
        }
    }
}

impl GroupLimits {
    /// Whether these jobs are enough for a group on so many processors.
    pub(in crate::local::policies::scojo_pect) fn form(&self, members: &[Member], capacity: u32) -> bool {
        let one = u128::from(Factor::ONE);
        let machine = u128::from(capacity);
        let size: u128 = members.iter().map(|member| u128::from(member.procs)).sum();
        let work: u128 =
            members.iter().map(|member| u128::from(member.procs) * u128::from(member.left.micros())).sum();
        let typical = machine * u128::from(self.runtime.micros());
        members.len() >= self.least as usize
            && size * one >= machine * u128::from(self.size.as_millionths())
            && work.saturating_mul(one) >= typical.saturating_mul(u128::from(self.work.as_millionths()))
    }

    /// Whether a job is long and wide.
    pub(super) fn is_wide(&self, member: &Member, capacity: u32) -> bool {
        let (procs, machine) = (u128::from(member.procs), u128::from(capacity));
        procs * u128::from(Factor::ONE) >= machine * u128::from(self.wide.as_millionths())
            && member.left >= self.runtime
    }
}
