//! Workflows as they are submitted to a grid.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::grouping::{Group, Grouping, GroupingRegistry, Inside};
use super::shapes::ShapeSpec;
use super::{Estimates, Workflow, WorkflowError, limits};
use crate::model::{
    Job, JobId, Named, RegistryError, Submission, TaskFailures, TaskGroups, WorkflowOverheads, WorkflowSpec,
    WorkflowSubmission,
};
use crate::units::{Bandwidth, Time};
use crate::workload::poisson::Lengths;
use crate::workload::random::Stream;
use crate::workload::{LimitRules, Mark, Source, SourceError};

/// Other versions of a workflow: what is given is applied in this order.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Rescaled {
    /// Factor of all run times.
    pub runtime: Option<f64>,
    /// Factor of all sizes.
    pub data: Option<f64>,
    /// The communication-to-computation ratio to be reached by scaling all sizes, at [`Rescaled::BANDWIDTH`].
    pub ccr: Option<f64>,
}

impl Rescaled {
    /// The bandwidth to which `ccr` refers: 1 Gbit/s.
    pub const BANDWIDTH: Bandwidth = Bandwidth::from_bits(1_000_000_000);

    /// The workflow as it shall be.
    ///
    /// # Errors
    /// [`WorkflowError`] if a run time or a size becomes absurd, or no factor gives the ratio.
    pub fn apply(&self, mut workflow: Workflow) -> Result<Workflow, WorkflowError> {
        if let Some(factor) = self.runtime {
            workflow = workflow.scale_runtime(factor)?;
        }
        if let Some(factor) = self.data {
            workflow = workflow.scale_data(factor)?;
        }
        self.ccr.map_or(Ok(workflow.clone()), |ccr| workflow.with_ccr(ccr, Self::BANDWIDTH))
    }
}

/// Where workflows come from.
#[derive(Clone, Debug)]
enum Supply {
    /// Each is drawn anew.
    Drawn { shape: ShapeSpec, rescaled: Rescaled },
    /// They are known, each with its submission.
    Given { name: String, workflows: Vec<(Time, WorkflowSpec)> },
}

/// A source of workflows for the portal: those of a file, or of a generator, submitted so many times.
///
/// The first submission is at time 0, the others follow with gaps drawn from a distribution. A generator with a seed of its own draws its first
/// workflow from that seed, as everywhere; all others are drawn from a stream of the source.
#[derive(Clone, Debug)]
pub struct WorkflowSource {
    supply: Supply,
    count: u64,
    every: Option<Lengths>,
    overheads: WorkflowOverheads,
    failures: Option<TaskFailures>,
    tags: BTreeMap<String, String>,
    /// What tasks are put into groups by, as it is written.
    grouping: Option<(Named, Arc<dyn Group>)>,
    /// The rules of their limits, and what is believed of run times if they are not known.
    limits: Option<(LimitRules, Option<Estimates>)>,
    notes: Vec<String>,
    /// Of all streams, with the entity that names them.
    seed: (u64, String),
    state: State,
}

/// What a mark holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    made: u64,
    /// When the file, or the next workflow of the generator, is submitted.
    base: Time,
    next_job: u64,
    gaps: Stream,
    seeds: Stream,
}

impl WorkflowSource {
    /// Submits the workflows of a generator. Random streams are named by `entity`.
    pub fn drawn(shape: ShapeSpec, rescaled: Rescaled, seed: u64, entity: &str) -> Self {
        Self::of(Supply::Drawn { shape, rescaled }, seed, entity)
    }

    /// Submits these workflows at their times, which do not decrease.
    pub fn given(name: &str, workflows: Vec<(Time, WorkflowSpec)>, seed: u64, entity: &str) -> Self {
        Self::of(Supply::Given { name: name.to_owned(), workflows }, seed, entity)
    }

    fn of(supply: Supply, seed: u64, entity: &str) -> Self {
        let stream = |purpose| Stream::new(seed, entity, purpose);
        let (gaps, seeds) = (stream("workflow gaps"), stream("workflow seeds"));
        let state = State { made: 0, base: Time::ZERO, next_job: 1, gaps, seeds };
        let seed = (seed, entity.to_owned());
        Self {
            supply,
            count: 1,
            every: None,
            overheads: WorkflowOverheads::default(),
            failures: None,
            tags: BTreeMap::new(),
            grouping: None,
            limits: None,
            notes: Vec::new(),
            seed,
            state,
        }
    }

    /// Submits them so many times, with these gaps; without gaps all at once.
    #[must_use]
    pub fn repeated(self, count: u64, every: Option<Lengths>) -> Self {
        Self { count, every, ..self }
    }

    /// Enacts each with these overheads.
    #[must_use]
    pub fn with_overheads(self, overheads: WorkflowOverheads) -> Self {
        Self { overheads, ..self }
    }

    /// Lets attempts of tasks fail by themselves.
    ///
    /// # Errors
    /// [`SourceError`] if no task is of a type for which there is a probability.
    pub fn failing(self, failures: Option<TaskFailures>) -> Result<Self, SourceError> {
        let named = failures.iter().flat_map(|failures| failures.by_type.keys());
        self.check_types("`failures` has a probability", named)?;
        Ok(Self { failures, ..self })
    }

    /// Lets tasks require tags of machines, by type; `*` is for all other types.
    ///
    /// # Errors
    /// [`SourceError`] if no task is of a type for which there is a tag.
    pub fn requiring(self, tags: BTreeMap<String, String>) -> Result<Self, SourceError> {
        self.check_types("`tags` has a tag", tags.keys().filter(|kind| *kind != "*"))?;
        Ok(Self { tags, ..self })
    }

    /// Checks that there are tasks of these types, for which `what` is said.
    fn check_types<'a>(
        &self,
        what: &str,
        named: impl Iterator<Item = &'a String>,
    ) -> Result<(), SourceError> {
        let mut named = named.peekable();
        if named.peek().is_none() {
            return Ok(());
        }
        let types = self.types().map_err(|error| failed(self.name(), error))?;
        let Some(unknown) = named.find(|kind| !types.contains(*kind)) else { return Ok(()) };
        let known: Vec<String> = types.iter().map(|kind| format!("`{kind}`")).collect();
        Err(SourceError::Read {
            place: self.name(),
            problem: format!("{what} for type `{unknown}`, and no task is of it"),
            hint: format!("types are {}", known.join(", ")),
        })
    }

    /// The types of tasks; of a generator, those of its first workflow.
    fn types(&self) -> Result<BTreeSet<String>, WorkflowError> {
        let of = |spec: &WorkflowSpec| -> Vec<String> {
            spec.tasks.iter().map(|task| task.kind.clone()).collect()
        };
        Ok(match &self.supply {
            Supply::Given { workflows, .. } => workflows.iter().flat_map(|(_, spec)| of(spec)).collect(),
            Supply::Drawn { shape, .. } => of(&shape.workflow(self.seed.0)?.spec()).into_iter().collect(),
        })
    }

    /// Puts the tasks of each into groups.
    ///
    /// # Errors
    /// [`RegistryError`] if there is no such grouping, or a parameter is wrong.
    pub fn grouped(self, by: &Named) -> Result<Self, RegistryError> {
        let grouping = GroupingRegistry::standard().build(by)?;
        Ok(Self { grouping: Some((by.clone(), grouping.into())), ..self })
    }

    /// Gives each a deadline or a budget by these rules, with what is believed of run times if they are not known.
    #[must_use]
    pub fn limited(self, rules: Option<LimitRules>, believed: Option<Estimates>) -> Self {
        Self { limits: rules.map(|rules| (rules, believed)), ..self }
    }

    /// With notes about what was not taken as it is written.
    #[must_use]
    pub fn noting(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// What is submitted first: all workflows of a file, or the first one of a generator.
    pub fn first(&self) -> impl Iterator<Item = Result<WorkflowSubmission, SourceError>> + use<> {
        let (mut ahead, count) = (self.clone(), self.at_a_time());
        (0..count).map(move |_| ahead.submission(Time::ZERO))
    }

    /// How many workflows are submitted together each time.
    fn at_a_time(&self) -> u64 {
        match &self.supply {
            Supply::Drawn { .. } => 1,
            Supply::Given { workflows, .. } => workflows.len() as u64,
        }
    }

    /// The place of the next workflow among those that are submitted together.
    fn place(&self) -> usize {
        (self.state.made % self.at_a_time().max(1)) as usize
    }

    fn name(&self) -> String {
        match &self.supply {
            Supply::Drawn { shape, .. } => shape.to_string(),
            Supply::Given { name, .. } => name.clone(),
        }
    }

    fn next_workflow(&mut self) -> Result<WorkflowSpec, SourceError> {
        let place = self.place();
        match &self.supply {
            Supply::Given { workflows, .. } => Ok(workflows[place].1.clone()),
            Supply::Drawn { shape, rescaled } => {
                let drawn = self.state.seeds.below(u64::MAX);
                let seed = shape.seed.filter(|_| self.state.made == 0).unwrap_or(drawn);
                let shape = ShapeSpec { seed: Some(seed), ..shape.clone() };
                let made = shape.workflow(seed).and_then(|workflow| rescaled.apply(workflow));
                let name = || shape.to_string();
                made.map(|workflow| workflow.spec()).map_err(|error| failed(name(), error))
            }
        }
    }

    /// The next workflow, submitted at `submit`.
    fn submission(&mut self, submit: Time) -> Result<WorkflowSubmission, SourceError> {
        let spec = self.next_workflow()?;
        let mut submission = WorkflowSubmission::new(submit, JobId(self.state.next_job), spec);
        let purpose = format!("estimates of workflow {}", self.state.made);
        submission.seed = Stream::new(self.seed.0, &self.seed.1, &purpose).below(u64::MAX);
        submission.overheads = self.overheads;
        submission.failures = self.failures.clone();
        submission.tags = self.tags.clone();
        let bad = |error| failed(self.name(), error);
        let limits = |(rules, believed): (LimitRules, _)| {
            let basis = limits::basis(&submission, believed)?;
            let purpose = |limit: &str| format!("{limit} of workflow {}", self.state.made);
            let stream = |limit: &str| Stream::new(self.seed.0, &self.seed.1, &purpose(limit));
            Ok::<_, WorkflowError>((rules.limits(&basis, stream), believed))
        };
        let limits = self.limits.map(limits).transpose().map_err(bad)?;
        if let Some((_, by)) = &self.grouping {
            submission = put_into_groups(submission, &**by).map_err(bad)?;
        }
        if let Some((whole, believed)) = limits {
            submission.limits = Some(Box::new(limits::split(&submission, whole, believed).map_err(bad)?));
        }
        self.state.made += 1;
        self.state.next_job += submission.spec.tasks.len() as u64;
        if let Some(every) = self.every.filter(|_| self.place() == 0) {
            self.state.base += every.draw(&mut self.state.gaps);
        }
        Ok(submission)
    }

    /// A hash of what the workflows follow from, without the streams.
    fn content(&self) -> u128 {
        let gaps = self.every.map(|every| every.to_string());
        let group = self.grouping.as_ref().map(|(by, _)| by.to_string());
        let text = match &self.supply {
            Supply::Drawn { shape, rescaled } => format!("{shape} {rescaled:?}").into_bytes(),
            // Every workflow can be serialized.
            Supply::Given { workflows, .. } => postcard::to_stdvec(workflows).unwrap_or_default(),
        };
        let enacted = (group, self.overheads, &self.failures, &self.tags);
        let mut all = postcard::to_stdvec(&(text, self.count, gaps, enacted)).unwrap_or_default();
        all.extend(self.limits.map(|limits| format!("{limits:?}")).unwrap_or_default().into_bytes());
        xxh3_128(&all)
    }
}

/// The workflow of that name cannot be made.
fn failed(place: String, error: WorkflowError) -> SourceError {
    let WorkflowError { problem, hint, .. } = error;
    SourceError::Read { place, problem, hint: hint.to_owned() }
}

/// The same submission with the tasks of the workflow in groups.
fn put_into_groups(
    submission: WorkflowSubmission,
    by: &dyn Group,
) -> Result<WorkflowSubmission, WorkflowError> {
    let workflow = Workflow::from_spec(submission.spec)?;
    let grouping = Grouping::of(&workflow, by)?;
    let members = (0..grouping.groups().len()).map(|group| grouping.members(&workflow, group)).collect();
    let side_by_side = grouping.inside() != Inside::InTurn;
    let groups = Some(Box::new(TaskGroups { workflow: workflow.spec(), members, side_by_side }));
    Ok(WorkflowSubmission { spec: grouping.workflow().spec(), groups, ..submission })
}

impl Source for WorkflowSource {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        if self.state.made >= self.count.saturating_mul(self.at_a_time()) {
            return Ok(None);
        }
        let offset = match &self.supply {
            Supply::Drawn { .. } => Time::ZERO,
            Supply::Given { workflows, .. } => workflows[self.place()].0,
        };
        Ok(Some(self.state.base + offset.since(Time::ZERO)))
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        Err(SourceError::no_job(&self.name()))
    }

    fn next_submission(&mut self) -> Result<Option<Submission>, SourceError> {
        let Some(submit) = self.peek_time()? else { return Ok(None) };
        self.submission(submit).map(|submission| Some(Submission::Workflow(submission)))
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn mark(&self) -> Option<Mark> {
        let state = postcard::to_stdvec(&self.state).ok()?;
        Some(Mark { position: self.state.made, content: self.content(), state })
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        let fail = |problem: &str| SourceError::Mark { place: self.name(), problem: problem.to_owned() };
        if mark.content != self.content() {
            return Err(fail("the mark was made with other workflows"));
        }
        self.state = postcard::from_bytes(&mark.state).map_err(|_| fail("the mark is damaged"))?;
        Ok(())
    }
}
