//! Churn of a site: machines that go down and come up at random, by script, or by command, and that drain before.

use serde::{Deserialize, Serialize};

use super::Site;
use crate::entity::{Address, EntityError, Outbox, Stamp, ToNetwork, ToSite};
use crate::local::Step;
use crate::model::{ChurnAct, EventCause, Machines, PlannedChurn, ProcSet, SiteSpec};
use crate::platform::{
    GroupOutages, GroupOutagesSave, Outages, OutagesSave, Presence, Reason, TracedOutages, TracedSave, Turn,
};
use crate::units::{Rate, Time};

/// Which machines are down and why, and which go down or come up next.
#[derive(Debug)]
pub(super) struct Churn {
    /// The random outages, by partition; `None` where there are none.
    outages: Vec<Option<Outages>>,
    /// Those of a trace, by partition; `None` where there are none.
    traced: Vec<Option<TracedOutages>>,
    /// Failures of groups, by partition; `None` where there are none.
    groups: Vec<Option<GroupOutages>>,
    presence: Vec<Presence>,
    /// The number of acts of the script that have been carried out.
    played: usize,
    /// Whether the site takes grid jobs.
    open: bool,
    /// Whether the whole site drains: it takes no grid jobs either.
    closing: bool,
    /// Whether it does so only by the description under which it was restored.
    closes_anew: bool,
    /// What commands did to drains, by partition.
    commanded: Vec<Commanded>,
    /// When the site comes back by script, or came back last; follows from what has been carried out.
    back: Option<Time>,
}

/// What commands did to the drains of a partition: a fork of a run keeps that, whatever its script says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Commanded {
    /// Machines that drain by command.
    draining: ProcSet,
    /// Machines that left or came by command: what a script has announced before holds for them no more.
    staying: ProcSet,
    /// Whether the last that the whole site did was by command.
    site: bool,
}

impl Commanded {
    /// Machines begin to drain.
    fn drain(&mut self, machines: &ProcSet, cause: EventCause) {
        self.staying.remove_all(machines);
        if cause == EventCause::Command {
            self.draining.insert_all(machines);
        }
    }

    /// Machines leave or come.
    fn change(&mut self, machines: &ProcSet, cause: EventCause) {
        self.draining.remove_all(machines);
        if cause == EventCause::Command {
            self.staying.insert_all(machines);
        } else {
            self.staying.remove_all(machines);
        }
    }
}

/// The churn of a site in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChurnSave {
    outages: Vec<Option<OutagesSave>>,
    traced: Vec<Option<TracedSave>>,
    groups: Vec<Option<GroupOutagesSave>>,
    presence: Vec<Presence>,
    played: usize,
    open: bool,
    closing: bool,
    commanded: Vec<Commanded>,
}

impl Churn {
    /// The churn at the beginning of a run with this seed.
    pub(super) fn new(spec: &SiteSpec, seed: u64) -> Self {
        let outages = spec.partitions.iter().map(|part| {
            let random = spec.churn.random.as_ref()?;
            let outages = Outages::new(seed, &spec.name, &part.name, part.machines(), random);
            Some(outages.with_notice(spec.churn.notice))
        });
        let outages: Vec<Option<Outages>> = outages.collect();
        let follow = spec.churn.traced.as_ref();
        let follows = |at: usize| Some(TracedOutages::new(follow?, at).with_notice(spec.churn.notice));
        let traced = (0..spec.partitions.len()).map(follows);
        let traced: Vec<Option<TracedOutages>> = traced.collect();
        let groups = spec.partitions.iter().map(|part| {
            let groups = spec.churn.groups.as_ref()?;
            Some(GroupOutages::new(seed, &spec.name, &part.name, part.machines(), groups))
        });
        let groups = groups.collect();
        let presence = spec.partitions.iter().zip(&outages).zip(&traced).map(|((part, outages), traced)| {
            let mut presence = Presence::new(part.machines(), part.absent);
            let random = outages.as_ref().map(|outages| (outages.down(), Reason::Chance));
            let traced = traced.as_ref().map(|outages| (outages.down(), Reason::Trace));
            for (down, why) in random.into_iter().chain(traced) {
                presence.leave(&down, why);
            }
            presence
        });
        Self {
            presence: presence.collect(),
            outages,
            traced,
            groups,
            played: 0,
            open: true,
            closing: false,
            closes_anew: false,
            commanded: vec![Commanded::default(); spec.partitions.len()],
            back: None,
        }
    }

    /// Machines of a partition that are down.
    pub(super) fn down(&self, partition: usize) -> ProcSet {
        self.presence[partition].down()
    }

    /// When the next machine goes down or comes up.
    pub(super) fn next(&self, spec: &SiteSpec) -> Option<Time> {
        let chance = self.outages.iter().flatten().filter_map(Outages::next);
        let trace = self.traced.iter().flatten().filter_map(TracedOutages::next);
        let groups = self.groups.iter().flatten().filter_map(GroupOutages::next);
        let script = spec.churn.script.get(self.played).map(|act| act.at);
        chance.chain(groups).chain(trace).chain(script).min()
    }

    /// The machines of a partition that come or leave up to and including `now` for this reason, if any may.
    fn due(&mut self, partition: usize, why: Reason, now: Time) -> Vec<(u32, Turn)> {
        let groups = &mut self.groups[partition];
        match (why, &mut self.outages[partition], &mut self.traced[partition]) {
            (Reason::Chance, Some(outages), _) if outages.next().is_some_and(|next| next <= now) => {
                outages.due(now)
            }
            (Reason::Trace, _, Some(outages)) if outages.next().is_some_and(|next| next <= now) => {
                outages.due(now)
            }
            (Reason::Group, ..) => groups.as_mut().map(|groups| groups.due(now)).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// The machines of a partition that begin to drain up to and including `now` for this reason.
    fn draining(&mut self, partition: usize, why: Reason, now: Time) -> ProcSet {
        let draining = match why {
            Reason::Chance => self.outages[partition].as_mut().map(|outages| outages.draining(now)),
            Reason::Trace => self.traced[partition].as_mut().map(|outages| outages.draining(now)),
            Reason::Group => self.groups[partition].as_mut().map(|groups| groups.draining(now)),
            _ => None,
        };
        draining.unwrap_or_default()
    }

    /// When the site comes back by script, or came back last.
    pub(super) fn back(&self) -> Option<Time> {
        self.back
    }

    /// Under another script: what drains by this one drains, and nothing else does by a script. What commands did stays.
    fn adopt_drains(&mut self, spec: &SiteSpec) {
        let past = &spec.churn.script[..self.played];
        for (at, (presence, part)) in self.presence.iter_mut().zip(&spec.partitions).enumerate() {
            let mut away = ProcSet::range(part.machines().saturating_sub(part.absent), part.machines());
            let mut draining = ProcSet::new();
            for planned in past {
                match &planned.act {
                    ChurnAct::Drain(machines) if machines.partition.index() == at => {
                        draining.insert_all(&machines.which.difference(&away));
                    }
                    ChurnAct::Leave(machines) if machines.partition.index() == at => {
                        draining.remove_all(&machines.which);
                        away.insert_all(&machines.which);
                    }
                    ChurnAct::Join(machines) if machines.partition.index() == at => {
                        draining.remove_all(&machines.which);
                        away.remove_all(&machines.which);
                    }
                    _ => {}
                }
            }
            let Commanded { draining: commanded, staying, .. } = &self.commanded[at];
            let mut over = presence.draining_for(Reason::Script).difference(&draining);
            over.remove_all(commanded);
            presence.stay(&over, Reason::Script);
            presence.drain(&draining.difference(staying), Reason::Script);
        }
        let of_site =
            |act: &&ChurnAct| matches!(act, ChurnAct::LeaveSite | ChurnAct::JoinSite | ChurnAct::DrainSite);
        let last = past.iter().rev().map(|planned| &planned.act).find(of_site);
        if self.commanded.iter().all(|own| !own.site) {
            self.closing = self.open && last == Some(&ChurnAct::DrainSite);
        }
        for presence in &mut self.presence {
            let all = ProcSet::full(presence.machines());
            if self.closing {
                presence.drain(&all, Reason::Site);
            } else {
                presence.stay(&all, Reason::Site);
            }
        }
    }

    /// Notes when that is, once the site has left or is back.
    fn look_back(&mut self, spec: &SiteSpec) {
        let (past, coming) = spec.churn.script.split_at(self.played.min(spec.churn.script.len()));
        let joins = |planned: &&PlannedChurn| planned.act == ChurnAct::JoinSite;
        let back = if self.open { past.iter().rev().find(joins) } else { coming.iter().find(joins) };
        self.back = back.map(|planned| planned.at);
    }

    pub(super) fn save(&self) -> ChurnSave {
        ChurnSave {
            outages: self.outages.iter().map(|outages| outages.as_ref().map(Outages::save)).collect(),
            traced: self.traced.iter().map(|outages| outages.as_ref().map(TracedOutages::save)).collect(),
            groups: self.groups.iter().map(|groups| groups.as_ref().map(GroupOutages::save)).collect(),
            presence: self.presence.clone(),
            played: self.played,
            open: self.open,
            closing: self.closing,
            commanded: self.commanded.clone(),
        }
    }

    /// Restores a state. With `adopt`, the present description of churn applies from this moment on: random outages of machines
    /// begin, or stop when the machines are back, machines become what a trace says, and of the script only the acts from now on are
    /// carried out.
    pub(super) fn restore(
        &mut self,
        saved: ChurnSave,
        spec: &SiteSpec,
        adopt: Option<Stamp>,
    ) -> Result<(), String> {
        if saved.presence.len() != self.presence.len() {
            return Err("it was saved with another number of partitions".to_owned());
        }
        self.presence = saved.presence;
        let all = self.outages.iter_mut().zip(saved.outages).zip(&spec.partitions).zip(&mut self.presence);
        for (((outages, saved), part), presence) in all {
            match (&mut *outages, saved, adopt) {
                (Some(outages), Some(saved), _) => {
                    let draining = presence.draining_for(Reason::Chance);
                    outages.restore(saved, draining).map_err(|error| error.to_string())?;
                    if let Some(now) = adopt {
                        outages.go_on_at(now.time, draining);
                    }
                }
                (Some(outages), None, Some(now)) => outages.begin_at(now.time),
                (Some(_), None, None) => {
                    return Err("it was saved without random outages".to_owned());
                }
                (None, Some(saved), _) => {
                    *outages =
                        Some(Outages::ceasing(part.machines(), saved).map_err(|error| error.to_string())?);
                    presence.stay(&ProcSet::full(part.machines()), Reason::Chance);
                }
                (None, None, _) => {}
            }
        }
        for ((outages, presence), saved) in self.traced.iter_mut().zip(&mut self.presence).zip(saved.traced) {
            let down = presence.kept(Reason::Trace).clone();
            match (&mut *outages, saved, adopt) {
                (Some(outages), saved, Some(now)) => {
                    if saved.is_none_or(|saved| !outages.follows_the_same(&saved)) {
                        presence.stay(&ProcSet::full(presence.machines()), Reason::Trace);
                    }
                    outages.go_on_at(now.time, &down, presence.draining_for(Reason::Trace));
                }
                (Some(outages), Some(saved), None) => {
                    let draining = presence.draining_for(Reason::Trace);
                    outages.restore(&saved, draining).map_err(|error| error.to_string())?;
                }
                (Some(_), None, None) => return Err("it was saved without a failure trace".to_owned()),
                (None, Some(saved), adopt) => {
                    let now = adopt.map_or(saved.until(), |now| now.time);
                    *outages = Some(TracedOutages::ceasing(&down, now));
                    presence.stay(&ProcSet::full(presence.machines()), Reason::Trace);
                }
                (None, None, _) => {}
            }
        }
        let all = self.groups.iter_mut().zip(saved.groups).zip(&spec.partitions).zip(&mut self.presence);
        for (((groups, saved), part), presence) in all {
            let at = adopt.map_or(Time::ZERO, |now| now.time);
            match (&mut *groups, saved, adopt) {
                (Some(groups), Some(saved), _) => groups.restore(saved, at),
                (Some(groups), None, Some(now)) => groups.begin_at(now.time),
                (Some(_), None, None) => return Err("it was saved without failures of groups".to_owned()),
                (None, Some(saved), _) => *groups = Some(GroupOutages::ceasing(part.machines(), saved, at)),
                (None, None, _) => {}
            }
            if let (Some(groups), Some(_)) = (groups, adopt) {
                let called_off = presence.draining_for(Reason::Group).difference(&groups.coming());
                presence.stay(&called_off, Reason::Group);
            }
        }
        (self.played, self.open, self.closing) = (saved.played, saved.open, saved.closing);
        self.commanded = saved.commanded;
        if let Some(now) = adopt {
            self.played = spec.churn.script.partition_point(|act| Stamp::at(act.at) < now);
            self.adopt_drains(spec);
            self.closes_anew = self.closing && !saved.closing;
        } else if self.played > spec.churn.script.len() {
            return Err("it was saved with more scripted events".to_owned());
        }
        self.look_back(spec);
        Ok(())
    }
}

/// A change of machines, as it is applied to a partition.
enum MachineChange {
    Leave,
    Join,
    Slow(Rate),
}

/// The reasons for which machines drain, the cause of which is an event of the site's own.
const CAUSES: [(Reason, EventCause); 5] = [
    (Reason::Chance, EventCause::Chance),
    (Reason::Group, EventCause::Group),
    (Reason::Trace, EventCause::Trace),
    (Reason::Script, EventCause::Script),
    (Reason::Site, EventCause::Script),
];

impl Site {
    /// Whether the site takes grid jobs.
    pub(super) fn is_open(&self) -> bool {
        self.churn.open
    }

    /// Whether the whole site drains, so that it takes no grid jobs.
    pub(super) fn is_closing(&self) -> bool {
        self.churn.closing
    }

    /// Handles the churn of this moment: random outages first, of single machines and of groups, those of a trace, then the script, then commands.
    pub(super) fn churn_due(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        if !self.causes.churn_pending && self.mail.due().is_none_or(|due| due > now) {
            return Ok(());
        }
        let (time, was_open) = (now.time, self.is_reachable(now.time));
        self.faults_due(now, outbox)?;
        for at in 0..self.partitions.len() {
            for (why, cause) in [
                (Reason::Chance, EventCause::Chance),
                (Reason::Group, EventCause::Group),
                (Reason::Trace, EventCause::Trace),
            ] {
                let turns = self.churn.due(at, why, time);
                let draining = self.churn.draining(at, why, time);
                if turns.is_empty() && draining.is_empty() {
                    continue;
                }
                let (mut down, mut up) = (ProcSet::new(), ProcSet::new());
                for (machine, turn) in turns {
                    match turn {
                        Turn::Down => down.insert(machine),
                        Turn::Up => up.insert(machine),
                    }
                }
                let presence = &mut self.churn.presence[at];
                let (up, down) = (presence.join(&up, why), presence.leave(&down, why));
                presence.drain(&draining, why);
                self.change(at, &up, MachineChange::Join, cause, time, outbox)?;
                self.change(at, &down, MachineChange::Leave, cause, time, outbox)?;
                self.follow_drains(at, &up, cause, time, outbox);
            }
        }
        while let Some(planned) = self.spec.churn.script.get(self.churn.played).filter(|next| next.at <= time)
        {
            let act = planned.act.clone();
            self.churn.played += 1;
            self.act(&act, EventCause::Script, time, outbox)?;
        }
        while let Some(message) = self.mail.take_first(now, |letter| matches!(letter, ToSite::Churn(_))) {
            self.counts.outside = self.counts.outside.saturating_sub(1);
            if let ToSite::Churn(act) = message.body {
                self.act(&act, EventCause::Command, time, outbox)?;
            }
        }
        let open = self.is_reachable(time);
        if open != was_open {
            self.churn.look_back(&self.spec);
            let letter = ToNetwork::Churn { site: self.id, open };
            self.send_up(Address::Network, now, letter, outbox);
        }
        Ok(())
    }

    fn act(
        &mut self,
        act: &ChurnAct,
        cause: EventCause,
        now: Time,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        let (Machines { partition, which }, change) = match act {
            ChurnAct::Leave(machines) => (machines, MachineChange::Leave),
            ChurnAct::Join(machines) => (machines, MachineChange::Join),
            ChurnAct::Slow { machines, factor } => (machines, MachineChange::Slow(*factor)),
            ChurnAct::Drain(machines) => {
                let at = machines.partition.index();
                let Some(presence) = self.churn.presence.get_mut(at) else { return Ok(()) };
                presence.drain(&machines.which, Reason::Script);
                let draining = presence.draining_for(Reason::Script).intersection(&machines.which);
                self.churn.commanded[at].drain(&draining, cause);
                self.follow_drains(at, &ProcSet::new(), cause, now, outbox);
                return Ok(());
            }
            ChurnAct::DrainSite => {
                self.drain_site(cause, now, outbox);
                return Ok(());
            }
            ChurnAct::LeaveSite | ChurnAct::JoinSite => {
                self.churn.open = *act == ChurnAct::JoinSite;
                let by_command = cause == EventCause::Command;
                self.churn.commanded.iter_mut().for_each(|own| own.site = by_command);
                self.churn.closing = false;
                for at in 0..self.partitions.len() {
                    let presence = &mut self.churn.presence[at];
                    let (changed, change, cause) = if self.churn.open {
                        (presence.join_site(), MachineChange::Join, cause)
                    } else {
                        (presence.leave_site(), MachineChange::Leave, EventCause::SiteLeft)
                    };
                    let is_back = matches!(change, MachineChange::Join);
                    self.change(at, &changed, change, cause, now, outbox)?;
                    let back = if is_back { changed } else { ProcSet::new() };
                    self.follow_drains(at, &back, cause, now, outbox);
                }
                return Ok(());
            }
        };
        let at = partition.index();
        let Some(presence) = self.churn.presence.get_mut(at) else { return Ok(()) };
        let mut back = ProcSet::new();
        let changed = match change {
            MachineChange::Leave => {
                self.churn.commanded[at].change(which, cause);
                presence.leave(which, Reason::Script)
            }
            MachineChange::Join => {
                self.churn.commanded[at].change(which, cause);
                back = presence.join(which, Reason::Script);
                back.clone()
            }
            MachineChange::Slow(factor) => presence.slow(which, factor),
        };
        self.change(at, &changed, change, cause, now, outbox)?;
        self.follow_drains(at, &back, cause, now, outbox);
        Ok(())
    }

    /// The whole site drains, because it will leave: jobs of the grid that wait go back to the broker, if they would when it leaves.
    fn drain_site(&mut self, cause: EventCause, now: Time, outbox: &mut dyn Outbox) {
        if !self.churn.open || self.churn.closing {
            return;
        }
        self.churn.closing = true;
        let by_command = cause == EventCause::Command;
        self.churn.commanded.iter_mut().for_each(|own| own.site = by_command);
        for at in 0..self.partitions.len() {
            let presence = &mut self.churn.presence[at];
            presence.drain(&ProcSet::full(presence.machines()), Reason::Site);
            self.follow_drains(at, &ProcSet::new(), cause, now, outbox);
            self.partitions[at].return_waiting(&mut Step::new(now, outbox, &mut self.ended));
            self.touched[at] = true;
        }
    }

    /// Lets those machines of a partition drain of which it is announced that they leave, and no others. Those that are `back` say so if they drain for
    /// another reason.
    fn follow_drains(
        &mut self,
        at: usize,
        back: &ProcSet,
        cause: EventCause,
        now: Time,
        outbox: &mut dyn Outbox,
    ) {
        let (presence, partition) = (&self.churn.presence[at], &mut self.partitions[at]);
        let (wanted, present) = (presence.draining(), partition.draining());
        if wanted.is_empty() && present.is_empty() {
            return;
        }
        let mut step = Step::new(now, outbox, &mut self.ended);
        let (more, less) = (wanted.difference(&present), present.difference(&wanted));
        let mut again = present.intersection(back).intersection(&wanted);
        let commanded = &self.churn.commanded[at].draining;
        let by_command = (commanded, EventCause::Command);
        let reasons = CAUSES.iter().map(|(why, cause)| (presence.draining_for(*why), *cause));
        for (own, cause) in std::iter::once(by_command).chain(reasons) {
            let own = again.intersection(own);
            if !own.is_empty() {
                partition.drain(&own, cause, &mut step);
                again.remove_all(&own);
            }
        }
        if !less.is_empty() {
            partition.stay(&less, cause, &mut step);
        }
        if !more.is_empty() {
            partition.drain(&more, cause, &mut step);
        }
        self.touched[at] |= !more.is_empty() || !less.is_empty();
    }

    /// The same when a state has been restored under another description; the pass that follows is of the first moment.
    pub(super) fn follow_drains_anew(&mut self, now: Time, records: &mut Vec<crate::model::Record>) {
        for at in 0..self.partitions.len() {
            let before = self.partitions[at].draining();
            for (why, cause) in CAUSES {
                let wanted = self.churn.presence[at].draining_for(why);
                let more = wanted.difference(&self.partitions[at].draining());
                if !more.is_empty() {
                    self.partitions[at].drain(&more, cause, &mut Step::new(now, records, &mut self.ended));
                }
            }
            if self.churn.closes_anew {
                self.partitions[at].return_waiting(&mut Step::new(now, records, &mut self.ended));
            }
            let less = self.partitions[at].draining().difference(&self.churn.presence[at].draining());
            let mut step = Step::new(now, records, &mut self.ended);
            self.partitions[at].stay(&less, EventCause::Command, &mut step);
            if self.partitions[at].draining() != before {
                self.partitions[at].wake_at(now);
            }
        }
    }

    /// All machines go down because the site has failed without a word, or come back after that.
    pub(super) fn fail(
        &mut self,
        is_back: bool,
        now: Time,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        for at in 0..self.partitions.len() {
            let presence = &mut self.churn.presence[at];
            let all = ProcSet::full(presence.machines());
            let (changed, change) = if is_back {
                (presence.join(&all, Reason::Fault), MachineChange::Join)
            } else {
                (presence.leave(&all, Reason::Fault), MachineChange::Leave)
            };
            self.change(at, &changed, change, EventCause::Silence, now, outbox)?;
        }
        Ok(())
    }

    fn change(
        &mut self,
        at: usize,
        machines: &ProcSet,
        change: MachineChange,
        cause: EventCause,
        now: Time,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        let whole_site = cause == EventCause::SiteLeft;
        if machines.is_empty() && !whole_site {
            return Ok(());
        }
        let partition = &mut self.partitions[at];
        let mut step = Step::new(now, outbox, &mut self.ended);
        match change {
            MachineChange::Leave => partition.leave(machines, cause, &mut step),
            MachineChange::Join => partition.join(machines, cause, &mut step)?,
            MachineChange::Slow(factor) => partition.slow(machines, factor, cause, &mut step)?,
        }
        self.touched[at] = true;
        Ok(())
    }
}
