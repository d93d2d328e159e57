//! What it costs to suspend and resume jobs.

use super::Checker;
use crate::local::{Abilities, LocalPolicy};
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
        let PreemptionKeys { memory_of, write, read, node, on_leave, resize, resize_per_processor, .. } =
            *keys;
        Preemption { memory, memory_of, write, read, node, on_leave, resize, resize_per_processor }
    }

    /// Checks that the memory of all processors of a machine is not more than it has, or that of a job not more than all machines have.
    fn fits(&mut self, path: &Path, memory: JobMemory, of: MemoryOf, partitions: &[PartitionSpec]) {
        let Some(most) = memory.law().map(|law| law.most()) else { return };
        for part in partitions {
            let Some(least) = part.equipment().memory else { continue };
            let (name, cores) = (&part.name, part.cores);
            if of == MemoryOf::Job {
                let all = Bytes::new(least.count().saturating_mul(part.machines().into()));
                if all < most {
                    let message = format!(
                        "a job would have up to {most}, and all machines of `{name}` {all}; give less"
                    );
                    return self.wrong(path, message);
                }
                if least < most {
                    let message = format!(
                        "a job on one machine of `{name}` would have up to {most}, and the machine has {least}"
                    );
                    self.warn(path, message);
                }
                continue;
            }
            let needed = Bytes::new(most.count().saturating_mul(cores.max(1).into()));
            if least >= needed {
                continue;
            }
            let who = if cores > 1 { format!("the {cores} processors") } else { "the processor".to_owned() };
            let message = format!(
                "{who} of a machine of `{name}` would have {needed}, and it has {least}; give less, or `memory_of = \"job\"`"
            );
            return self.wrong(path, message);
        }
    }

    /// Warns of costs that nothing causes.
    pub(super) fn unused_preemption(
        &mut self,
        path: &Path,
        spec: &SiteSpec,
        (policy, able): (&dyn LocalPolicy, Abilities),
    ) {
        let (path, costs) = (path.key("preemption"), &spec.preemption);
        if costs.is_default() {
            return;
        }
        if let Some(remark) = policy.remark(costs) {
            self.warn(&path, format!("`{}` {remark}", spec.policy));
        }
        if !able.preempts && !able.resizes {
            self.warn(&path, format!("it has no effect: `{}` suspends no jobs", spec.policy));
        } else if !able.resizes && costs.resizing_costs() {
            let key = if costs.resize.is_zero() { "resize_per_processor" } else { "resize" };
            self.warn(&path.key(key), format!("it has no effect: `{}` resizes no jobs", spec.policy));
        }
    }
}
