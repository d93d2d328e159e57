//! The files of tasks go to the sites where they are needed.

use super::data::{Copying, place_of, site_at};
use super::workflows::Workflows;
use super::{Broker, State, of_job, task};
use crate::broker::{BrokerEvent, Pool, Task, TaskState};
use crate::entity::mailbox::Moments;
use crate::entity::{Address, EntityError, Outbox, Stamp, ToDispatcher, ToNetwork};
use crate::model::{
    EventCause, EventKind, EventRecord, FileId, Job, PoolId, Record, SiteId, StorageSpec, TaskId,
    TransferMode, TransferOutcome, TransferRecord, WorkflowSubmission,
};
use crate::platform::{Coming, Fetch, Place};
use crate::units::{Bytes, Span};

impl Workflows {
    /// The space that the files of a task take where it runs; none if it is of no workflow.
    pub(super) fn space(&self, task: TaskId) -> Bytes {
        self.get(task).map_or(Bytes::ZERO, |(enacted, at)| enacted.submitted.space(at))
    }
}

/// The capacity of the storage of a pool's site, among these of all places.
fn capacity(storages: &[StorageSpec], pool: &Pool) -> Option<Bytes> {
    storages.get(place_of(pool.facts.id.site) as usize).and_then(|storage| storage.capacity)
}

/// The pools whose storage is too small for so much, in their order.
pub(super) fn too_small<'a>(
    storages: &'a [StorageSpec],
    pools: &'a [Pool],
    space: Bytes,
) -> impl Iterator<Item = PoolId> + 'a {
    let small = move |pool: &&Pool| capacity(storages, pool).is_some_and(|capacity| space > capacity);
    pools.iter().filter(small).map(|pool| pool.facts.id)
}

impl Broker {
    /// Refuses a workflow with a task whose files fit into the storage of no site that could run it.
    pub(super) fn check_sizes(&self, submitted: &WorkflowSubmission) -> Result<(), EntityError> {
        if self.network.storages.iter().all(|storage| storage.capacity.is_none()) {
            return Ok(());
        }
        let pools = &self.state.pools;
        let jobs: Vec<Job> = submitted.jobs(None).collect();
        let sites = |at: usize| {
            let fits = pools.iter().filter(|pool| pool.could_run(&Task::new(&jobs[at], &[])));
            fits.map(|pool| (&*pool.facts.site, self.capacity(pool))).collect()
        };
        submitted.too_large(sites).map_or(Ok(()), |problem| {
            let (number, name) = (submitted.number, submitted.spec.name.clone());
            Err(EntityError::BadWorkflow { number, name, problem })
        })
    }

    fn capacity(&self, pool: &Pool) -> Option<Bytes> {
        capacity(&self.network.storages, pool)
    }

    /// The pools that cannot take a job whose files take so much space, in their order: the machines lack what it needs, or the storage is too small.
    pub(super) fn unfit(&self, job: &Job, space: Bytes) -> Vec<PoolId> {
        let pools = &self.state.pools;
        let mut unfit = Pool::unfit(pools, job);
        if !self.network.storages.is_empty() {
            unfit.extend(too_small(&self.network.storages, pools, space));
            unfit.sort_unstable();
            unfit.dedup();
        }
        unfit
    }

    /// Jobs that are assigned and wait with the broker for their files.
    pub fn staged(&self) -> impl Iterator<Item = &Job> {
        self.state.tasks.staged()
    }

    /// Whether a file that a task reads is not at a site.
    pub(super) fn lacks_files(&self, task: TaskId, site: SiteId) -> bool {
        let State { workflows, data, .. } = &self.state;
        workflows.inputs(task).any(|file| !data.replicas.is_at(file, place_of(site)))
    }

    /// Keeps a task that has just been placed until its files are at its site, and asks for those that are not on their way there.
    pub(super) fn stage(&mut self, job: Box<Job>, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        let task = task(&job);
        self.state.tasks.stage(job);
        self.gather(task, site, now, outbox);
        self.count_staged(vec![task], now);
    }

    /// Has the files that a task reads brought to a site, where it waits for those that are not there. True if all are there.
    fn gather(&mut self, task: TaskId, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) -> bool {
        let (inputs, to) = (self.inputs(task), place_of(site));
        if self.state.data.waits(task, to) {
            self.state.data.forget(task, &inputs);
        } else {
            self.forget_files(task);
        }
        let mut all = true;
        for file in inputs {
            if self.bring(file, to, task, now, outbox) != Fetch::Here {
                self.state.data.wait(file, to, task);
                all = false;
            }
        }
        all
    }

    /// Whether a planned task whose turn has come has its files; if not, they are brought.
    pub(super) fn has_files(
        &mut self,
        task: TaskId,
        pool: usize,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> bool {
        if self.state.workflows.is_empty() {
            return true;
        }
        let site = self.state.pools[pool].facts.id.site;
        let waits = self.state.data.waits(task, place_of(site));
        !waits && (!self.lacks_files(task, site) || self.gather(task, site, now, outbox))
    }

    /// Notes that a task waits for no files.
    pub(super) fn forget_files(&mut self, task: TaskId) {
        let Some(at) = self.state.data.place_of_task(task) else { return };
        let inputs = self.inputs(task);
        self.state.data.forget(task, &inputs);
        self.give_up_copies(task, at);
    }

    /// Gives up the copies of files of a task to a place that wait for space and that nobody wants there any more.
    pub(super) fn give_up_copies(&mut self, task: TaskId, at: Place) {
        for file in self.inputs(task) {
            if self.state.data.is_for_space(file, at) && self.reader_at(file, at).is_none() {
                self.state.data.unwanted(file, at);
            }
        }
    }

    /// Whether a file that a task reads cannot come to a pool now: the sites that have it have left, or it waits for space.
    pub(super) fn is_held_up(&self, task: TaskId, pool: usize) -> bool {
        let State { workflows, data, pools, .. } = &self.state;
        let to = place_of(pools[pool].facts.id.site);
        let cannot_come = |file| data.is_for_space(file, to) || !data.away(file, to).is_empty();
        workflows.inputs(task).any(|file| !data.replicas.is_at(file, to) && cannot_come(file))
    }

    /// Has the files of a task that was planned for a pool brought there: if it is ready all that it reads, and else, if data is eager, what
    /// there is of that.
    pub(super) fn bring_ahead(&mut self, task: TaskId, pool: usize, now: Stamp, outbox: &mut dyn Outbox) {
        let site = self.state.pools[pool].facts.id.site;
        match self.state.tasks.state(task) {
            Some(TaskState::Ready) => _ = self.gather(task, site, now, outbox),
            Some(TaskState::Blocked) if self.spec.workflow.transfer == TransferMode::Eager => {
                for file in self.inputs(task) {
                    self.bring(file, place_of(site), task, now, outbox);
                }
            }
            _ => {}
        }
    }

    pub(super) fn inputs(&self, task: TaskId) -> Vec<FileId> {
        self.state.workflows.inputs(task).collect()
    }

    /// Has a file copied to a place for a task, unless it is there or on its way.
    pub(super) fn bring(
        &mut self,
        file: FileId,
        to: Place,
        task: TaskId,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Fetch {
        if self.state.data.broken.contains_key(&(file, to)) {
            return Fetch::Nowhere;
        }
        let fetch = self.state.data.fetch(file, to, now.time, &self.network);
        if let Fetch::From(coming) = fetch
            && let Some(record) = self.state.workflows.transfer(task, file)
        {
            self.copy((file, to), coming, false, record, now, outbox);
        }
        fetch
    }

    /// Asks the network for a copy.
    fn copy(
        &mut self,
        (file, to): (FileId, Place),
        Coming { from, expected }: Coming,
        home: bool,
        record: TransferRecord,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        let record = TransferRecord {
            from: site_at(from),
            to: site_at(to),
            asked: now.time,
            began: None,
            outcome: TransferOutcome::Unfinished,
            ..record
        };
        let copy = Copying { file, from, to, home, record };
        if let Some(id) = self.state.data.copy(copy, expected, &self.network) {
            self.begin_copy(id, now, outbox);
        }
    }

    fn begin_copy(&mut self, id: u64, now: Stamp, outbox: &mut dyn Outbox) {
        let Some((from, to, data)) = self.state.data.begin(id, now.time) else { return };
        let letter = ToNetwork::Transfer { id, from, to, data, reply: Address::Broker };
        self.send(Address::Network, now, Span::ZERO, letter, outbox);
    }

    /// Lets the copies begin that have their space now.
    pub(super) fn begin_granted(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        for id in self.state.data.take_granted() {
            self.begin_copy(id, now, outbox);
        }
    }

    /// Results that have not come home: the sites that have them have left, or where they go has.
    pub fn stranded(&self) -> usize {
        self.state.data.stranded.len()
    }

    /// The most that was ever stored at a site.
    pub fn stored_peak(&self, site: SiteId) -> Bytes {
        self.state.data.peak(place_of(site))
    }

    /// Handles the arrival of a copy: tasks that waited for nothing else are sent.
    pub(super) fn transferred(&mut self, id: u64, now: Stamp, outbox: &mut dyn Outbox) {
        let Some(copy) = self.state.data.over(id, TransferOutcome::Arrived, now.time, outbox) else { return };
        if let Some(began) = copy.record.began {
            self.measure_transfer((copy.from, copy.to), copy.record.bytes, now.time.since(began), now.time);
        }
        self.state.last = now.time;
        if copy.home {
            self.state.data.used([copy.file]);
        }
        self.appeared(copy.file, copy.to, now, outbox);
        // It may lie nowhere else where it can be had: it goes on from here.
        if self.state.data.replicas.places(copy.file).nth(1).is_none() {
            let others = self.state.data.waiting_for(copy.file, 0..=Place::MAX);
            for task in &others {
                if let Some(to) = self.state.data.place_of_task(*task) {
                    self.bring(copy.file, to, *task, now, outbox);
                }
            }
            self.count_staged(others, now);
        }
    }

    /// Sends the tasks that waited only for this file at this place.
    fn appeared(&mut self, file: FileId, at: Place, now: Stamp, outbox: &mut dyn Outbox) {
        for task in self.state.data.there(file, at) {
            self.send_staged(task, now, outbox);
        }
    }

    fn send_staged(&mut self, task: TaskId, now: Stamp, outbox: &mut dyn Outbox) {
        let Some(TaskState::Staging(at)) = self.state.tasks.state(task) else { return };
        let facts = &self.state.pools[at].facts;
        let (pool, arrival) = (facts.id, now.next_round().after(facts.latency));
        let Some(job) = self.state.tasks.send(task, arrival) else { return };
        self.moved(&job, now);
        if self.state.tasks.plan_of(task).is_some() {
            self.state.turns.send(task, at, now.time);
        }
        if let Some(course) = self.state.workflows.course(task) {
            course.send(now.time);
        }
        self.send(Address::Dispatcher, now, Span::ZERO, ToDispatcher::Assign { job, pool }, outbox);
    }

    /// Recalls the tasks that wait for files. What is on its way for them still arrives.
    pub(super) fn recall_staged(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        let staged: Vec<TaskId> = self.state.data.staged().collect();
        for task in staged {
            let back = self.unstage(task, EventKind::Recalled, EventCause::Replanned, now, outbox);
            self.state.tally.recalled += u64::from(back);
        }
    }

    /// Lets a task that waits for files be planned again. False if it is no such task, or a planned one.
    pub(super) fn unstage(
        &mut self,
        task: TaskId,
        kind: EventKind,
        cause: EventCause,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> bool {
        self.ask_again(task, false);
        let Some((at, mut job, refused)) = self.state.tasks.unstage(task) else { return false };
        let pool = self.settle(at, now);
        self.forget_files(task);
        outbox.record(Record::Event(EventRecord { kind, cause, ..of_job(&job, now.time) }));
        // The task did not cause this: no assignment is counted.
        job.grid.get_or_insert_default().recalled += 1;
        self.policy.on(&BrokerEvent::Returned { task, job: job.id, pool, why: cause });
        self.lose(task);
        self.wait(job, refused, now, outbox);
        true
    }

    /// Notes that the files which a task writes lie at its site now. What nobody reads is a result and goes home; what a planned task reads
    /// leaves for its site, if data is eager.
    pub(super) fn made(&mut self, task: TaskId, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        let at = place_of(site);
        self.missed |= self.state.data.replicas.is_away(at);
        let outputs: Vec<FileId> = self.state.workflows.outputs(task).collect();
        for file in outputs {
            self.state.data.made(file, at, &self.network);
            self.appeared(file, at, now, outbox);
            let readers = self.state.workflows.readers(file, task);
            if readers.is_empty() {
                // A task that runs again may have brought it home before.
                self.state.data.stranded.remove(&file);
                let wanted = self.state.data.replicas.size(file).is_some();
                if let Some(record) = self.state.workflows.transfer(task, file).filter(|_| wanted) {
                    self.bring_home(file, record, now, outbox);
                }
            } else if self.spec.workflow.transfer == TransferMode::Eager {
                for reader in readers {
                    let Some(pool) = self.state.tasks.planned(reader) else { continue };
                    let to = place_of(self.state.pools[pool].facts.id.site);
                    self.bring(file, to, reader, now, outbox);
                }
            }
        }
    }

    /// Has a result copied to where results go. What cannot be had now is brought when it can.
    pub(super) fn bring_home(
        &mut self,
        file: FileId,
        record: TransferRecord,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        let home = self.spec.workflow.files;
        match self.state.data.fetch(file, home, now.time, &self.network) {
            // It is home, also where home has left.
            _ if self.state.data.replicas.lies_at(file, home) => self.state.data.used([file]),
            Fetch::From(coming) => self.copy((file, home), coming, true, record, now, outbox),
            Fetch::Here => {}
            Fetch::Coming(_) => {}
            Fetch::Nowhere => _ = self.state.data.stranded.insert(file, record),
        }
    }
}
