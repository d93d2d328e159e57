//! Resolves how machines fail in groups.

use super::{Checker, MOST_TOLD};
use crate::formats::failures::percent;
use crate::model::{GroupFailures, GroupSize, PartitionSpec, RandomChurn};
use crate::scenario::keys::{ChurnKeys, SiteKeys};
use crate::scenario::tree::Path;

impl Checker<'_> {
    /// Failures of groups.
    pub(super) fn groups(&mut self, path: &Path, churn: &ChurnKeys) -> Option<GroupFailures> {
        let keys = churn.group.as_ref()?;
        let path = path.key("group");
        let size = match (keys.rack, keys.size) {
            (Some(0), _) => return self.refuse(&path.key("rack"), "a rack has at least one machine"),
            (Some(rack), None) => GroupSize::Rack(rack),
            (None, Some(size)) => size,
            (None, None) => {
                let message = "how many machines fail at once? Give a `rack`, such as `rack = 16`, or a `size`, such as `size = \"geometric[mean=1.2]\"`";
                return self.refuse(&path, message);
            }
            (Some(_), Some(_)) => {
                return self
                    .refuse(&path.key("size"), "`rack` and `size` exclude each other; keep one of them");
            }
        };
        let Some(down) = keys.down.or(churn.down) else {
            let message = "how long do its machines stay down? Give `down`, such as `down = \"lognormal[median=1 h,sigma=1.6]\"`";
            return self.refuse(&path, message);
        };
        let who = "a group of machines leaves";
        let instead = "means of hours or more are usual, such as `exponential[mean=20 d]`";
        self.fine(&path.key("every"), keys.every.mean(), who, instead);
        let notice = keys.notice.or(churn.notice).unwrap_or_default();
        if matches!(size, GroupSize::Rack(_)) {
            let who = "the machines of a rack stay up";
            self.warn_of_long_notice(&path.key("notice"), notice, keys.every.mean(), who);
        }
        Some(GroupFailures { every: keys.every, size, window: keys.window, down, notice })
    }

    /// Keeps a line about the availability of machines that fail in groups.
    pub(super) fn tell_groups(
        &mut self,
        site: &SiteKeys,
        random: Option<RandomChurn>,
        groups: &GroupFailures,
        partitions: &[PartitionSpec],
    ) {
        self.calendar.failures.grouped += 1;
        if self.calendar.failures.grouped > MOST_TOLD {
            return;
        }
        let whose = match groups.size {
            GroupSize::Rack(size) => format!("racks of {size}"),
            size => format!("groups of `{size}`"),
        };
        let alone = random.map_or(1.0, |RandomChurn { up, down }| {
            let (up, down) = (up.mean().micros() as f64, down.mean().micros() as f64);
            up / (up + down)
        });
        let of = |part: f64| percent((part.clamp(0.0, 1.0) * 1e6).round() as u64);
        for part in partitions {
            let together = groups.availability(part.machines());
            let mut line = format!(
                "`{}/{}`: a machine fails in {whose} every {} in the mean, and is up {} of the time as far as these go",
                site.name.as_deref().unwrap_or_default(),
                part.name,
                groups.mean_between(part.machines()).told(),
                of(together),
            );
            if random.is_some() {
                line += &format!(", {} alone, {} in all", of(alone), of(alone * together));
            }
            self.calendar.groups.push(line);
        }
    }
}
