//! Any pool.

use itoa::Buffer;
use smallvec::SmallVec;

use crate::broker::{Absent, BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, Picture, WaitingJob};
use crate::workload::random::Stream;

pub(super) const INFO: BrokerPolicyInfo = BrokerPolicyInfo {
    name: "random",
    doc: "Sends each job to any pool that has enough processors, each as likely as the others.",
    source: "folklore; the baseline of every comparison",
    params: &[Absent::PARAM],
    abilities: BrokerAbilities { random: true, ..BrokerAbilities::PLAIN },
    build: |mut named, seed| {
        let absent = Absent::take(&mut named)?;
        named.finish(&[Absent::PARAM.key])?;
        Ok(Box::new(Random { seed: Stream::new(seed, "broker", "random").next_u64(), absent }))
    },
};

/// Any pool that has the processors.
///
/// A job draws a number for every pool, whether it fits there or not, and goes where it drew the least of those where it
/// fits. So a pool that closes or opens changes only the jobs that go there.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    absent: Absent,
}

impl Random {
    /// The draws of a job for its next try: they depend on seed, job and try alone.
    fn draws(&self, job: &WaitingJob<'_>, pools: usize) -> SmallVec<[u64; 32]> {
        let (mut id, mut try_number) = (Buffer::new(), Buffer::new());
        let (id, try_number) = (id.format(job.id().0), try_number.format(job.try_number()));
        let mut stream = Stream::new(self.seed, id, try_number);
        (0..pools).map(|_| stream.next_u64()).collect()
    }
}

impl BrokerPolicy for Random {
    fn plan(&mut self, picture: &mut Picture<'_>) {
        let pools = picture.pools().len();
        for (at, job) in picture.waiting().iter().enumerate() {
            // Drawn only once there is a choice: many jobs may wait that fit nowhere.
            let mut draws = None;
            let mut draw = |pool: usize| {
                let draws: &SmallVec<_> = draws.get_or_insert_with(|| self.draws(job, pools));
                draws.get(pool).copied()
            };
            let best =
                picture.least(at, true, &mut draw).or_else(|| self.absent.least(picture, at, &mut draw));
            if let Some(pool) = best {
                picture.assign(at, pool);
            }
        }
    }
}
