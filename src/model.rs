//! The nouns of the grid: jobs, machines, sites, processor sets, outcomes and records.
//!
//! Plain data with arithmetic and validation. Nothing here decides anything: scheduling lives in
//! [`crate::local`], and behaviour over time in [`crate::entity`].

mod application;
mod churn;
mod class;
mod coallocation;
mod elastic;
mod enactment;
mod failure_trace;
mod failures;
mod fault;
mod front;
mod grid;
mod group_failures;
mod ids;
mod job;
mod layout;
mod levels;
mod limits;
mod named;
mod needs;
mod order;
mod outcome;
mod partition;
mod per_kwh;
mod placement;
pub(crate) mod power_cap;
mod preemption;
mod procset;
mod record;
mod registry;
mod reservation;
mod site;
mod sleep;
mod slice;
mod speedup;
mod tariff;
mod task;
mod text;
mod trace;
mod workflow;

pub use application::{Application, ApplicationSpec};
pub use churn::{
    CheckpointInterval, Checkpointing, ChurnAct, ChurnSpec, Distribution, FailureAction, Machines,
    PlannedChurn, RandomChurn,
};
pub use class::{ClassError, ClassifiedBy, EstimateBound, JobClass, JobClasses, SizeBound};
pub use coallocation::{
    Coallocated, CoallocationGoal, CoallocationOutcome, CoallocationRecord, CoallocationSpec, Coupling,
    HoldId, Holding, Refusal, Reservable, StartOffer,
};
pub use elastic::{CommandRefusal, Elastic, ElasticCommand, JobAct};
pub use enactment::{
    EstimateBase, LostData, PlanRepair, TaskOrder, TransferMode, TransferOutcome, TransferRecord,
    WorkflowSettings,
};
pub use failure_trace::{FailureTrace, NodeOutages, Outage, TracedChurn};
pub use failures::{Faults, TaskFailures};
pub use fault::{FaultKind, FaultSpec, Heartbeat, MessageKind, MessageKinds};
pub use front::{FrontPoint, FrontRecord, Objective};
pub use grid::{
    BrokerSpec, DataRates, GridSpec, Information, Link, NetworkSpec, Payer, PlanningTime, Replan, RunTimes,
    Sharing, StorageSpec,
};
pub use group_failures::{GroupFailures, GroupSize};
pub use ids::{
    FileId, JobId, JobKey, JobRef, NamedJob, PartitionId, PoolId, SiteId, TaskId, WorkflowId, WorkloadId,
};
pub use job::{GridContext, Job, JobError, JobKind, Origin, Predecessor, Size};
pub use layout::Layout;
pub use levels::{Embodied, Level};
pub use limits::{AtLimit, Limits, WorkflowLimits};
pub use named::{Named, NamedError, did_you_mean, nearest, suggestion};
pub use needs::{Equipment, Needs};
pub(crate) use order::OF_GRID;
pub use order::{BookAct, Booked, BookingRefusal, Order, PlannedOrder, ReservationRequest};
pub use outcome::{Outcome, RejectReason};
pub use partition::{MachineGroup, PartitionSpec};
pub use per_kwh::{PerKwh, Trace};
pub use placement::PlacementRule;
pub use power_cap::PowerPart;
pub use preemption::{JobMemory, MemoryLaw, MemoryOf, OnLeave, Preemption};
pub(crate) use procset::lowest_bits;
pub use procset::{Blocks, Intervals, ProcSet};
pub use record::{
    Cause, EventCause, EventKind, EventRecord, JobRecord, MachineRecord, MachineState, Record, RecordSink,
    SegmentRecord, Suspension, ready,
};
pub(crate) use registry::standard_policies;
pub use registry::{About, Alias, Entry, Kind, ParamInfo, Registry, RegistryError};
pub use reservation::Reservation;
pub(crate) use reservation::Reserved;
pub use site::{InstantOrder, MAX_PROCESSORS, SiteError, SiteSpec};
pub use sleep::SleepSpec;
pub use slice::{GroupRecord, GroupedJob, SliceClass, SliceRecord};
pub use speedup::{Speedup, SpeedupError};
pub use tariff::{DayRates, DayRatesError, SiteTariff};
pub use task::{Marks, Passed, TaskContext, TaskTimes};
pub(crate) use text::{saved_as_text, words};
pub use trace::TraceOf;
pub use workflow::{
    GroupMember, ResponseParts, Submission, TaskGroups, TaskRecord, WorkflowBounds, WorkflowFile,
    WorkflowOverheads, WorkflowRecord, WorkflowSpec, WorkflowSubmission, WorkflowTask,
};
