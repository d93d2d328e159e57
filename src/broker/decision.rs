//! The facts of a broker's decisions: the pools that were compared for each assignment.
//!
//! A [`super::GridView`] without a trace records nothing. With one ([`super::GridView::traced`]), the assignment of the traced job
//! records the pools where the job fits with the start and completion that the view expects in each, and the values that the
//! policy compares ([`super::GridView::note`]): one for a policy with one cost, several for one with several. A policy that chose a whole
//! schedule from a front records that too ([`super::GridView::compared`]), with where each schedule puts the job.

use super::{Reason, TracedFront};
use crate::model::{JobId, PoolId};
use crate::units::Time;

/// An assignment, and what was compared for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// When it was made.
    pub at: Time,
    /// When the policy was asked for it: earlier, if planning takes time.
    pub asked: Time,
    /// The job.
    pub job: JobId,
    /// The pool that was chosen.
    pub pool: PoolId,
    /// Why.
    pub reason: Reason,
    /// The pools where the job fits, in the order of pools.
    pub candidates: Vec<Candidate>,
    /// The front from which the policy chose the schedule that puts the job there, if it did.
    pub front: Option<TracedFront>,
}

/// A pool where a job fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The pool.
    pub pool: PoolId,
    /// When the job could start there; `None` if its processors are not present.
    pub start: Option<Time>,
    /// When it would complete there; `None` likewise.
    pub end: Option<Time>,
    /// The values that the policy compares, by name, in the order in which it noted them.
    pub values: Vec<(&'static str, f64)>,
}

/// What a plan has recorded so far of one job.
#[derive(Debug)]
pub(super) struct PlanTrace {
    pub(super) job: JobId,
    pub(super) choice: Option<Choice>,
    /// Names of what the policy compares, each with a value per pool.
    pub(super) notes: Vec<(&'static str, Vec<f64>)>,
    /// The front of the planning.
    pub(super) front: Option<TracedFront>,
}
