//! The summary of one run of a grid: `summary.json` of a `run`.

use serde::{Deserialize, Serialize};

use super::finishes::finishes;
use super::{
    Account, AgeSummary, Ages, BacklogSummary, ChurnSummary, ClassMeasures, CoallocationSummary, Definition,
    ElasticSummary, ErrorSummary, Fingerprint, FinishSummary, FrontSummary, GridMeasures, Groups,
    KindMeasures, Ledger, Measures, Outcomes, PlanningSummary, PreemptionSummary, Quantiles, Recovery,
    SingleSite, SiteFinish, Summary, Times, Window, WorkflowSummary,
};
use crate::broker::outside::ProgramFacts;
use crate::local::SearchEffort;
use crate::model::{BrokerSpec, Information, Origin, Payer, Replan, RunTimes, SiteId, SiteSpec};
use crate::platform::Usage;
use crate::units::Time;

/// Facts that only the run itself knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GridFacts {
    /// Version of gridemu.
    pub version: String,
    /// The scenario's name.
    pub scenario: String,
    /// The hash of the resolved scenario.
    pub scenario_hash: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// The engine that drove the run: `direct` or `actors`.
    pub engine: String,
    /// The broker, if there is one.
    pub broker: Option<BrokerFacts>,
    /// The wall time of the parts of the run.
    #[serde(flatten)]
    pub times: Times,
    /// The wall time of the whole run, in seconds.
    pub wall_s: f64,
    /// What a reader must know before trusting the result.
    pub notes: Vec<String>,
}

/// The broker and its dispatcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokerFacts {
    /// The mapping algorithm with its parameters.
    pub policy: String,
    /// The monitoring interval: how often sites report, in seconds; zero means at every change.
    pub monitoring_interval_s: f64,
    /// Whether the broker counts its own dispatches.
    pub count_in_flight: bool,
    /// What it believes of pools.
    #[serde(default, skip_serializing_if = "is_reported")]
    pub information: Information,
    /// How long a measured wait counts for a forecast, in seconds, if it believes forecasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast_within_s: Option<f64>,
    /// By what it plans how long jobs run.
    #[serde(default, skip_serializing_if = "is_estimates")]
    pub run_times: RunTimes,
    /// When assignments are made anew.
    pub replan: Replan,
    /// Whether jobs that wait at sites are then recalled.
    #[serde(default)]
    pub recall_queued: bool,
    /// How often the dispatch of a job is retried.
    pub retries: u32,
    /// The largest number of grid jobs at a site at once.
    pub in_flight: Option<u32>,
    /// The duration of one dispatch, in seconds.
    pub overhead_s: f64,
    /// What a plan takes, in seconds, if it takes time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planning: Option<PlanningFacts>,
    /// The party that is charged for failed attempts.
    pub failed_attempts: Payer,
    /// The program that decides in the place of a policy, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramSummary>,
}

/// The conversation with a program that decides for the broker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramSummary {
    /// The program, and its questions.
    #[serde(flatten)]
    pub facts: ProgramFacts,
    /// The wall time that the run waited for answers, in seconds, in the process that ended it.
    pub waited_s: f64,
}

/// What a plan takes, in seconds.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanningFacts {
    /// Of each plan.
    pub base_s: f64,
    /// Of each task that it decides about.
    pub per_task_s: f64,
}

/// The summary of one run of a grid. Its JSON is `summary.json`, documented in `docs/output.md`; numbers are written
/// with all their digits, and a figure that no job contributed to is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridSummary {
    /// The facts of the run.
    #[serde(flatten)]
    pub facts: GridFacts,
    /// Additional facts of one site without a broker; `None` for any other grid.
    #[serde(flatten)]
    pub single: Option<SingleSite>,
    /// The measured window; `None` if everything counts.
    pub measure: Option<MeasuredWindow>,
    /// First submission, in seconds since the origin of the run.
    pub begin_s: Option<f64>,
    /// Last end.
    pub end_s: Option<f64>,
    /// How long jobs continued after the measured window; `None` without one.
    pub drain_s: Option<f64>,
    /// The bound of the bounded slowdown in seconds.
    pub tau: f64,
    /// The preset of the job classes.
    pub class_preset: String,
    /// All jobs: those that count and those submitted outside the window.
    pub submitted: u64,
    /// The jobs submitted outside the window.
    pub outside: Outcomes,
    /// The measures of all jobs that count.
    #[serde(flatten)]
    pub measures: Measures,
    /// Whether medians and percentiles are exact.
    pub quantiles: Quantiles,
    /// Last end less first submission of the jobs that count and started, in seconds.
    pub makespan: Option<f64>,
    /// Jobs in the system over the window; `None` if the window is too short.
    pub backlog: Option<BacklogSummary>,
    /// How evenly the sites become free; only of several sites under a broker, without a measured window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishSummary>,
    /// The use of processors, energy and money.
    #[serde(flatten)]
    pub account: Account,
    /// Jobs of the sites' own users, and their charges.
    pub local: OriginSummary,
    /// Jobs of the grid, and their charges.
    pub grid: OriginSummary,
    /// The sites, in the order of the scenario.
    pub sites: Vec<SiteSummary>,
    /// Jobs that ended at no site.
    pub no_site: Measures,
    /// The age of the information by which jobs were assigned.
    pub information_age: AgeSummary,
    /// How far jobs started from when the broker believed that they would; of grids whose broker has assigned any that started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_errors: Option<ErrorSummary>,
    /// How far jobs of the grid that completed ran from how long the broker believed that they would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_errors: Option<ErrorSummary>,
    /// What planning took, if any plan took time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planning: Option<PlanningSummary>,
    /// What the decisions of local policies have taken over the whole run, if they search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchEffort>,
    /// The fronts that the broker's policy chose from, if it has several objectives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fronts: Option<FrontSummary>,
    /// Jobs that were run in parts at several sites, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coallocation: Option<CoallocationSummary>,
    /// Suspensions of jobs, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemption: Option<PreemptionSummary>,
    /// Elastic commands, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elastic: Option<ElasticSummary>,
    /// Workflows, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflows: Option<WorkflowSummary>,
    /// The effects of churn.
    pub churn: ChurnSummary,
    /// The fingerprint of all job, segment and event records.
    pub fingerprint: Fingerprint,
    /// The measures by class, if there are classes.
    pub classes: Vec<ClassMeasures>,
    /// The measures of rigid, moldable and malleable jobs, if there may be others than rigid ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindMeasures>,
    /// What the measures mean.
    pub definitions: Vec<Definition>,
}

/// The measured window, in seconds.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredWindow {
    /// First instant.
    pub from: f64,
    /// The first instant after it.
    pub to: f64,
}

/// The jobs of one origin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OriginSummary {
    /// Their measures.
    #[serde(flatten)]
    pub measures: Measures,
    /// Energy they were charged, in kilowatt-hours.
    pub charged_kwh: f64,
    /// Money they were charged.
    pub charged: f64,
}

/// One site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteSummary {
    /// Its name.
    pub name: String,
    /// Its local policy.
    pub policy: String,
    /// Its processors when all machines are up.
    pub processors: u64,
    /// The measures of all jobs that ended there.
    #[serde(flatten)]
    pub measures: Measures,
    /// The measures of its own users' jobs.
    pub local: Measures,
    /// The measures of grid jobs.
    pub grid: Measures,
    /// The use of its processors, energy and money.
    #[serde(flatten)]
    pub account: Account,
    /// When it became free; where the grid has [`GridSummary::finish`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<SiteFinish>,
    /// Processor-seconds wasted in attempts that failed because of its machines, of jobs that were not ended by that.
    pub wasted_proc_s: f64,
    /// The most bytes of files of workflows that it ever stored; only if there were any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stored_peak_bytes: u64,
    /// The most that its machines may draw, in watts; only under a power cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cap_w: Option<f64>,
    /// The most processors in use at once; only under a power cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_in_use: Option<u64>,
}

/// Written only if something else is believed, as planning is only if it takes time.
fn is_reported(information: &Information) -> bool {
    *information == Information::Reported
}

fn is_estimates(run_times: &RunTimes) -> bool {
    *run_times == RunTimes::Estimates
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl BrokerFacts {
    /// The facts of a broker by its description.
    pub fn of(spec: &BrokerSpec) -> Self {
        Self {
            policy: spec.policy.to_string(),
            monitoring_interval_s: spec.monitoring_interval.as_secs_f64(),
            count_in_flight: spec.count_in_flight,
            information: spec.information,
            forecast_within_s: (spec.information == Information::Forecast)
                .then(|| spec.forecast_within.as_secs_f64()),
            run_times: spec.run_times,
            replan: spec.replan,
            recall_queued: spec.recall_queued,
            retries: spec.retries,
            in_flight: spec.in_flight,
            overhead_s: spec.overhead.as_secs_f64(),
            planning: (!spec.planning.is_none()).then(|| PlanningFacts {
                base_s: spec.planning.base.as_secs_f64(),
                per_task_s: spec.planning.per_task.as_secs_f64(),
            }),
            failed_attempts: spec.failed_attempts,
            program: None,
        }
    }
}

impl GridSummary {
    /// Assembles the summary from the collectors of a run: `sites` has the description and the ledger of each site,
    /// and `ages` the age of the information at each assignment. `single` is given for one site without a broker.
    pub fn new(
        facts: GridFacts,
        single: Option<SingleSite>,
        measures: &GridMeasures,
        sites: &[(SiteSpec, Ledger)],
        ages: &Ages,
        fingerprint: Fingerprint,
    ) -> Self {
        let (groups, window) = (&measures.groups, measures.window);
        let whole = groups.classed();
        let end = groups.span.map(|(_, last)| last);
        let all = whole.whole_of(end);
        let mut sums = Sums { groups, end, known: vec![(groups.filled(None, None), all.clone())] };
        let mut ledger = Ledger::default();
        sites.iter().for_each(|(_, of_site)| ledger.merge(of_site));
        let mut origin = |origin| {
            let (energy, cost) = groups.charged[origin as usize];
            OriginSummary {
                measures: sums.of(None, Some(origin)),
                charged_kwh: energy.as_kwh_f64(),
                charged: cost.as_f64(),
            }
        };
        let ends = groups.span;
        let windowed = window != Window::ALL;
        let drain = ends.filter(|_| windowed).map(|(_, last)| last.since(window.to()).as_secs_f64());
        let [local, grid] = [Origin::Local, Origin::Grid].map(&mut origin);
        let each = || (0..).map(SiteId).zip(sites);
        let finish = (facts.broker.is_some() && sites.len() > 1 && !windowed).then(|| {
            let last: Vec<Option<Time>> = each().map(|(id, _)| groups.last_end(id)).collect();
            finishes(ends.map(|(first, _)| first), sites, &last)
        });
        let (finish, of_sites) = finish.unzip();
        let mut sites: Vec<SiteSummary> =
            each().map(|(id, site)| of_site(measures, &mut sums, id, site)).collect();
        for (site, finish) in sites.iter_mut().zip(of_sites.unwrap_or_default()) {
            site.finish = Some(finish);
        }
        let no_site = sums.of(Some(SiteId::GRID), None);
        let recovery = measures.recovery.as_ref().map(|recovery| recovery.summary(window));
        let workflows = measures.workflows.summary();
        let mut defined = definitions(&whole, single.is_some(), measures.recovery.as_ref());
        defined.extend(workflows.iter().flat_map(|_| WorkflowSummary::definitions()));
        Self {
            measure: windowed
                .then(|| MeasuredWindow { from: window.from().as_secs_f64(), to: window.to().as_secs_f64() }),
            begin_s: ends.map(|(first, _)| first.as_secs_f64()),
            end_s: ends.map(|(_, last)| last.as_secs_f64()),
            drain_s: drain,
            tau: whole.definitions().tau.as_secs_f64(),
            class_preset: whole.definitions().classes.name().to_owned(),
            submitted: all.jobs + groups.outside.total(),
            outside: groups.outside,
            quantiles: whole.quantiles(),
            makespan: whole.makespan().map(|span| span.as_secs_f64()),
            backlog: measures.backlog.summary(window, all.jobs),
            finish,
            account: ledger.account(),
            local,
            grid,
            sites,
            no_site,
            information_age: ages.summary(),
            start_errors: None,
            run_errors: None,
            planning: None,
            search: None,
            fronts: measures.fronts.summary(),
            coallocation: measures.coallocations.summary(),
            churn: {
                let churn = measures.churn.summary(&ledger, recovery);
                ChurnSummary { replanning: churn.replanning.filter(|_| facts.broker.is_some()), ..churn }
            },
            preemption: measures.suspensions.summary(),
            elastic: measures.elastic.summary(),
            workflows,
            fingerprint,
            classes: whole.by_class(end),
            kinds: groups.by_kind(end),
            definitions: defined,
            measures: all,
            single,
            facts,
        }
    }

    /// True if any machine came or left, or any attempt failed.
    pub fn has_churn(&self) -> bool {
        let (machines, jobs) = (&self.churn.machines, &self.churn.jobs);
        machines.left + machines.joined + machines.slowed > 0
            || jobs.requeued + jobs.returned + jobs.stalled + jobs.failed > 0
    }
}

/// Measures of groups of jobs. Groups of the same jobs are computed once: at one site most groups are the same.
struct Sums<'a> {
    groups: &'a Groups,
    /// The end of the run: the last end of a job.
    end: Option<Time>,
    /// Results by the cells that have jobs.
    known: Vec<(Vec<usize>, Measures)>,
}

impl Sums<'_> {
    fn of(&mut self, site: Option<SiteId>, origin: Option<Origin>) -> Measures {
        let cells = self.groups.filled(site, origin);
        if let Some((_, known)) = self.known.iter().find(|(known, _)| *known == cells) {
            return known.clone();
        }
        let measures = self.groups.summary(site, origin).whole_of(self.end);
        self.known.push((cells, measures.clone()));
        measures
    }
}

fn of_site(
    measures: &GridMeasures,
    sums: &mut Sums<'_>,
    id: SiteId,
    (spec, ledger): &(SiteSpec, Ledger),
) -> SiteSummary {
    let mut of = |origin| sums.of(Some(id), origin);
    let lost = measures.churn.failed_attempts(Some(id), |_| true).lost;
    SiteSummary {
        name: spec.name.clone(),
        policy: spec.policy.to_string(),
        processors: spec.partitions.iter().map(|partition| u64::from(partition.processors())).sum(),
        measures: of(None),
        local: of(Some(Origin::Local)),
        grid: of(Some(Origin::Grid)),
        account: ledger.account(),
        finish: None,
        wasted_proc_s: lost as f64 / Usage::PROC_SECOND as f64,
        stored_peak_bytes: 0,
        power_cap_w: spec.power_cap.map(|cap| cap.milliwatts() as f64 / 1e3),
        most_in_use: spec.power_cap.map(|_| spec.partitions.iter().map(|part| u64::from(part.most())).sum()),
    }
}

/// The definitions of measures of jobs and of grids; the run of a `single` site begins and ends with its jobs.
fn definitions(of: &Summary, single: bool, recovery: Option<&Recovery>) -> Vec<Definition> {
    let mut all = of.definitions().all();
    if !single {
        all.retain(|definition| definition.id != "utilization");
        let meaning = "processor time in use / nominal, or / (nominal - down - reserved)";
        all.push(Definition::new("utilization", meaning));
    }
    all.extend([
        Definition::new(
            "wasted",
            "processor time of failed attempts that no checkpoint saved, and of jobs that did not complete",
        ),
        Definition::new(
            "unstable",
            "jobs in the system: more in each third of the window, 1.5 times as many in the last as in the first, by 2 % of the jobs, of which there are 100 or more",
        ),
    ]);
    all.extend(recovery.map(|recovery| Definition::new("recovery", recovery.rule().to_string())));
    all.extend(of.has_dedicated().then(|| {
        let meaning =
            "of a dedicated job the requested start, if that is later: wait and response count from there";
        Definition::new("submission", meaning)
    }));
    all
}
