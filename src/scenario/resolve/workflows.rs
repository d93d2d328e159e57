//! Resolves the workflows of the portal.

use std::collections::BTreeMap;
use std::path::Path as FilePath;

use super::Checker;
use crate::model::{
    BrokerSpec, MachineGroup, Named, SiteSpec, TaskFailures, WorkflowOverheads, WorkflowSettings,
    did_you_mean, nearest,
};
use crate::scenario::defaults::generator_in;
use crate::scenario::keys::{WorkflowKeys, WorkloadKeys};
use crate::scenario::kind::quantity::exact;
use crate::scenario::listed;
use crate::scenario::resolved::PlannedWorkload;
use crate::scenario::tree::Path;
use crate::scenario::workload::{EstimateSource, Shaping, WorkflowOrigin, WorkflowPlan, Workload};
use crate::units::{Bytes, Power, Span};
use crate::workflow::grouping::GroupingRegistry;
use crate::workflow::shapes::ShapeSpec;
use crate::workflow::{self, Rescaled};
use crate::workload::poisson::Lengths;
use crate::workload::{Estimates, LimitRules};

impl Checker<'_> {
    /// How workflows are enacted.
    pub(super) fn enactment(&mut self, keys: &WorkflowKeys, sites: &[SiteSpec]) -> WorkflowSettings {
        let path = Path::default().key("workflow").key("files");
        let files = self.place(&path, &keys.files, sites).unwrap_or(0);
        if !(0.0..=10.0).contains(&keys.error) {
            let message =
                format!("`error` is a standard deviation of logarithms, from 0 to 10, not {}", keys.error);
            self.wrong(&Path::default().key("workflow").key("error"), message);
        }
        WorkflowSettings {
            transfer: keys.transfer,
            files: files as u32,
            lost: keys.lost,
            replan: keys.replan,
            together: keys.together,
            order: keys.order,
            estimates: keys.estimates,
            error_ppm: (keys.error * 1e6).round() as u64,
        }
    }

    /// Workflows that the portal submits.
    pub(super) fn workflows(
        &mut self,
        path: &Path,
        keys: &WorkloadKeys,
        written: &str,
        entity: String,
        believed: Option<workflow::Estimates>,
        seed: u64,
    ) -> Option<PlannedWorkload> {
        let others = [
            ("log", keys.log.is_some()),
            ("lublin", keys.lublin.is_some()),
            ("poisson", keys.poisson.is_some()),
            ("cwf", keys.cwf.is_some()),
            ("huang", keys.huang.is_some()),
        ];
        if let Some((other, _)) = others.iter().find(|(_, given)| *given) {
            let message = format!("`{other}` and `workflow` exclude each other; keep one of them");
            return self.refuse(path, message);
        }
        for (only, given) in [
            ("load", keys.load.is_some()),
            ("load_factor", keys.load_factor.is_some()),
            ("estimates", keys.estimates != EstimateSource::Plain(Estimates::Log)),
            ("skip", keys.skip.is_some()),
            ("first", keys.first.is_some()),
            ("clean", keys.clean.is_some()),
            ("cap", keys.cap.is_some()),
            ("feedback", keys.feedback.is_some()),
            ("malleable", keys.malleable.is_some()),
            ("input", keys.input.is_some()),
            ("output", keys.output.is_some()),
        ] {
            if given {
                self.wrong(&path.key(only), format!("`{only}` works on jobs, not on `workflow`"));
            }
        }
        let origin = self.workflow_origin(&path.key("workflow"), written)?;
        let count = keys.count.unwrap_or(1);
        if count == 0 {
            self.wrong(&path.key("count"), "`count` must be 1 or more");
        }
        // Its lengths have units, as in every key; parameters in brackets are in seconds without one.
        let unitless = |length: &str| exact::<Span>(length).err().filter(|_| length.parse::<Span>().is_ok());
        if let Some(message) = keys.every.as_deref().and_then(|every| every.split("..").find_map(unitless)) {
            return self.refuse(&path.key("every"), message);
        }
        let every = match keys.every.as_deref().map(|every| (every, every.parse::<Lengths>())) {
            None => None,
            Some((_, Ok(every))) if count > 1 => Some(every),
            // An axis of counts may begin at 1.
            Some((_, Ok(_))) if keys.count.is_some() => None,
            Some((_, Ok(_))) => {
                let message =
                    "`every` is the time between submissions, and there is only one; give a `count` too";
                return self.refuse(&path.key("every"), message);
            }
            Some((every, Err(()))) => {
                let message = format!(
                    "`{every}` is not a time such as `10 min`, a range such as `1 min..1 h`, or a distribution such as \
                     `exponential[mean=1 h]`"
                );
                return self.refuse(&path.key("every"), message);
            }
        };
        let factors =
            [("scale_runtime", keys.scale_runtime), ("scale_data", keys.scale_data), ("ccr", keys.ccr)];
        for (key, factor) in factors {
            if let Some(factor) = factor.filter(|factor| !(factor.is_finite() && *factor >= 0.0)) {
                self.wrong(&path.key(key), format!("{factor} is not a number of 0 or more"));
            }
        }
        if keys.ccr.is_some() && keys.scale_data.is_some() {
            let message = "`scale_data` has no effect beside `ccr`, which scales all files; give one of them";
            self.wrong(&path.key("scale_data"), message);
        }
        let group = match keys.group.as_deref().map(str::parse::<Named>) {
            None => None,
            Some(Ok(by)) => match GroupingRegistry::standard().build(&by) {
                Ok(_) => Some(by),
                Err(error) => return self.refuse(&path.key("group"), error.to_string()),
            },
            Some(Err(error)) => return self.refuse(&path.key("group"), error.to_string()),
        };
        let overheads = WorkflowOverheads {
            engine_delay: keys.engine_delay.unwrap_or_default(),
            job_overhead: keys.job_overhead.unwrap_or_default(),
        };
        let failures = self.failures(path, keys);
        let limits = self.limits(path, keys);
        let rescaled = Rescaled { runtime: keys.scale_runtime, data: keys.scale_data, ccr: keys.ccr };
        Some(PlannedWorkload {
            entity,
            workload: Workload::Workflows(Box::new(WorkflowPlan {
                origin,
                count,
                every,
                rescaled,
                group,
                overheads,
                tags: self.required_tags(&path.key("tags"), keys),
                failures,
                believed: limits.and(believed),
            })),
            coupled: None,
            shaping: Shaping { seed, ..Shaping::default() },
            input: Bytes::ZERO,
            output: Bytes::ZERO,
            limits,
        })
    }

    /// Says so if the broker maps by limits, and no workload has them.
    pub(super) fn unlimited(&mut self, broker: Option<&BrokerSpec>, portal: &[PlannedWorkload]) {
        let Some(BrokerSpec { policy, .. }) = broker else { return };
        let has =
            |limit: fn(&LimitRules) -> bool| portal.iter().any(|of| of.limits.as_ref().is_some_and(limit));
        let message = match policy.name.as_str() {
            "cheapest-by-deadline" if !has(|limits| limits.deadline.is_some()) => {
                "no workload of the portal has a `deadline`: all goes where it costs least, whatever waits there"
            }
            "deadline-first" if !has(|limits| limits.deadline.is_some()) => {
                "no workload of the portal has a `deadline`: it takes jobs in the order of their submission"
            }
            "heft-budget" if !has(|limits| limits.budget.is_some()) => {
                "no workload of the portal has a `budget`: it plans as `heft`"
            }
            _ => return,
        };
        self.warn(&Path::default().key("broker").key("policy"), message);
    }

    /// Says so if a weight of the multi-objective broker is given, and there is nothing that it weighs.
    pub(super) fn without_aim(
        &mut self,
        broker: Option<&BrokerSpec>,
        sites: &[SiteSpec],
        portal: &[PlannedWorkload],
    ) {
        let Some(BrokerSpec { policy, .. }) = broker.filter(|broker| broker.policy.name == "mojs") else {
            return;
        };
        let limits = || portal.iter().filter_map(|of| of.limits.as_ref());
        let groups = || sites.iter().flat_map(|site| &site.partitions).flat_map(|part| &part.groups);
        let draws = |of: &MachineGroup| of.busy != Power::ZERO;
        let has_deadline = limits().any(|limits| limits.deadline.is_some());
        let has_budget = limits().any(|limits| limits.budget.is_some());
        let weighs = |key: &str| policy.params.get(key).is_none_or(|weight| weight.parse() != Ok(0.0));
        let has_aim = weighs("makespan")
            || weighs("idle")
            || weighs("lateness") && has_deadline
            || weighs("overspending") && has_budget
            || weighs("energy") && groups().any(draws);
        for (key, is_there, problem) in [
            ("lateness", has_deadline, "has no effect: no workload of the portal has a `deadline`"),
            ("overspending", has_budget, "has no effect: no workload of the portal has a `budget`"),
            ("energy", groups().any(draws), "has no effect: no machine has a `busy` power"),
            (
                "energy",
                groups().all(draws) || !groups().any(draws),
                "prefers machines that have no `busy` power: they count as if they drew nothing",
            ),
        ] {
            // A default weight says nothing, unless it is the only aim.
            let is_meant = policy.params.contains_key(key) || !has_aim;
            if is_meant && weighs(key) && !is_there {
                let message = format!("`{key}` of `mojs` {problem}");
                self.warn(&Path::default().key("broker").key("policy"), message);
            }
        }
    }

    /// How often attempts of tasks fail by themselves.
    fn failures(&mut self, path: &Path, keys: &WorkloadKeys) -> Option<TaskFailures> {
        let attempts = keys.task_attempts.unwrap_or(3);
        if attempts == 0 {
            self.wrong(&path.key("task_attempts"), "`task_attempts` must be 1 or more");
        }
        let Some(odds) = &keys.failures else {
            if keys.task_attempts.is_some() {
                let message =
                    "`task_attempts` is the number of attempts that `failures` may end; give these too";
                self.wrong(&path.key("task_attempts"), message);
            }
            return None;
        };
        for (kind, odds) in odds.iter().filter(|(_, odds)| !(0.0..=1.0).contains(*odds)) {
            let message = format!("{odds} is not a probability, which is from 0 to 1");
            self.wrong(&path.key("failures").key(kind), message);
        }
        let ppb = |odds: f64| (odds * f64::from(TaskFailures::ALWAYS)).round() as u32;
        let mut by_type: BTreeMap<String, u32> =
            odds.iter().map(|(kind, odds)| (kind.clone(), ppb(*odds))).collect();
        let others = by_type.remove("*").unwrap_or(0);
        Some(TaskFailures { by_type, others, attempts })
    }

    /// The tags that tasks require, by type.
    fn required_tags(&mut self, path: &Path, keys: &WorkloadKeys) -> BTreeMap<String, String> {
        let tags = keys.tags.clone().unwrap_or_default();
        for (kind, _) in tags.iter().filter(|(_, tag)| tag.is_empty()) {
            self.wrong(&path.key(kind), "a tag is a word that is among the `tags` of machines");
        }
        tags
    }

    fn workflow_origin(&mut self, path: &Path, written: &str) -> Option<WorkflowOrigin> {
        match generator_in(written).map(str::parse::<ShapeSpec>) {
            Some(Ok(shape)) => Some(WorkflowOrigin::Shape(shape)),
            Some(Err(error)) => self.refuse(path, error.to_string()),
            None => {
                let file = FilePath::new(written);
                let last = file.file_name().and_then(|name| name.to_str()).unwrap_or(written);
                let (name, params) = last.split_once('[').unwrap_or((last, ""));
                let near = nearest(name, ShapeSpec::all());
                let meant = params.ends_with(']') || (near.is_some() && !last.contains('.'));
                if meant && !file.exists() && !self.document.kept {
                    let (near, all) = (did_you_mean(near), listed(ShapeSpec::all()));
                    return self
                        .refuse(path, format!("there is no generator `{name}`{near}; there are {all}"));
                }
                self.file(path, written, "workflow").map(WorkflowOrigin::File)
            }
        }
    }
}
