//! Processors that the grid reserves here for parts of co-allocated jobs.

use super::{Outbox, Site, Stamp};
use crate::agreement::{Ask, HoldId, Room, Wanted};
use crate::entity::{Address, ToBroker};
use crate::local::{Partition, Slot, SlotRequest, Step};
use crate::model::{
    Job, MessageKind, OF_GRID, Origin, PartitionId, PoolId, Refusal, Reservable, StartOffer, TaskId,
};
use crate::units::Time;

/// What is asked when processors are sought: so many for so long, with a start in this interval.
#[derive(Copy, Clone, Debug)]
pub(super) struct Sought {
    pub(super) request: u64,
    pub(super) round: u32,
    pub(super) part: u32,
    pub(super) partition: PartitionId,
    pub(super) slot: SlotRequest,
}

/// The books of the partitions of a site, to which the grid has access.
struct Books<'a, 's> {
    partitions: &'a mut [Partition],
    touched: &'a mut [bool],
    reservable: Reservable,
    open: bool,
    step: Step<'s>,
}

/// The name of a hold in the book.
fn name(id: HoldId, wanted: &Wanted) -> String {
    format!("{OF_GRID}{}.{}", wanted.job.number, id.round)
}

/// The processors of a partition that may be reserved at once.
fn quota(partition: &Partition, reservable: Reservable) -> u32 {
    let all = u64::from(partition.spec().usable());
    u32::try_from(all * reservable.share_ppm / 1_000_000).unwrap_or(u32::MAX)
}

/// The plan's intervals of starts, as far as the quota leaves them.
fn within_quota(books: &Partition, wanted: &SlotRequest, reservable: Reservable, now: Time) -> Vec<Slot> {
    if reservable.share_ppm >= 1_000_000 {
        return books.offers(wanted, now);
    }
    /// One interval of the plan may be cut into several.
    const MORE: u32 = 16;
    let more = SlotRequest { alternatives: wanted.alternatives.saturating_mul(MORE), ..*wanted };
    let planned = books.offers(&more, now);
    let left = books.offers_under(quota(books, reservable), &more);
    let mut both = Vec::new();
    let (mut at, mut other) = (planned.iter().peekable(), left.iter().peekable());
    while let (Some(one), Some(two)) = (at.peek(), other.peek()) {
        let (start, until) = (one.start.max(two.start), one.until.min(two.until));
        if start <= until {
            both.push(Slot { start, until, procs: wanted.procs });
        }
        if one.until <= two.until {
            at.next()
        } else {
            other.next()
        };
    }
    both.truncate(wanted.alternatives as usize);
    both
}

impl Room for Books<'_, '_> {
    fn take(&mut self, id: HoldId, wanted: &Wanted) -> Result<(), Refusal> {
        let now = self.step.now;
        let at = wanted.pool.partition.index();
        let partition = self.partitions.get_mut(at).filter(|_| self.open).ok_or(Refusal::Closed)?;
        let procs = partition.spec().rounded(wanted.procs);
        if partition.most_reserved(wanted.from, wanted.to) + procs > quota(partition, self.reservable) {
            return Err(Refusal::Quota);
        }
        if !partition.takes_reservations() {
            return Err(Refusal::Closed);
        }
        let duration = wanted.to.since(wanted.from);
        let (earliest, latest) = (wanted.from, wanted.from);
        let there = SlotRequest { procs, duration, earliest, latest, alternatives: 1 };
        if partition.offers(&there, now).is_empty() {
            return Err(Refusal::NoRoom);
        }
        let taken = partition.reserve_for(&name(id, wanted), wanted, now);
        self.touched[at] = true;
        taken.map_err(|_| Refusal::NoRoom)
    }

    fn give(&mut self, id: HoldId, wanted: &Wanted) {
        let at = wanted.pool.partition.index();
        if let Some(partition) = self.partitions.get_mut(at) {
            self.touched[at] |= partition.give_up_reservation(&name(id, wanted), &mut self.step);
        }
    }
}

impl Site {
    /// Offers starts for a part of a request.
    pub(super) fn seek(&mut self, sought: Sought, now: Stamp, outbox: &mut dyn Outbox) {
        let Sought { request, round, part, partition, slot } = sought;
        let mut offers = Vec::new();
        let there = self.is_open() && !self.is_closing();
        if let Some(books) = self.partitions.get(partition.index()).filter(|_| there) {
            let procs = books.spec().rounded(slot.procs);
            let slot = SlotRequest { procs, earliest: slot.earliest.max(now.time), ..slot };
            let may = procs <= quota(books, self.spec.reservable) && books.takes_reservations();
            let slots =
                if may { within_quota(books, &slot, self.spec.reservable, now.time) } else { Vec::new() };
            let busy_until = books.busy_until(now.time);
            let price = self.spec.reservable.price;
            let offer =
                |slot: &Slot| StartOffer { from: slot.start, until: slot.until, procs, price, busy_until };
            offers.extend(slots.iter().map(offer));
        }
        let pool = PoolId { site: self.id, partition };
        let letter = ToBroker::Offers { request, round, pool, part, offers };
        let told = format!("offers {request} {part} {round} {}", now.time.micros());
        self.send_late(MessageKind::Reservations, Address::Broker, &told, letter, now, outbox);
    }

    /// Does what the broker asks about a hold, and answers.
    pub(super) fn agree(&mut self, id: HoldId, ask: Ask, now: Stamp, outbox: &mut dyn Outbox) {
        let mut holder = std::mem::take(&mut self.holder);
        let answer = holder.hear(id, ask, now.time, &mut self.books(now.time, outbox));
        self.holder = holder;
        let letter = ToBroker::Answered { id, answer };
        let told = format!("answer {id} {} {}", ask.name(), now.time.micros());
        self.send_late(MessageKind::Reservations, Address::Broker, &told, letter, now, outbox);
    }

    /// Gives back what has lapsed.
    #[inline]
    pub(super) fn lapse_holds(&mut self, now: Time, outbox: &mut dyn Outbox) {
        if self.holder.next().is_some_and(|next| next <= now) {
            let mut holder = std::mem::take(&mut self.holder);
            holder.lapse(now, &mut self.books(now, outbox));
            self.holder = holder;
        }
    }

    /// The site has failed without a word: what it merely held is lost.
    pub(super) fn forget_holds(&mut self, now: Time, outbox: &mut dyn Outbox) {
        let mut holder = std::mem::take(&mut self.holder);
        holder.crash(&mut self.books(now, outbox));
        self.holder = holder;
    }

    fn books<'a>(&'a mut self, now: Time, outbox: &'a mut dyn Outbox) -> Books<'a, 'a> {
        let open = self.is_open() && !self.is_closing();
        Books {
            reservable: self.spec.reservable,
            open,
            partitions: &mut self.partitions,
            touched: &mut self.touched,
            step: Step::new(now, outbox, &mut self.ended),
        }
    }

    /// Whether a part of a co-allocated job finds the reservation that is kept for it. Any other job needs none.
    pub(super) fn finds_reservation(&mut self, job: &Job, now: Time) -> bool {
        job.grid.as_ref().and_then(|grid| grid.part).is_none_or(|id| self.holder.claim(id, now))
    }

    /// A job of the grid has left: so has its reservation.
    pub(super) fn end_reservation(&mut self, number: Option<u64>, job: crate::model::JobRef) {
        if number.is_some() && job.origin() == Origin::Grid && !self.holder.is_empty() {
            self.holder.end_of(job);
        }
    }

    /// Ends the parts whose reservation has begun and that could not start on it. True if there were any.
    pub(super) fn miss_starts(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> bool {
        if self.holder.is_empty() {
            return false;
        }
        let mut any = false;
        let mut step = Step::new(now.time, outbox, &mut self.ended);
        for (partition, touched) in self.partitions.iter_mut().zip(&mut self.touched) {
            let missed = partition.miss_starts(&mut step);
            *touched |= missed;
            any |= missed;
        }
        any
    }

    /// Ends a job of the grid of which another part has failed.
    pub(super) fn abort(&mut self, task: TaskId, assignment: u32, now: Stamp, outbox: &mut dyn Outbox) {
        let mut step = Step::new(now.time, outbox, &mut self.ended);
        for (partition, touched) in self.partitions.iter_mut().zip(&mut self.touched) {
            if partition.assignment(task.0) == Some(assignment) {
                *touched |= partition.abort(task.0, &mut step);
            }
        }
    }
}
