//! What it costs to suspend and resume jobs.

use super::Checker;
use crate::local::Abilities;
use crate::model::{JobMemory, MemoryOf, PartitionSpec, Preemption, SiteSpec};
use crate::scenario::keys::{PreemptionKeys, SiteKeys};
use crate::scenario::tree::Path;
use crate::units::{Bandwidth, Bytes};

impl Checker<'_> {
    /// The costs of preemption at a site with these partitions.
    pub(super) fn preemption(
        &mut self,
        path: &Path,
        keys: &SiteKeys,
        partitions: &[PartitionSpec],
    ) -> Preemption {
        let Some(keys) = &keys.preemption else { return Preemption::default() };
        let path = path.key("preemption");
        for (key, bandwidth) in [("write", keys.write), ("read", keys.read), ("node", keys.node)] {
            if bandwidth == Some(Bandwidth::ZERO) {
                let message =
                    "nothing could ever be moved at a bandwidth of 0; leave the key out if it takes no time";
                self.wrong(&path.key(key), message);
            }
        }
        let memory = keys.memory.unwrap_or_default();
        self.fits(&path.key("memory"), memory, keys.memory_of, partitions);
        let moves = keys.write.is_some() || keys.read.is_some();
        if keys.memory.is_some() && !moves {
            self.warn(&path.key("memory"), "it has no effect: it takes no time without `write` or `read`");
        }
        if keys.memory.is_none() && moves {
            let message = "it takes no time, since jobs have no `memory`; give an amount, such as `memory = \"512 MB\"`";
            self.warn(&path.key(if keys.write.is_some() { "write" } else { "read" }), message);
        }
        if keys.node.is_some() && !moves {
            self.warn(&path.key("node"), "it has no effect without `write` or `read`");
        }
        let PreemptionKeys { memory_of, write, read, node, on_leave, resize, .. } = *keys;
        Preemption { memory, memory_of, write, read, node, on_leave, resize }
    }

    /// Checks that the memory of all processors of a machine is not more than it has.
    fn fits(&mut self, path: &Path, memory: JobMemory, of: MemoryOf, partitions: &[PartitionSpec]) {
        let Some(most) = memory.law().map(|law| law.most()).filter(|_| of == MemoryOf::Processor) else {
            return;
        };
        for part in partitions {
            let needed = Bytes::new(most.count().saturating_mul(part.cores.max(1).into()));
            let Some(least) = part.equipment().memory.filter(|least| *least < needed) else { continue };
            let (name, cores) = (&part.name, part.cores);
            let who = if cores > 1 { format!("the {cores} processors") } else { "the processor".to_owned() };
            let message = format!(
                "{who} of a machine of `{name}` would have {needed}, and it has {least}; give less, or `memory_of = \"job\"`"
            );
            return self.wrong(path, message);
        }
    }

    /// Warns of costs that nothing causes.
    pub(super) fn unused_preemption(&mut self, path: &Path, spec: &SiteSpec, able: Abilities) {
        let (path, costs) = (path.key("preemption"), &spec.preemption);
        if costs.is_default() {
            return;
        }
        if !able.preempts && !able.resizes {
            self.warn(&path, format!("it has no effect: `{}` suspends no jobs", spec.policy));
        } else if !able.resizes && !costs.resize.is_zero() {
            self.warn(&path.key("resize"), format!("it has no effect: `{}` resizes no jobs", spec.policy));
        }
    }
}
