//! Resolves how the machines of a site come and go: by chance, or as the nodes of a trace did.

mod groups;
mod pattern;

use std::collections::BTreeSet;

use self::pattern::fits;
use super::Checker;
use crate::formats::failures::{FailureFacts, FailureOptions, percent};
use crate::model::{
    CheckpointInterval, Checkpointing, ChurnSpec, FailureTrace, NodeOutages, Outage, PartitionSpec,
    RandomChurn, TracedChurn,
};
use crate::scenario::keys::{ChurnKeys, SiteKeys};
use crate::scenario::kind::words::{Best, Or};
use crate::scenario::traces::short;
use crate::scenario::tree::Path;
use crate::units::{Span, Timestamp, grouped};

/// The most sites of which it is told which nodes they follow.
const MOST_TOLD: usize = 20;

/// What has been told of the traces of failures.
#[derive(Default)]
pub(in crate::scenario) struct ToldFailures {
    /// Those that have been told of, by file and how it is read.
    files: Vec<(String, FailureOptions)>,
    /// Sites of which it was told which nodes they follow.
    sites: usize,
    /// Sites of which it was told how often they fail in groups.
    grouped: usize,
    /// The nodes that machines follow, by trace.
    followed: BTreeSet<(u128, u32)>,
}

impl Checker<'_> {
    /// The churn of a site with these machines, without its script.
    pub(super) fn churn(&mut self, path: &Path, keys: &SiteKeys, partitions: &[PartitionSpec]) -> ChurnSpec {
        let site = keys;
        let Or::Value(keys) = &site.churn else {
            self.without_trace(path, site);
            return ChurnSpec::default();
        };
        let at = path.key("churn");
        let random = self.random(&at, keys);
        let traced = match &keys.trace {
            Some(file) => self.traced(path, site, keys, file, partitions),
            None => {
                self.without_trace(path, site);
                None
            }
        };
        let groups = self.groups(&at, keys);
        let path = &at;
        let machines_leave = random.is_some() || groups.is_some() || keys.trace.is_some();
        if keys.notice.is_some_and(|notice| !notice.is_zero()) && !machines_leave {
            let message = "nothing leaves by chance or by a trace, so this notice is never given; a scripted `leave` has a `notice` of its own";
            self.wrong(&path.key("notice"), message);
        }
        let interval = match keys.checkpoint {
            Or::Word(Best::None) => None,
            Or::Word(Best::Young) => Some(CheckpointInterval::Young),
            Or::Word(Best::Daly) => Some(CheckpointInterval::Daly),
            Or::Value(span) => Some(CheckpointInterval::Every(span)),
        };
        if keys.checkpoint == Or::Value(Span::ZERO) {
            let message = "the interval must be above 0, or `none`";
            self.wrong(&path.key("checkpoint"), message);
        }
        let cost = keys.checkpoint_cost;
        let computed = matches!(keys.checkpoint, Or::Word(Best::Young | Best::Daly));
        if computed && random.is_none() && groups.is_none() && keys.trace.is_none() {
            let message = "this interval depends on the mean up time of machines; add `up` and `down`, or give an interval";
            self.wrong(&path.key("checkpoint"), message);
        }
        if computed && cost.is_zero() {
            let message =
                "checkpoints without cost would be written continuously; give a cost, such as `60 s`";
            self.wrong(&path.key("checkpoint_cost"), message);
        }
        if keys.attempts == 0 {
            self.wrong(&path.key("attempts"), "a job needs at least one attempt");
        }
        let notice = keys.notice.unwrap_or_default();
        if let Some(random) = &random {
            self.warn_of_long_notice(&path.key("notice"), notice, random.up.mean(), "machines stay up");
        }
        if let Some(groups) = &groups {
            self.tell_groups(site, random, groups, partitions);
        }
        ChurnSpec {
            random,
            groups,
            traced,
            notice,
            script: Vec::new(),
            on_failure: keys.on_failure,
            return_queued: keys.return_queued,
            attempts: Some(keys.attempts),
            checkpoint: interval.map(|interval| Checkpointing { interval, cost }),
        }
    }

    /// Warns of a notice that is as long as it is in the mean until the next departure.
    fn warn_of_long_notice(&mut self, path: &Path, notice: Span, mean: Span, who: &str) {
        if notice >= mean && !notice.is_zero() {
            let message = format!(
                "{who} for {} in the mean, so with a notice of {} they drain for most of that time, and few jobs can start",
                mean.told(),
                notice.told()
            );
            self.warn(path, message);
        }
    }

    /// Outages by chance.
    fn random(&mut self, path: &Path, keys: &ChurnKeys) -> Option<RandomChurn> {
        let random = match (keys.up, keys.down) {
            (Some(up), Some(down)) => Some(RandomChurn { up, down }),
            (None, None) => None,
            (Some(_), None) => self.refuse(path, "`up` needs `down`: otherwise machines never come back"),
            (None, Some(_)) => self.refuse(path, "`down` needs `up`: otherwise machines never leave"),
        };
        if let Some(RandomChurn { up, down }) = random {
            let shortest = if up.mean() < down.mean() { "up" } else { "down" };
            let (cycle, who) = (up.mean() + down.mean(), "each machine leaves and comes back");
            let instead = "means of minutes or more are usual, such as `exponential[mean=45 h]`";
            self.fine(&path.key(shortest), cycle, who, instead);
            if keys.trace.is_some() {
                let message =
                    "machines follow the trace, or fail by chance (`up`, `down`); remove one of them";
                self.wrong(&path.key("trace"), message);
            }
        }
        random
    }

    /// Refuses what is about a trace where there is none.
    fn without_trace(&mut self, path: &Path, site: &SiteKeys) {
        if let Or::Value(keys) = &site.churn {
            for (key, given) in [
                ("nodes", keys.nodes.is_some()),
                ("system", keys.system.is_some()),
                ("begin", keys.begin.is_some()),
                ("zone", keys.zone.is_some()),
            ] {
                if given {
                    let message = format!("`{key}` is about a `trace`, and there is none");
                    self.wrong(&path.key("churn").key(key), message);
                }
            }
        }
        for (at, machines) in site.machines.iter().flatten().enumerate() {
            if machines.nodes.is_some() {
                let message = "`nodes` is about the `trace` of the `churn` of the site, and there is none";
                self.wrong(&path.key("machines").item(at).key("nodes"), message);
            }
        }
    }

    /// The outages of a trace.
    fn traced(
        &mut self,
        path: &Path,
        site: &SiteKeys,
        keys: &ChurnKeys,
        file: &str,
        partitions: &[PartitionSpec],
    ) -> Option<TracedChurn> {
        let churn = path.key("churn");
        let zone = self.zone(&churn, keys.zone.as_deref());
        let at = churn.key("trace");
        self.file(&at, file, "trace")?;
        let options = FailureOptions { system: keys.system, zone };
        let trace = match self.calendar.traces.failures(file, &options) {
            Ok((trace, facts)) => {
                let way = (file.to_owned(), options);
                if !self.calendar.failures.files.contains(&way) {
                    self.tell_failures(&at, &trace, &facts);
                    self.calendar.failures.files.push(way);
                }
                trace
            }
            // The files of a run that is over need not be there any more.
            Err(_) if self.document.kept => FailureTrace::absent(short(file)),
            Err(error) => {
                self.wrong_so(&at, &error, error.hint());
                return None;
            }
        };
        let (Some(nodes), Some(begin), Some(end)) = (trace.nodes(), trace.begin(), trace.end()) else {
            return Some(TracedChurn {
                trace,
                origin: Span::ZERO,
                nodes: vec![Vec::new(); partitions.len()],
            });
        };
        self.calendar.is_used |= keys.begin.is_none();
        let from = keys.begin.or(self.calendar.begins).unwrap_or(begin);
        let Some(origin) = from.since(begin).filter(|_| from < end) else {
            let (place, how) = match keys.begin {
                Some(_) => (churn.key("begin"), ""),
                None => (at, " (`calendar`); `begin` says which of its instants is the first of the run"),
            };
            return self.refuse(
                &place,
                format!("the trace is of {begin} to {end}, and the run begins at {from}{how}"),
            );
        };
        let lasts = end.since(from).unwrap_or_default();
        self.beyond(&at, end, lasts);
        let machines = self.nodes_of_machines(path, site, keys, nodes, partitions)?;
        let traced = TracedChurn { trace: trace.clone(), origin, nodes: machines };
        let seen = self.calendar.until.map_or(lasts, |until| until.min(lasts));
        self.tell_followed(&at, site, nodes, &traced, from, seen);
        Some(traced)
    }

    /// Warns of a run that lasts longer than a trace that ends at `end`, after `lasts` of the run.
    fn beyond(&mut self, path: &Path, end: Timestamp, lasts: Span) {
        let (last, how) = match (self.calendar.until, self.calendar.at_least) {
            (Some(until), _) => (Some(until), "may last"),
            (None, least) => (least, "lasts"),
        };
        if let Some(last) = last.filter(|last| *last > lasts) {
            let message = format!(
                "the trace ends at {end}, after {} of the run, which {how} {}: its machines then stay as they are",
                lasts.told(),
                last.told()
            );
            self.warn(path, message);
        }
    }

    /// The node of each machine, by partition: those that `nodes` of its class names, in their order, or else those that `nodes` of the
    /// churn names, over all other machines of the site.
    fn nodes_of_machines(
        &mut self,
        path: &Path,
        site: &SiteKeys,
        keys: &ChurnKeys,
        nodes: &NodeOutages,
        partitions: &[PartitionSpec],
    ) -> Option<Vec<Vec<u32>>> {
        let classes: Vec<_> = site.machines.iter().flatten().enumerate().collect();
        let pattern = |class: &str| {
            let (at, keys) = classes.iter().find(|(_, keys)| keys.class == class)?;
            Some((*at, keys.nodes.as_deref()?))
        };
        let (mut by_partition, mut others) = (Vec::new(), 0);
        let general = keys.nodes.as_deref().map_or_else(
            || Some((0..nodes.names().len() as u32).collect()),
            |written| self.named(&path.key("churn").key("nodes"), written, nodes),
        )?;
        for part in partitions {
            let mut of_part: Vec<u32> = Vec::with_capacity(part.machines() as usize);
            for group in &part.groups {
                let count = group.machines as usize;
                let own = match pattern(&group.class) {
                    Some((at, written)) => {
                        let at = path.key("machines").item(at).key("nodes");
                        let named = self.named(&at, written, nodes)?;
                        if named.len() < count {
                            return self.too_few(&at, count, named.len(), "the class");
                        }
                        named[..count].to_vec()
                    }
                    None => {
                        let own = general.get(others..others + count).map(<[u32]>::to_vec);
                        others += count;
                        own.unwrap_or_default()
                    }
                };
                of_part.extend(own);
            }
            by_partition.push(of_part);
        }
        if others > general.len() {
            let key = if keys.nodes.is_some() { "nodes" } else { "trace" };
            return self.too_few(&path.key("churn").key(key), others, general.len(), "the site");
        }
        Some(by_partition)
    }

    fn too_few<T>(&mut self, path: &Path, machines: usize, nodes: usize, whose: &str) -> Option<T> {
        let message = format!(
            "{whose} has {}, and there are {} for them; `nodes` names others, and fewer machines follow the first ones",
            many(machines, "machine"),
            many(nodes, "node"),
        );
        self.refuse(path, message)
    }

    /// The nodes with names of this form, in order.
    fn named(&mut self, path: &Path, written: &str, nodes: &NodeOutages) -> Option<Vec<u32>> {
        let names = nodes.names();
        let found: Vec<u32> =
            names.iter().zip(0..).filter(|(name, _)| fits(written, name)).map(|(_, node)| node).collect();
        if !found.is_empty() {
            return Some(found);
        }
        let some: Vec<String> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
        let message = format!(
            "no node of the trace is called `{written}`; it has {}, the first are {} (`*` stands for any signs, `?` for one)",
            many(names.len(), "node"),
            some.join(", ")
        );
        self.refuse(path, message)
    }

    /// Keeps a line about a trace, and what a reader of figures should know of it.
    fn tell_failures(&mut self, path: &Path, trace: &FailureTrace, facts: &FailureFacts) {
        let name = trace.name();
        for warning in facts.warnings() {
            let note = format!("the trace `{name}`: {warning}");
            self.calendar.notes.push(note.clone());
            self.warn(path, note);
        }
        if let (Some(nodes), Some(begin), Some(end)) = (trace.nodes(), trace.begin(), trace.end()) {
            self.calendar.lines.push(format!("`{name}`: {}", facts.line(nodes, begin, end)));
        }
    }

    /// Keeps a line about the nodes that the machines of a site follow, over the time that the run may see of them.
    fn tell_followed(
        &mut self,
        path: &Path,
        site: &SiteKeys,
        nodes: &NodeOutages,
        traced: &TracedChurn,
        from: Timestamp,
        seen: Span,
    ) {
        let name = site.name.as_deref().unwrap_or_default();
        let own: Vec<u32> = traced.nodes.iter().flatten().copied().collect();
        let twice = own
            .iter()
            .filter(|node| !self.calendar.failures.followed.insert((traced.trace.digest(), **node)));
        let twice = twice.count();
        if twice > 0 {
            let message = format!(
                "{} of the trace `{}` that other machines follow too, and so they fail at the same times; `nodes` names others",
                if twice == 1 {
                    format!("1 machine of site `{name}` follows a node")
                } else {
                    format!("{} machines of site `{name}` follow nodes", grouped(twice as u64))
                },
                traced.trace
            );
            self.warn(path, message);
        }
        self.calendar.failures.sites += 1;
        if self.calendar.failures.sites > MOST_TOLD {
            return;
        }
        let (begin, end) = (traced.origin, traced.origin + seen);
        let down: u128 = own.iter().map(|node| u128::from(nodes.down(*node, begin, end).micros())).sum();
        let all = (u128::from(seen.micros()) * own.len() as u128).max(1);
        let within = |outage: &&Outage| outage.from < end && outage.to > begin;
        let outages: usize = own.iter().map(|node| nodes.of(*node).iter().filter(within).count()).sum();
        let named = |node: &u32| format!("`{}`", nodes.names()[*node as usize]);
        let all_named = match &own[..] {
            [first, .., last] if own.len() > 3 => format!("{} to {}", named(first), named(last)),
            few => few.iter().map(named).collect::<Vec<_>>().join(", "),
        };
        let line = format!(
            "`{}`: the {} of site `{name}` {} {all_named} of its {} from {from} on: up {} of {}, {}",
            traced.trace,
            many(own.len(), "machine"),
            if own.len() == 1 { "follows" } else { "follow" },
            many(nodes.names().len(), "node"),
            percent(((all - down) * 1_000_000 / all) as u64),
            seen.told(),
            many(outages, "outage"),
        );
        self.calendar.lines.push(line);
    }
}

fn many(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}
