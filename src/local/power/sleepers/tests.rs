//! Sleepers against a twin that knows the state of each machine.

use proptest::prelude::*;

use super::*;
use crate::model::MachineGroup;
use crate::units::Power;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Mode {
    /// May sleep from this time on, if it is not in use.
    Awake(Option<Time>),
    /// Has been idle for long enough.
    Ready,
    Asleep,
    Waking(Time),
    Falling(Time),
}

#[derive(Clone, Debug)]
struct Machine {
    /// Its usable processors that are in use.
    used: Vec<u32>,
    /// Those that are neither free nor in use.
    withheld: Vec<u32>,
    mode: Mode,
    up: bool,
}

type Terms = Vec<Option<(SleepSpec, SleepRule)>>;

/// One machine after the other.
struct Twin {
    spec: PartitionSpec,
    terms: Terms,
    /// The last states that groups had.
    states: Vec<Option<SleepSpec>>,
    machines: Vec<Machine>,
    changes: Vec<(MachineState, Vec<u32>)>,
}

impl Twin {
    fn new(spec: &PartitionSpec, terms: Terms, now: Time) -> Self {
        let machine = Machine { used: Vec::new(), withheld: Vec::new(), mode: Mode::Awake(None), up: true };
        let machines = vec![machine; spec.machines() as usize];
        let states = vec![None; spec.groups.len()];
        let mut twin =
            Self { spec: spec.clone(), terms: Terms::new(), states, machines, changes: Vec::new() };
        twin.follow(terms);
        (0..twin.machines.len()).for_each(|at| twin.machines[at].mode = Mode::Awake(twin.due(at, now)));
        twin
    }

    fn follow(&mut self, terms: Terms) {
        for (state, terms) in self.states.iter_mut().zip(&terms) {
            *state = terms.map(|(state, _)| state).or(*state);
        }
        self.terms = terms;
    }

    fn group(&self, at: usize) -> usize {
        let numbered = self.spec.numbered();
        numbered.map(|(machines, _)| machines).position(|machines| machines.contains(&(at as u32))).unwrap()
    }

    fn state(&self, at: usize) -> SleepSpec {
        self.states[self.group(at)].unwrap()
    }

    fn due(&self, at: usize, now: Time) -> Option<Time> {
        self.terms[self.group(at)].and_then(|(_, rule)| now.checked_add(rule.after))
    }

    /// Its usable processors.
    fn processors(&self, at: usize) -> Vec<u32> {
        let first = at as u32 * self.spec.cores;
        (first..(first + self.spec.cores).min(self.spec.usable())).collect()
    }

    /// Up, never a rest that is not given, and not in use.
    fn unused(&self, at: usize) -> bool {
        self.machines[at].up && self.machines[at].used.is_empty() && !self.processors(at).is_empty()
    }

    fn all(&self) -> std::ops::Range<usize> {
        0..self.machines.len()
    }

    fn those(&self, is: impl Fn(usize) -> bool) -> Vec<usize> {
        self.all().filter(|at| is(*at)).collect()
    }

    fn wake(&mut self, machines: &[usize], now: Time) {
        for at in machines {
            self.machines[*at].mode = Mode::Waking(now + self.state(*at).wake);
        }
        self.note(MachineState::Waking, machines);
    }

    fn note(&mut self, state: MachineState, machines: &[usize]) {
        if !machines.is_empty() {
            self.changes.push((state, machines.iter().map(|at| *at as u32).collect()));
        }
    }

    fn take(&mut self, procs: &[u32], now: Time) {
        let mut woken = Vec::new();
        for proc in procs {
            let at = (proc / self.spec.cores) as usize;
            if self.machines[at].used.is_empty() && self.machines[at].mode == Mode::Asleep {
                woken.push(at);
            }
            self.machines[at].used.push(*proc);
        }
        self.wake(&woken, now);
    }

    fn give(&mut self, procs: &[u32], now: Time) {
        for proc in procs {
            let at = (proc / self.spec.cores) as usize;
            self.machines[at].used.retain(|used| used != proc);
            if self.unused(at) && self.is_awake(at) {
                self.machines[at].mode = Mode::Awake(self.due(at, now));
            }
        }
    }

    fn withhold(&mut self, procs: &[u32]) {
        for proc in procs {
            self.machines[(proc / self.spec.cores) as usize].withheld.push(*proc);
        }
    }

    fn leave(&mut self, machine: usize) {
        self.machines[machine].used.clear();
        self.machines[machine].withheld.clear();
        (self.machines[machine].up, self.machines[machine].mode) = (false, Mode::Awake(None));
    }

    fn join(&mut self, machine: usize, now: Time) {
        self.machines[machine].up = true;
        self.machines[machine].mode = Mode::Awake(self.due(machine, now));
    }

    fn change(&mut self, terms: Terms, now: Time) {
        self.follow(terms);
        for at in self.those(|at| self.unused(at)) {
            if self.machines[at].mode == Mode::Awake(None) {
                self.machines[at].mode = Mode::Ready;
            }
        }
        self.balance(now);
    }

    fn is_awake(&self, at: usize) -> bool {
        matches!(self.machines[at].mode, Mode::Awake(_) | Mode::Ready)
    }

    fn next(&self) -> Option<Time> {
        let time = |at: usize| match self.machines[at].mode {
            Mode::Awake(due) if self.unused(at) => due,
            Mode::Waking(until) | Mode::Falling(until) => Some(until),
            _ => None,
        };
        self.all().filter_map(time).min()
    }

    fn go_on(&mut self, now: Time) {
        let at_times = |of: fn(Mode) -> Option<Time>, machines: &[Machine]| {
            let mut found: BTreeMap<Time, Vec<usize>> = BTreeMap::new();
            for (at, machine) in machines.iter().enumerate() {
                if let Some(until) = of(machine.mode).filter(|until| *until <= now) {
                    found.entry(until).or_default().push(at);
                }
            }
            found.into_values()
        };
        let falls = |mode| if let Mode::Falling(until) = mode { Some(until) } else { None };
        for fallen in at_times(falls, &self.machines) {
            fallen.iter().for_each(|at| self.machines[*at].mode = Mode::Asleep);
            self.note(MachineState::Asleep, &fallen);
            let needed: Vec<usize> = fallen.into_iter().filter(|at| !self.unused(*at)).collect();
            self.wake(&needed, now);
        }
        let wakes = |mode| if let Mode::Waking(until) = mode { Some(until) } else { None };
        for awake in at_times(wakes, &self.machines) {
            awake.iter().for_each(|at| self.machines[*at].mode = Mode::Awake(self.due(*at, now)));
            self.note(MachineState::Idle, &awake);
        }
        for at in self.those(|at| self.unused(at)) {
            if matches!(self.machines[at].mode, Mode::Awake(Some(due)) if due <= now) {
                self.machines[at].mode = Mode::Ready;
            }
        }
    }

    fn balance(&mut self, now: Time) {
        let reserve = self.terms.iter().flatten().map(|(_, rule)| rule.reserve).max().unwrap_or(u32::MAX);
        let mut idle = self.those(|at| self.unused(at) && self.is_awake(at)).len() as u32;
        let mut fallen = Vec::new();
        for at in self.all().rev() {
            let may = self.machines[at].mode == Mode::Ready;
            let ever = self.terms[self.group(at)].is_some_and(|(_, rule)| rule.after < Span::MAX);
            if idle > reserve && self.unused(at) && may && ever {
                self.machines[at].mode = Mode::Falling(now + self.state(at).fall);
                fallen.insert(0, at);
                idle -= 1;
            }
        }
        self.note(MachineState::Falling, &fallen);
        let wakes = |at| self.unused(at) && matches!(self.machines[at].mode, Mode::Waking(_));
        let lacking = reserve.saturating_sub(idle + self.those(wakes).len() as u32);
        let asleep = self.those(|at| self.machines[at].mode == Mode::Asleep);
        let woken: Vec<usize> = asleep.into_iter().take(lacking as usize).collect();
        self.wake(&woken, now);
    }

    fn awake_at(&self, procs: &[u32], now: Time) -> Option<Time> {
        let awake = |proc: &u32| {
            let at = (*proc / self.spec.cores) as usize;
            match self.machines[at].mode {
                Mode::Awake(_) | Mode::Ready => None,
                Mode::Asleep => Some(now + self.state(at).wake),
                Mode::Waking(until) => Some(until.max(now)),
                Mode::Falling(until) => Some((until + self.state(at).wake).max(now)),
            }
        };
        procs.iter().filter_map(awake).max()
    }

    fn is_away(&self, proc: u32) -> bool {
        !self.is_awake((proc / self.spec.cores) as usize)
    }

    fn free(&self) -> Vec<u32> {
        let free = |at: usize| {
            let machine = &self.machines[at];
            self.processors(at)
                .into_iter()
                .filter(|proc| machine.up && !machine.used.contains(proc) && !machine.withheld.contains(proc))
        };
        self.all().flat_map(free).collect()
    }
}

fn sleep() -> impl Strategy<Value = SleepSpec> {
    (0_u64..40, 0_u64..20).prop_map(|(wake, fall)| SleepSpec {
        asleep: Power::ZERO,
        wake: Span::from_secs(wake),
        waking: Power::ZERO,
        fall: Span::from_secs(fall),
        falling: Power::ZERO,
    })
}

fn terms() -> impl Strategy<Value = Terms> {
    let after = prop_oneof![4 => (0_u64..60).prop_map(Span::from_secs), 1 => Just(Span::MAX)];
    let one = (sleep(), after, prop_oneof![3 => Just(0_u32), 2 => 0_u32..4]);
    let one = one.prop_map(|(state, after, reserve)| (state, SleepRule { after, reserve }));
    proptest::collection::vec(proptest::option::weighted(0.8, one), 3)
}

#[derive(Clone, Debug)]
enum Act {
    /// A job gets so many of the free processors, from this one of them on.
    Take(usize, usize),
    /// A job gives back what it has.
    Give(usize),
    /// The same, but nobody else may have it.
    Release(usize),
    /// So many of the free processors are not free any more.
    Withhold(usize, usize),
    /// All that is neither free nor in use is free again.
    Allow,
    Leave(usize),
    Join(usize),
    Change(Terms),
    Pass(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (any::<usize>(), 1_usize..40).prop_map(|(from, count)| Act::Take(from, count)),
        5 => any::<usize>().prop_map(Act::Give),
        1 => any::<usize>().prop_map(Act::Release),
        1 => (any::<usize>(), 1_usize..20).prop_map(|(from, count)| Act::Withhold(from, count)),
        2 => Just(Act::Allow),
        1 => any::<usize>().prop_map(Act::Leave),
        1 => any::<usize>().prop_map(Act::Join),
        1 => terms().prop_map(Act::Change),
        8 => (0_u64..40).prop_map(Act::Pass),
    ]
}

/// What is the same in both at any time.
fn compare(real: &mut Sleepers, twin: &mut Twin, now: Time) -> Result<(), TestCaseError> {
    let told = real.changes().into_iter().map(|change| (change.state, change.machines.iter().collect()));
    let told: Vec<(MachineState, Vec<u32>)> = told.collect();
    prop_assert_eq!(&told, &std::mem::take(&mut twin.changes));
    prop_assert_eq!(real.next(), twin.next());
    let free = twin.free();
    let dormant: Vec<u32> = free.iter().copied().filter(|proc| twin.is_away(*proc)).collect();
    let (set, count) = real.dormant();
    prop_assert_eq!(count as usize, dormant.len());
    prop_assert_eq!(set, &dormant.iter().copied().collect::<ProcSet>());
    let all = 0..twin.spec.usable();
    let away: ProcSet = all.clone().filter(|proc| twin.is_away(*proc)).collect();
    prop_assert_eq!(&real.not_awake(&all.collect()), &away);
    for part in free.chunks(7) {
        prop_assert_eq!(real.awake_at(&part.iter().copied().collect(), now), twin.awake_at(part, now));
    }
    for (group, (machines, _)) in twin.spec.numbered().enumerate() {
        let mut count = Counts::default();
        for at in machines {
            match twin.machines[at as usize].mode {
                Mode::Awake(_) | Mode::Ready => {}
                Mode::Asleep => count.asleep += 1,
                Mode::Waking(_) => count.waking += 1,
                Mode::Falling(_) => count.falling += 1,
            }
        }
        prop_assert_eq!(real.groups[group].count, count);
    }
    Ok(())
}

proptest! {
    #[test]
    fn as_if_each_machine_were_looked_at(
        sizes in proptest::collection::vec(1_u32..90, 1..4), cores in prop_oneof![Just(1_u32), 2_u32..6],
        unit in 1_u32..5, first in terms(), acts in proptest::collection::vec(act(), 1..60),
    ) {
        let groups: Vec<MachineGroup> = sizes.iter().map(|count| MachineGroup::plain("any", *count)).collect();
        let spec = PartitionSpec { groups, cores, allocation_unit: unit, ..PartitionSpec::plain(1) };
        prop_assume!(spec.usable() > 0);
        let of = |terms: &Terms| terms[..spec.groups.len()].to_vec();
        let mut now = Time::from_secs(5);
        let mut real = Sleepers::of(&spec, &of(&first), now);
        let mut twin = Twin::new(&spec, of(&first), now);
        let mut jobs: Vec<Vec<u32>> = Vec::new();
        for act in acts {
            match act {
                Act::Take(from, count) => {
                    let free = twin.free();
                    if !free.is_empty() {
                        let from = from % free.len();
                        let procs = free[from..(from + count).min(free.len())].to_vec();
                        real.take(&procs.iter().copied().collect(), now);
                        twin.take(&procs, now);
                        jobs.push(procs);
                    }
                }
                Act::Give(which) if !jobs.is_empty() => {
                    let procs = jobs.swap_remove(which % jobs.len());
                    real.give(&procs.iter().copied().collect(), now);
                    twin.give(&procs, now);
                }
                Act::Release(which) if !jobs.is_empty() => {
                    let procs = jobs.swap_remove(which % jobs.len());
                    real.release(&procs.iter().copied().collect(), now);
                    twin.give(&procs, now);
                    twin.withhold(&procs);
                }
                Act::Withhold(from, count) => {
                    let free = twin.free();
                    if !free.is_empty() {
                        let from = from % free.len();
                        let procs = &free[from..(from + count).min(free.len())];
                        real.withhold(&procs.iter().copied().collect());
                        twin.withhold(procs);
                    }
                }
                Act::Allow => {
                    let all = twin.machines.iter_mut().flat_map(|machine| std::mem::take(&mut machine.withheld));
                    real.allow(&all.collect());
                }
                Act::Leave(at) => {
                    let at = at % twin.machines.len();
                    if twin.machines[at].up {
                        let own = twin.processors(at);
                        jobs.iter_mut().for_each(|job| job.retain(|proc| !own.contains(proc)));
                        jobs.retain(|job| !job.is_empty());
                        real.leave(&ProcSet::range(at as u32, at as u32 + 1));
                        twin.leave(at);
                    }
                }
                Act::Join(at) => {
                    let at = at % twin.machines.len();
                    if !twin.machines[at].up {
                        real.give(&twin.processors(at).into_iter().collect(), now);
                        twin.join(at, now);
                    }
                }
                Act::Change(terms) => {
                    real.change(&of(&terms));
                    real.balance(now, None, |_, machines| machines);
                    twin.change(of(&terms), now);
                }
                Act::Pass(secs) => {
                    let end = now + Span::from_secs(secs);
                    while let Some(next) = real.next().filter(|next| *next <= end) {
                        now = now.max(next);
                        real.go_on(now);
                        twin.go_on(now);
                        // What follows at once is due at this instant too.
                        if real.next().is_none_or(|next| next > now) {
                            real.balance(now, None, |_, machines| machines);
                            twin.balance(now);
                        }
                        compare(&mut real, &mut twin, now)?;
                    }
                    now = end;
                }
                Act::Give(_) | Act::Release(_) => {}
            }
            compare(&mut real, &mut twin, now)?;
        }
    }
}

/// The rest of an incomplete allocation block: its machine fails, comes back, and stays awake.
#[test]
fn what_is_never_given_never_sleeps() {
    for cores in [1, 2] {
        let groups = vec![MachineGroup::plain("any", 4)];
        let spec = PartitionSpec { groups, cores, allocation_unit: 3 * cores, ..PartitionSpec::plain(1) };
        let span = Span::from_secs;
        let state = SleepSpec {
            asleep: Power::ZERO,
            wake: span(10),
            waking: Power::ZERO,
            fall: span(5),
            falling: Power::ZERO,
        };
        let terms = |after| vec![Some((state, SleepRule { after, reserve: 0 }))];
        let mut sleepers = Sleepers::of(&spec, &terms(span(60)), Time::ZERO);
        sleepers.leave(&ProcSet::range(3, 4));
        sleepers.give(&ProcSet::new(), Time::from_secs(1));
        // The others sleep when they would have before.
        sleepers.change(&terms(Span::ZERO));
        sleepers.balance(Time::from_secs(2), None, |_, machines| machines);
        assert_eq!(sleepers.changes(), []);
        sleepers.go_on(Time::from_secs(60));
        sleepers.balance(Time::from_secs(60), None, |_, machines| machines);
        let fallen = Transition { machines: ProcSet::range(0, 3), state: MachineState::Falling };
        assert_eq!(sleepers.changes(), [fallen]);
        sleepers.leave(&ProcSet::range(3, 4));
        sleepers.take(&ProcSet::full(3 * cores), Time::from_secs(61));
        sleepers.go_on(Time::from_secs(65));
        sleepers.go_on(Time::from_secs(75));
        assert!(sleepers.counts().all(|(_, counts, _)| counts == Counts::default()));
    }
}
