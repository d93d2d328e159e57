//! What changes of the churn of a site.

use super::{Found, quoted, unlimited};
use crate::model::{CheckpointInterval, ChurnSpec, FailureAction, GroupFailures, RandomChurn, TracedChurn};

impl Found {
    pub(super) fn churn(&mut self, old: &ChurnSpec, new: &ChurnSpec) {
        self.may("random outages", &old.random, &new.random, |random| match random {
            None => "none".to_owned(),
            Some(RandomChurn { up, down }) => format!("up {}, down {}", quoted(up), quoted(down)),
        });
        self.may("failures of groups", &old.groups, &new.groups, |groups| {
            let Some(GroupFailures { every, size, window, down }) = groups else { return "none".to_owned() };
            let (every, down) = (quoted(every), quoted(down));
            format!("every {every} of {}, within {}, down {down}", quoted(size), window.written())
        });
        self.may("failure trace", &old.traced, &new.traced, |traced| {
            let Some(TracedChurn { trace, origin, .. }) = traced else { return "none".to_owned() };
            let from = trace.begin().and_then(|begin| begin.plus(*origin));
            from.map_or_else(|| format!("`{trace}`"), |from| format!("`{trace}` from {from} on"))
        });
        self.script("scripted events of machines", &old.script, &new.script, |act| act.at);
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
