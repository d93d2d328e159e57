//! Resolves scripted events: machines and sites that go down, come up and slow down, and orders for jobs and reservations.

use super::Checker;
use crate::model::{
    BookAct, ChurnAct, JobAct, JobId, Machines, Order, PlannedChurn, PlannedOrder, ProcSet, SiteSpec,
};
use crate::scenario::keys::{EventKeys, SiteKeys};
use crate::scenario::kind::quantity::Quantity;
use crate::scenario::names::listed;
use crate::scenario::place::{Target, by_procs, by_time, class_by_class, fraction, target};
use crate::scenario::tree::Path;
use crate::units::{Rate, Span, Time};

/// The effect of an event.
enum Planned {
    /// An event of machines, with its target as it was written.
    Churn(ChurnAct, String),
    /// An order for a job or a reservation.
    Order(Order),
}

/// The state of a site's machines after the script so far.
struct ScriptedMachines {
    /// Since when the whole site is down.
    left: Option<Span>,
    /// When the whole site has come back last.
    site_back: Span,
    /// For each partition, the machines that are down, and since when (`None` for the beginning).
    down: Vec<Vec<(Option<Span>, ProcSet)>>,
    /// For each partition, the machines that have come by the script, and when.
    back: Vec<Vec<(Span, ProcSet)>>,
}

impl ScriptedMachines {
    fn of(site: &SiteSpec) -> Self {
        let down = site.partitions.iter().map(|partition| {
            let present = partition.machines() - partition.absent;
            let which = ProcSet::range(present, partition.machines());
            if partition.absent > 0 { vec![(None, which)] } else { Vec::new() }
        });
        let back = vec![Vec::new(); site.partitions.len()];
        Self { left: None, site_back: Span::ZERO, down: down.collect(), back }
    }

    /// What drains, and from when on, if this leaves after so much notice: not before the beginning, and not before it has come back.
    fn drains(&self, leave: &PlannedChurn, notice: Span) -> Vec<PlannedChurn> {
        let at = leave.at.since(Time::ZERO);
        let from = Span::from_micros(at.micros().saturating_sub(notice.micros()));
        let planned = |from: Span, act| PlannedChurn { at: Time::ZERO + from, act };
        match &leave.act {
            ChurnAct::LeaveSite => vec![planned(from.max(self.site_back), ChurnAct::DrainSite)],
            ChurnAct::Leave(machines) => {
                let mut rest = machines.which.clone();
                let mut drains = Vec::new();
                let later =
                    self.back[machines.partition.index()].iter().rev().filter(|(back, _)| *back > from);
                for (back, which) in later {
                    let own = rest.intersection(which);
                    rest.remove_all(&own);
                    drains.push((*back, own));
                }
                drains.push((from, rest));
                drains.reverse();
                let drains = drains.into_iter().filter(|(_, which)| !which.is_empty());
                let act = |which| ChurnAct::Drain(Machines { partition: machines.partition, which });
                drains.map(|(from, which)| planned(from, act(which))).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Checker<'_> {
    /// Gives each site its events, in order of time.
    pub(super) fn events(&mut self, written: &[EventKeys], keys_of: &[SiteKeys], sites: &mut [SiteSpec]) {
        let path = Path::default().key("event");
        let mut planned: Vec<(usize, usize, PlannedChurn, String)> = Vec::new();
        for (at, keys) in written.iter().enumerate() {
            let path = path.item(at);
            let time = Time::ZERO + keys.at;
            match self.event(&path, keys, (written, keys_of), sites) {
                Some((site, Planned::Churn(act, target))) => {
                    planned.push((at, site, PlannedChurn { at: time, act }, target));
                }
                Some((site, Planned::Order(order))) => {
                    sites[site].orders.push(PlannedOrder { at: time, order });
                }
                None => {}
            }
        }
        // The sort is stable: events of one instant keep the order in which they are written.
        sites.iter_mut().for_each(|site| site.orders.sort_by_key(|order| order.at));
        planned.sort_by_key(|(at, _, planned, _)| (planned.at, *at));
        let mut states: Vec<ScriptedMachines> = sites.iter().map(ScriptedMachines::of).collect();
        let mut drains = Vec::new();
        for (at, site, event, target) in planned {
            if let Some(notice) = written[at].notice.filter(|notice| !notice.is_zero()) {
                drains.extend(states[site].drains(&event, notice).into_iter().map(|drain| (site, drain)));
            }
            if let Err((key, message)) = states[site].follow(&event, &target) {
                self.wrong(&path.item(at).key(key), message);
            }
            sites[site].churn.script.push(event);
        }
        // They come after the other events of an instant: what has just come back drains.
        drains.into_iter().for_each(|(site, drain)| sites[site].churn.script.push(drain));
        sites.iter_mut().for_each(|site| site.churn.script.sort_by_key(|planned| planned.at));
    }

    /// The site of an event, and its effect.
    fn event(
        &mut self,
        path: &Path,
        keys: &EventKeys,
        (all, keys_of): (&[EventKeys], &[SiteKeys]),
        sites: &[SiteSpec],
    ) -> Option<(usize, Planned)> {
        let acts = [
            ("leave", &keys.leave),
            ("join", &keys.join),
            ("slow", &keys.slow),
            ("cancel", &keys.cancel),
            ("extend", &keys.extend),
            ("reduce", &keys.reduce),
            ("reserve", &keys.reserve),
            ("release", &keys.release),
        ];
        let given: Vec<_> = acts.iter().filter_map(|(key, value)| Some((*key, value.as_ref()?))).collect();
        let [(key, written)] = given.as_slice() else {
            let kinds = listed(acts.iter().map(|(key, _)| *key));
            return self.refuse(path, format!("an event has exactly one of {kinds}"));
        };
        let (site, target) = match target(written, sites) {
            Ok(found) => found,
            Err(message) => return self.refuse(&path.key(key), message),
        };
        self.only_what_is_used(path, keys, key);
        let act = match (*key, target) {
            ("leave", Target::Site) => ChurnAct::LeaveSite,
            ("leave", Target::Machines(machines)) => ChurnAct::Leave(machines),
            ("join", Target::Site) => ChurnAct::JoinSite,
            ("join", Target::Machines(machines)) => ChurnAct::Join(machines),
            ("slow", Target::Machines(machines)) => {
                ChurnAct::Slow { machines, factor: self.factor(path, keys.factor)? }
            }
            ("slow", Target::Site) => {
                let message = class_by_class(&sites[site]);
                return self.refuse(&path.key(key), message);
            }
            ("reserve", place) => {
                let has_jobs = keys_of.get(site).is_some_and(|keys| keys.workload.0.is_some());
                let wanted = self.reserve(path, keys, &sites[site], &place, has_jobs)?;
                return Some((site, Planned::Order(Order::Book(BookAct::Reserve(Box::new(wanted))))));
            }
            ("release", place) => {
                let own = sites[site].reservations.iter().map(|(_, booked)| booked.name.as_str());
                let of_site = |event: &&EventKeys| {
                    let name = event.reserve.as_deref().and_then(|at| at.split('/').next());
                    name.is_some_and(|name| name.trim() == sites[site].name)
                };
                let made = all.iter().filter(of_site).filter_map(|event| event.name.as_deref());
                let names: Vec<&str> = own.chain(made).collect();
                let act = self.release(path, keys, &sites[site], &place, &names)?;
                return Some((site, Planned::Order(Order::Book(act))));
            }
            (_, Target::Machines(_)) => {
                let name = &sites[site].name;
                let message = format!("give the site only, not a class or machines: `{key} = \"{name}\"`");
                return self.refuse(&path.key(key), message);
            }
            (_, Target::Site) => return self.order(path, keys, key).map(|order| (site, order)),
        };
        Some((site, Planned::Churn(act, (*written).clone())))
    }

    /// The change of a job by an event of this kind.
    fn order(&mut self, path: &Path, keys: &EventKeys, kind: &str) -> Option<Planned> {
        let extend = kind == "extend";
        let act = match (kind, keys.time, keys.procs) {
            ("cancel", ..) => Ok(JobAct::Cancel),
            (_, Some(by), None) => {
                by_time(extend, by).map(JobAct::Change).map_err(|message| (path.key("time"), message))
            }
            (_, None, Some(by)) => {
                by_procs(extend, by).map(JobAct::Change).map_err(|message| (path.key("procs"), message))
            }
            (_, Some(_), Some(_)) => {
                let message = "a command changes the `time` of a job or its `procs`; write an event for each";
                Err((path.key("procs"), message.to_owned()))
            }
            (_, None, None) => {
                let message = format!("`{kind}` needs an amount: `time = \"30 min\"` or `procs = 4`");
                Err((path.clone(), message))
            }
        };
        let act = act.map_err(|(path, message)| self.wrong(&path, message)).ok();
        if keys.job.is_none() {
            let message =
                format!("`{kind}` needs the number of a `job`, as in jobs.csv, such as `job = 412`");
            self.wrong(path, message);
        }
        Some(Planned::Order(Order::Job { job: JobId(keys.job?), act: act? }))
    }

    /// Refuses keys that belong to another kind of event.
    fn only_what_is_used(&mut self, path: &Path, keys: &EventKeys, kind: &str) {
        let changes: &[&str] = &["extend", "reduce"];
        let of_jobs: &[&str] = &["cancel", "extend", "reduce", "reserve"];
        let of_numbers: &[&str] = &["extend", "reduce", "reserve"];
        let of_bookings: &[&str] = &["reserve"];
        for (key, given, what, kinds) in [
            ("factor", keys.factor.is_some(), "a factor", &["slow"][..]),
            ("notice", keys.notice.is_some(), "a notice", &["leave"]),
            ("job", keys.job.is_some(), "a job", of_jobs),
            ("time", keys.time.is_some(), "a time", changes),
            ("procs", keys.procs.is_some(), "a number of processors", of_numbers),
            ("name", keys.name.is_some(), "the name of a reservation", &["reserve", "release"]),
            ("length", keys.length.is_some(), "the length of a reservation", of_bookings),
            ("from", keys.from.is_some(), "the start of a reservation", of_bookings),
            ("until", keys.until.is_some(), "the window of a reservation", of_bookings),
        ] {
            if given && !kinds.contains(&kind) {
                let kinds = listed(kinds.iter().copied());
                self.wrong(&path.key(key), format!("{what} is for {kinds}, not for `{kind}`"));
            }
        }
    }

    fn factor(&mut self, path: &Path, factor: Option<f64>) -> Option<Rate> {
        let Some(factor) = factor else {
            return self.refuse(path, "`slow` needs a `factor`, such as `factor = 0.5`; 1 is full speed");
        };
        fraction(factor).map_err(|message| self.wrong(&path.key("factor"), message)).ok()
    }
}

impl ScriptedMachines {
    /// Applies an event. An impossible one is an error with the key that caused it.
    fn follow(&mut self, event: &PlannedChurn, target: &str) -> Result<(), (&'static str, String)> {
        let now = event.at.since(Time::ZERO);
        match &event.act {
            ChurnAct::LeaveSite => {
                if let Some(since) = self.left {
                    return Err(("leave", format!("`{target}` is already down, since {}", since.text())));
                }
                self.left = Some(now);
            }
            ChurnAct::JoinSite => {
                if self.left.take().is_none() {
                    let problem = format!(
                        "`{target}` has not left; only a site that has left comes back (machines that are absent join by \
                         class, `{target}/class`)"
                    );
                    return Err(("join", problem));
                }
                self.site_back = now;
            }
            ChurnAct::Leave(machines) => {
                let down = &mut self.down[machines.partition.index()];
                if let Some((since, which)) =
                    down.iter().find(|(_, which)| !which.is_disjoint(&machines.which))
                {
                    let both = which.intersection(&machines.which);
                    let since = match since {
                        Some(since) => format!("already down, since {}", since.text()),
                        None => "absent at the beginning (`absent`), and no event lets them join".to_owned(),
                    };
                    return Err(("leave", format!("{} {since}", numbered(&both, target))));
                }
                down.push((Some(now), machines.which.clone()));
            }
            ChurnAct::Join(machines) => {
                let down = &mut self.down[machines.partition.index()];
                let mut missing = machines.which.clone();
                for (_, which) in down.iter_mut() {
                    missing.remove_all(which);
                    which.remove_all(&machines.which);
                }
                down.retain(|(_, which)| !which.is_empty());
                self.back[machines.partition.index()].push((now, machines.which.clone()));
                if let (Some(since), Some((site, _))) = (self.left, target.split_once('/'))
                    && !missing.is_empty()
                {
                    let problem = format!(
                        "{} down with its site, which left at {}; `join = \"{site}\"` brings the site back",
                        numbered(&missing, target),
                        since.text()
                    );
                    return Err(("join", problem));
                }
                if !missing.is_empty() {
                    return Err(("join", format!("{} already up", numbered(&missing, target))));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// `machine 3 of ... is`, `machines 0-15 of ... are`.
fn numbered(machines: &ProcSet, target: &str) -> String {
    let numbers = machines.to_string().replace(' ', ", ");
    match machines.len() {
        1 => format!("machine {numbers} of `{target}` is"),
        _ => format!("machines {numbers} of `{target}` are"),
    }
}
