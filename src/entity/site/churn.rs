//! Churn of a site: machines that go down and come up at random, by script, or by command.

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
    /// When the site comes back by script, or came back last; follows from what has been carried out.
    back: Option<Time>,
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
}

impl Churn {
    /// The churn at the beginning of a run with this seed.
    pub(super) fn new(spec: &SiteSpec, seed: u64) -> Self {
        let outages = spec.partitions.iter().map(|part| {
            let random = spec.churn.random.as_ref()?;
            Some(Outages::new(seed, &spec.name, &part.name, part.machines(), random))
        });
        let outages: Vec<Option<Outages>> = outages.collect();
        let follow = spec.churn.traced.as_ref();
        let traced = (0..spec.partitions.len()).map(|at| Some(TracedOutages::new(follow?, at)));
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
        Self { presence: presence.collect(), outages, traced, groups, played: 0, open: true, back: None }
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

    /// When the site comes back by script, or came back last.
    pub(super) fn back(&self) -> Option<Time> {
        self.back
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
        for ((outages, saved), part) in self.outages.iter_mut().zip(saved.outages).zip(&spec.partitions) {
            match (&mut *outages, saved, adopt) {
                (Some(outages), Some(saved), _) => {
                    outages.restore(saved).map_err(|error| error.to_string())?;
                    if let Some(now) = adopt {
                        outages.go_on_at(now.time);
                    }
                }
                (Some(outages), None, Some(now)) => outages.begin_at(now.time),
                (Some(_), None, None) => {
                    return Err("it was saved without random outages".to_owned());
                }
                (None, Some(saved), _) => {
                    *outages =
                        Some(Outages::ceasing(part.machines(), saved).map_err(|error| error.to_string())?);
                }
                (None, None, _) => {}
            }
        }
        for ((outages, presence), saved) in self.traced.iter_mut().zip(&saved.presence).zip(saved.traced) {
            let down = presence.kept(Reason::Trace);
            match (&mut *outages, saved, adopt) {
                (Some(outages), _, Some(now)) => outages.go_on_at(now.time, down),
                (Some(outages), Some(saved), None) => {
                    outages.restore(&saved).map_err(|error| error.to_string())?;
                }
                (Some(_), None, None) => return Err("it was saved without a failure trace".to_owned()),
                (None, Some(saved), adopt) => {
                    let now = adopt.map_or(saved.until(), |now| now.time);
                    *outages = Some(TracedOutages::ceasing(down, now));
                }
                (None, None, _) => {}
            }
        }
        for ((groups, saved), part) in self.groups.iter_mut().zip(saved.groups).zip(&spec.partitions) {
            match (&mut *groups, saved, adopt) {
                (Some(groups), Some(saved), _) => {
                    groups.restore(saved, adopt.map_or(Time::ZERO, |now| now.time));
                }
                (Some(groups), None, Some(now)) => groups.begin_at(now.time),
                (Some(_), None, None) => return Err("it was saved without failures of groups".to_owned()),
                (None, Some(saved), _) => *groups = Some(GroupOutages::ceasing(part.machines(), saved)),
                (None, None, _) => {}
            }
        }
        self.presence = saved.presence;
        (self.played, self.open) = (saved.played, saved.open);
        if let Some(now) = adopt {
            self.played = spec.churn.script.partition_point(|act| Stamp::at(act.at) < now);
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

impl Site {
    /// Whether the site takes grid jobs.
    pub(super) fn is_open(&self) -> bool {
        self.churn.open
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
                if turns.is_empty() {
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
                self.change(at, &up, MachineChange::Join, cause, time, outbox)?;
                self.change(at, &down, MachineChange::Leave, cause, time, outbox)?;
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
            ChurnAct::LeaveSite | ChurnAct::JoinSite => {
                self.churn.open = *act == ChurnAct::JoinSite;
                for at in 0..self.partitions.len() {
                    let presence = &mut self.churn.presence[at];
                    let (changed, change, cause) = if self.churn.open {
                        (presence.join_site(), MachineChange::Join, cause)
                    } else {
                        (presence.leave_site(), MachineChange::Leave, EventCause::SiteLeft)
                    };
                    self.change(at, &changed, change, cause, now, outbox)?;
                }
                return Ok(());
            }
        };
        let Some(presence) = self.churn.presence.get_mut(partition.index()) else { return Ok(()) };
        let changed = match change {
            MachineChange::Leave => presence.leave(which, Reason::Script),
            MachineChange::Join => presence.join(which, Reason::Script),
            MachineChange::Slow(factor) => presence.slow(which, factor),
        };
        self.change(partition.index(), &changed, change, cause, now, outbox)
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
