//! What changes of the churn of a site.

use super::{Found, quoted, unlimited};
use crate::model::{
    CheckpointInterval, ChurnAct, ChurnSpec, FailureAction, GroupFailures, PlannedChurn, RandomChurn,
    TracedChurn,
};

impl Found {
    pub(super) fn churn(&mut self, old: &ChurnSpec, new: &ChurnSpec) {
        self.may("random outages", &old.random, &new.random, |random| match random {
            None => "none".to_owned(),
            Some(RandomChurn { up, down }) => format!("up {}, down {}", quoted(up), quoted(down)),
        });
        self.may("failures of groups", &old.groups, &new.groups, |groups| {
            let Some(GroupFailures { every, size, window, down, notice }) = groups else {
                return "none".to_owned();
            };
            let (every, down) = (quoted(every), quoted(down));
            let told = format!("every {every} of {}, within {}, down {down}", quoted(size), window.written());
            if notice.is_zero() { told } else { format!("{told}, notice {}", notice.written()) }
        });
        self.may("failure trace", &old.traced, &new.traced, |traced| {
            let Some(TracedChurn { trace, origin, .. }) = traced else { return "none".to_owned() };
            let from = trace.begin().and_then(|begin| begin.plus(*origin));
            from.map_or_else(|| format!("`{trace}`"), |from| format!("`{trace}` from {from} on"))
        });
        self.may("notice of machines that leave", &old.notice, &new.notice, |notice| notice.written());
        // A drain of which it is too late to begin in time begins now.
        let now = self.at;
        let from_now = |script: &[PlannedChurn]| {
            let mut script = script.to_vec();
            let is_drain = |act: &ChurnAct| matches!(act, ChurnAct::Drain(_) | ChurnAct::DrainSite);
            for planned in script.iter_mut().filter(|planned| is_drain(&planned.act)) {
                planned.at = planned.at.max(now);
            }
            script.sort_by_key(|planned| planned.at);
            script
        };
        let (before, after) = (from_now(&old.script), from_now(&new.script));
        self.script("scripted events of machines", &before, &after, |act| act.at);
        self.may("failure action", &old.on_failure, &new.on_failure, |action| {
            match action {
                FailureAction::Requeue => "requeue",
                FailureAction::Resubmit => "resubmit",
                FailureAction::Wait => "wait",
                FailureAction::Fail => "fail",
            }
            .to_owned()
        });
        let back = |back: &bool| if *back { "return to the broker".to_owned() } else { "stay".to_owned() };
        let what = "waiting grid jobs when the site leaves";
        self.may(what, &old.return_queued, &new.return_queued, back);
        self.may("maximum number of attempts", &old.attempts, &new.attempts, unlimited);
        self.may("checkpoints of later attempts", &old.checkpoint, &new.checkpoint, |wanted| {
            let Some(wanted) = wanted else { return "none".to_owned() };
            let every = match wanted.interval {
                CheckpointInterval::Young => "by Young's rule".to_owned(),
                CheckpointInterval::Daly => "by Daly's rule".to_owned(),
                CheckpointInterval::Every(interval) => format!("every {}", interval.written()),
            };
            format!("{every}, {} each", wanted.cost.written())
        });
    }
}
