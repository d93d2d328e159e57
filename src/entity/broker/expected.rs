//! When the files of tasks can be at sites, for the estimates of policies.

use std::cell::RefCell;
use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::data::{Data, place_of};
use super::workflows::Workflows;
use crate::broker::DataTimes;
use crate::model::{FileId, NetworkSpec, Sharing, SiteId, TaskId};
use crate::platform::{Coming, Fetch, Known, Load, Place};
use crate::units::{Bytes, Time};

/// What the broker expects of the files of tasks while a plan is made.
#[derive(Debug)]
pub(super) struct Expected<'a> {
    workflows: &'a Workflows,
    data: &'a Data,
    network: &'a NetworkSpec,
    now: Time,
    /// Of the task that was asked about last the files that it reads, as far as they are anywhere.
    last: RefCell<(Option<TaskId>, Files<'a>)>,
    decided: RefCell<Decided>,
}

type Files<'a> = SmallVec<[(FileId, &'a Known); 4]>;

/// What the plan will have copied, as far as it is made.
#[derive(Debug, Default)]
struct Decided {
    /// When copies are expected.
    coming: BTreeMap<(FileId, Place), Time>,
    /// The load of the network with these copies, if there are any.
    load: Option<Load>,
}

impl<'a> Expected<'a> {
    pub(super) fn new(workflows: &'a Workflows, data: &'a Data, network: &'a NetworkSpec, now: Time) -> Self {
        Self { workflows, data, network, now, last: RefCell::default(), decided: RefCell::default() }
    }
}

impl DataTimes for Expected<'_> {
    fn there(&self, task: TaskId, site: SiteId) -> Time {
        let Self { data, network, now, .. } = *self;
        let to = place_of(site);
        let mut last = self.last.borrow_mut();
        if last.0 != Some(task) {
            let files = self.workflows.inputs(task);
            *last = (Some(task), files.filter_map(|file| Some((file, data.replicas.find(file)?))).collect());
        }
        let decided = self.decided.borrow();
        let load = decided.load.as_ref().unwrap_or(&data.load);
        let mut latest = now;
        // What comes from one place over a shared link takes as long as all of it together.
        let mut sums: SmallVec<[(Place, u64); 4]> = SmallVec::new();
        let estimate = |from, to, size| load.estimate(network, from, to, size);
        for (id, file) in &last.1 {
            if let Some(expected) = decided.coming.get(&(*id, to)) {
                latest = latest.max(*expected);
                continue;
            }
            match data.replicas.fetch_known(file, to, now, estimate) {
                Fetch::Here => {}
                // From where it comes to first. When a site is back that has it is not known.
                Fetch::Nowhere => {
                    if let Some((from, Coming { expected, .. })) = file.first_coming() {
                        latest = latest.max(expected + estimate(from, to, file.size()));
                    }
                }
                Fetch::Coming(coming) => latest = latest.max(coming.expected),
                Fetch::From(coming) if network.sharing == Sharing::Unshared => {
                    latest = latest.max(coming.expected)
                }
                Fetch::From(Coming { from, .. }) => {
                    let size = file.size().count();
                    match sums.iter_mut().find(|(place, _)| *place == from) {
                        Some((_, sum)) => *sum = sum.saturating_add(size),
                        None => sums.push((from, size)),
                    }
                }
            }
        }
        let all = |(from, sum): (Place, u64)| now + estimate(from, to, Bytes::new(sum));
        sums.into_iter().map(all).fold(latest, Time::max)
    }

    fn decided(&self, task: TaskId, site: SiteId) {
        let Self { data, network, now, .. } = *self;
        let to = place_of(site);
        let Decided { coming, load } = &mut *self.decided.borrow_mut();
        for file in self.workflows.inputs(task) {
            let Some(known) = data.replicas.find(file).filter(|_| !coming.contains_key(&(file, to))) else {
                continue;
            };
            let load = load.get_or_insert_with(|| data.load.clone());
            let estimate = |from, to, size| load.estimate(network, from, to, size);
            if let Fetch::From(copy) = data.replicas.fetch_known(known, to, now, estimate) {
                load.begin(copy.from, to);
                coming.insert((file, to), copy.expected);
            }
        }
    }
}
