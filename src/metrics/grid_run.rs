//! Everything that is told about one run of a grid: `summary.json` of a `run`.

use serde::{Deserialize, Serialize};

use super::{
    AgeSummary, Ages, BacklogSummary, ChurnSummary, ClassMeasures, Definition, Definitions, ElasticSummary,
    EnergySummary, Fingerprint, GridMeasures, Ledger, Measures, Outcomes, Quantiles, Recovery, Times,
    UsageSummary, Window,
};
use crate::model::{BrokerSpec, EventCause, Origin, Payer, Replan, SiteId, SiteSpec};
use crate::platform::Usage;

/// What only the run itself knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GridFacts {
    /// Version of gridemu.
    pub version: String,
    /// The scenario's name.
    pub scenario: String,
    /// The hash of the resolved scenario.
    pub scenario_hash: String,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// What drove the run: `direct` or `actors`.
    pub engine: String,
    /// The broker, if there is one.
    pub broker: Option<BrokerFacts>,
    /// Where the run's own time went.
    #[serde(flatten)]
    pub times: Times,
    /// The run's own time in all, in seconds.
    pub wall_s: f64,
    /// What a reader must know before trusting the result.
    pub notes: Vec<String>,
}

/// The broker and its dispatcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokerFacts {
    /// The mapping algorithm with its parameters.
    pub policy: String,
    /// How often sites report, in seconds; zero for at every change.
    pub picture_s: f64,
    /// Whether it counts its own dispatches.
    pub count_in_flight: bool,
    /// When assignments are made anew.
    pub replan: Replan,
    /// How often a job is tried again.
    pub retries: u32,
    /// Most jobs of the grid at a site at once.
    pub in_flight: Option<u32>,
    /// What one dispatch takes, in seconds.
    pub overhead_s: f64,
    /// Who pays for a lost attempt.
    pub lost_attempts: Payer,
}

/// All that is told about one run of a grid. Its JSON is `summary.json`, documented in `docs/output.md`; numbers are
/// written with all their digits, and a figure that no job gave is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridSummary {
    /// What was run.
    #[serde(flatten)]
    pub facts: GridFacts,
    /// The measured window; `None` if everything counts.
    pub measure: Option<MeasuredWindow>,
    /// First submission, in seconds since the origin of the run.
    pub begin_s: Option<f64>,
    /// Last end.
    pub end_s: Option<f64>,
    /// How long jobs went on after the measured window; `None` without one.
    pub drain_s: Option<f64>,
    /// The bound of the bounded slowdown in seconds.
    pub tau: f64,
    /// The preset of the job classes.
    pub class_preset: String,
    /// Jobs in all: those that count and those submitted outside the window.
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
    /// Jobs in the system over the window; `None` if it is too short to tell.
    pub backlog: Option<BacklogSummary>,
    /// Where processors, energy and money went.
    #[serde(flatten)]
    pub account: Account,
    /// Jobs of the sites' own users, and what they were charged.
    pub local: OriginSummary,
    /// Jobs of the grid, and what they were charged.
    pub grid: OriginSummary,
    /// The sites, in the order of the scenario.
    pub sites: Vec<SiteSummary>,
    /// Jobs that ended at no site.
    pub nowhere: Measures,
    /// How old the picture was by which jobs were assigned.
    pub picture_age: AgeSummary,
    /// Elastic commands, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elastic: Option<ElasticSummary>,
    /// What churn did.
    pub churn: ChurnSummary,
    /// The fingerprint of all job, segment and event records.
    pub fingerprint: Fingerprint,
    /// The measures by class, if there are classes.
    pub classes: Vec<ClassMeasures>,
    /// What the measures mean.
    pub definitions: Vec<Definition>,
}

/// The measured window, in seconds.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredWindow {
    /// First instant.
    pub from: f64,
    /// First instant after it.
    pub to: f64,
}

/// Where processors, energy and money went.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Share of the nominal capacity in use.
    pub utilization: Option<f64>,
    /// Share in use of the capacity neither away nor reserved.
    pub utilization_available: Option<f64>,
    /// Share of the nominal capacity that was away.
    pub away: Option<f64>,
    /// Where the processors' time went.
    pub usage: UsageSummary,
    /// Energy.
    pub energy: EnergySummary,
    /// What jobs paid.
    pub cost: f64,
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
    /// Its processors when all machines are there.
    pub processors: u64,
    /// The measures of all jobs that ended there.
    #[serde(flatten)]
    pub measures: Measures,
    /// Of its own users.
    pub local: Measures,
    /// Of the grid.
    pub grid: Measures,
    /// Where its processors, energy and money went.
    #[serde(flatten)]
    pub account: Account,
    /// Processor-seconds of attempts that its machines lost while their jobs went on.
    pub lost_proc_s: f64,
}

impl BrokerFacts {
    /// The facts of a broker as it is described.
    pub fn of(spec: &BrokerSpec) -> Self {
        Self {
            policy: spec.policy.to_string(),
            picture_s: spec.picture.as_secs_f64(),
            count_in_flight: spec.count_in_flight,
            replan: spec.replan,
            retries: spec.retries,
            in_flight: spec.in_flight,
            overhead_s: spec.overhead.as_secs_f64(),
            lost_attempts: spec.lost_attempts,
        }
    }
}

impl Account {
    /// Of a ledger.
    pub fn of(ledger: &Ledger) -> Self {
        Self {
            utilization: ledger.utilization(),
            utilization_available: ledger.utilization_available(),
            away: ledger.away_share(),
            usage: ledger.usage(),
            energy: ledger.energy(),
            cost: ledger.cost().as_f64(),
        }
    }
}

impl GridSummary {
    /// Puts together what the collectors of a run have seen: of each site its description and its ledger, and how
    /// old the picture was at each assignment.
    pub fn new(
        facts: GridFacts,
        measures: &GridMeasures,
        sites: &[(SiteSpec, Ledger)],
        ages: &Ages,
        fingerprint: Fingerprint,
    ) -> Self {
        let (groups, window) = (measures.groups(), measures.window());
        let whole = groups.classed();
        let all = whole.whole();
        let mut ledger = Ledger::default();
        sites.iter().for_each(|(_, of_site)| ledger.merge(of_site));
        let origin = |origin| {
            let charged = groups.charged(origin);
            OriginSummary {
                measures: groups.summary(None, Some(origin)).whole(),
                charged_kwh: charged.energy.as_kwh_f64(),
                charged: charged.cost.as_f64(),
            }
        };
        let ends = groups.span();
        let windowed = window != Window::ALL;
        let drain = ends.filter(|_| windowed).map(|(_, last)| last.since(window.to()).as_secs_f64());
        let recovery = measures.recovery.as_ref().map(|recovery| recovery.summary(window));
        Self {
            measure: windowed
                .then(|| MeasuredWindow { from: window.from().as_secs_f64(), to: window.to().as_secs_f64() }),
            begin_s: ends.map(|(first, _)| first.as_secs_f64()),
            end_s: ends.map(|(_, last)| last.as_secs_f64()),
            drain_s: drain,
            tau: whole.definitions().tau().as_secs_f64(),
            class_preset: whole.definitions().classes().name().to_owned(),
            submitted: all.jobs + groups.outside().total(),
            outside: groups.outside(),
            quantiles: whole.quantiles(),
            makespan: whole.makespan().map(|span| span.as_secs_f64()),
            backlog: measures.backlog.summary(window, all.jobs),
            account: Account::of(&ledger),
            local: origin(Origin::Own),
            grid: origin(Origin::Sent),
            sites: (0..).zip(sites).map(|(at, site)| of_site(measures, SiteId(at), site)).collect(),
            nowhere: groups.summary(Some(SiteId::GRID), None).whole(),
            picture_age: ages.summary(),
            churn: measures.churn().summary(&ledger, recovery),
            elastic: measures.elastic().summary(),
            fingerprint,
            classes: whole.by_class(),
            definitions: {
                let mut all = definitions(whole.definitions(), measures.recovery.as_ref());
                all.extend(super::dedicated::definition(whole.has_dedicated()));
                all
            },
            measures: all,
            facts,
        }
    }

    /// True if any machine came or went, or any job lost its place.
    pub fn has_churn(&self) -> bool {
        let (machines, jobs) = (&self.churn.machines, &self.churn.jobs);
        machines.left + machines.joined + machines.slowed > 0
            || jobs.requeued + jobs.given_back + jobs.halted + jobs.failed > 0
    }
}

fn of_site(measures: &GridMeasures, id: SiteId, (spec, ledger): &(SiteSpec, Ledger)) -> SiteSummary {
    let of = |origin| measures.groups().summary(Some(id), origin).whole();
    let any: fn(EventCause) -> bool = |_| true;
    let lost = measures.churn().lost_attempts(Some(id), any).lost;
    SiteSummary {
        name: spec.name.clone(),
        policy: spec.policy.to_string(),
        processors: spec.partitions.iter().map(|partition| u64::from(partition.processors())).sum(),
        measures: of(None),
        local: of(Some(Origin::Own)),
        grid: of(Some(Origin::Sent)),
        account: Account::of(ledger),
        lost_proc_s: lost as f64 / Usage::PROC_SECOND as f64,
    }
}

/// Those of jobs, and those of a grid.
fn definitions(of: &Definitions, recovery: Option<&Recovery>) -> Vec<Definition> {
    let define = |id: &str, meaning: &str| Definition { id: id.to_owned(), meaning: meaning.to_owned() };
    let mut all = of.all();
    all.retain(|definition| definition.id != "utilization");
    all.extend([
        define("utilization", "processor time in use / nominal, or / (nominal - away - reserved)"),
        define("lost", "processor time of an attempt that no checkpoint kept"),
        define(
            "grows",
            "jobs in the system: more in each third of the window, 1.5 times as many in the last as in the first, by 2 % of the jobs, of which there are 100 or more",
        ),
    ]);
    if let Some(recovery) = recovery {
        all.push(Definition { id: "recovery".to_owned(), meaning: recovery.rule().to_string() });
    }
    all
}
