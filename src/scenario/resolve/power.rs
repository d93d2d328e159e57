//! Resolves what machines draw: by their load, for their memory, and at lower levels.

use super::Checker;
use super::machines::per_core;
use crate::model::{Embodied, Level, PartitionSpec};
use crate::scenario::keys::{LevelKeys, MachineKeys, SiteKeys};
use crate::scenario::kind::forms::PowerKey;
use crate::scenario::tree::Path;
use crate::units::{Carbon, Power, Rate, Span};

/// Power of the memory of a machine, to the nearest milliwatt.
pub(super) fn memory_power(keys: &MachineKeys) -> Power {
    let bytes = keys.memory.map_or(0, |memory| u128::from(memory.count()));
    let milliwatts = (u128::from(keys.memory_power.unwrap_or_default().milliwatts()) * bytes + 500_000_000)
        / 1_000_000_000;
    Power::from_milliwatts(u64::try_from(milliwatts).unwrap_or(u64::MAX))
}

impl Checker<'_> {
    /// The power of a machine by its load, with that of its memory.
    pub(super) fn power_by_load(&mut self, path: &Path, keys: &MachineKeys) -> Option<Vec<Power>> {
        if keys.memory_power.is_some() && keys.memory.is_none() {
            self.wrong(&path.key("memory_power"), "the machines have no `memory`; say how much they have");
        }
        let points = keys.load_power.as_ref()?;
        let path = path.key("load_power");
        if points.len() < 2 {
            let message =
                "a power by load has two points or more: that of an idle machine, ..., that of a busy one";
            self.wrong(&path, message);
            return None;
        }
        if [keys.idle, keys.busy].iter().any(|key| *key != PowerKey::Machine(Power::ZERO)) {
            self.wrong(
                &path,
                "`load_power` has the power of idle and busy machines; remove `idle` and `busy`",
            );
        }
        let steps = points.len() - 1;
        for (at, pair) in points.windows(2).enumerate() {
            if let [before, after] = pair
                && after < before
            {
                let load = |at: usize| 100.0 * at as f64 / steps as f64;
                let message = format!(
                    "{after} at a load of {:.0} % is less than {before} at {:.0} %; a machine draws no less with more load",
                    load(at + 1),
                    load(at)
                );
                self.wrong(&path.item(at + 1), message);
            }
        }
        let memory = memory_power(keys);
        Some(points.iter().map(|point| *point + memory).collect())
    }

    pub(super) fn embodied(&mut self, path: &Path, keys: &MachineKeys) -> Option<Embodied> {
        let keys = keys.embodied.as_ref()?;
        let path = path.key("embodied");
        if !(0.0..=1e9).contains(&keys.kg) {
            self.wrong(
                &path.key("kg"),
                format!("`{}` is not an amount of carbon; it must be from 0 to 1000000000", keys.kg),
            );
            return None;
        }
        if !(0.01..=1000.0).contains(&keys.years) {
            self.wrong(
                &path.key("years"),
                format!("`{}` is not a lifetime; it must be from 0.01 to 1000", keys.years),
            );
            return None;
        }
        Some(Embodied {
            carbon: Carbon::from_nanograms((keys.kg * 1e12).round() as i128),
            lifetime: Span::from_secs((keys.years * 365.0 * 86_400.0).round() as u64),
        })
    }

    /// Lets the machines run at the level that the power policy of their site chooses.
    pub(super) fn at_level(
        &mut self,
        path: &Path,
        keys: &MachineKeys,
        site: &SiteKeys,
        spec: &mut PartitionSpec,
    ) {
        let cores = spec.cores;
        let share = keys.frequency_share.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&share) {
            let message = format!("`{share}` is not a share; it must be from 0 to 1");
            return self.wrong(&path.key("frequency_share"), message);
        }
        let [group] = &mut spec.groups[..] else { return };
        let Some(written) = keys.levels.as_deref().filter(|levels| !levels.is_empty()) else { return };
        let path = path.key("levels");
        if keys.load_power.is_some() {
            return self.wrong(&path, "machines with a `load_power` have no levels; remove one of them");
        }
        let mut levels: Vec<Level> = Vec::new();
        let (mut frequency, mut busy) = (1.0, group.busy);
        for (at, level) in written.iter().enumerate() {
            let path = path.item(at);
            let LevelKeys { frequency: own, busy: drawn } = level;
            if !(*own >= 0.01 && *own < frequency) {
                let message =
                    format!("`{own}` is not a lower frequency; levels go down from 1, and are 0.01 or more");
                return self.wrong(&path.key("frequency"), message);
            }
            let memory = per_core(PowerKey::Machine(memory_power(keys)), cores);
            let level = match drawn {
                Some(drawn) => Level { frequency: *own, busy: per_core(*drawn, cores) + memory },
                None => Level::cubic(*own, group.idle, group.busy),
            };
            if level.busy > busy || level.busy < group.idle {
                let message = format!(
                    "a core draws {} at a frequency of {own}; that must be from {} (idle) to {} (at the level above)",
                    level.busy, group.idle, busy
                );
                return self.wrong(&path.key("busy"), message);
            }
            (frequency, busy) = (*own, level.busy);
            levels.push(level);
        }
        let slowdowns: Vec<f64> =
            std::iter::once(1.0).chain(levels.iter().map(|level| level.slowdown(share))).collect();
        // A policy that does not exist is told elsewhere.
        let Ok(policy) = self.policies.power.build(&site.power_policy.0) else { return };
        match policy.level(&slowdowns) {
            None => {
                let message = format!(
                    "the power policy `{}` chooses no levels; `lowest-level` does",
                    site.power_policy.0
                );
                self.warn(&path, message);
            }
            Some(0) => {}
            Some(chosen) => {
                let slower = group.speed.as_f64() / slowdowns[chosen];
                group.speed = Rate::from_f64(slower).unwrap_or(group.speed).max(Rate::from_units(1));
                group.busy = levels[chosen - 1].busy;
            }
        }
    }
}
