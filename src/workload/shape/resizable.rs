//! Rigid jobs turned into malleable ones.

use serde::{Deserialize, Serialize};

use super::{Shape, Shaped, mark_error, own_state, with_state};
use crate::model::{Job, Size, Speedup};
use crate::workload::random::Stream;
use crate::workload::{Mark, Source, SourceError};

/// Which jobs of a workload are made malleable, and how: `malleable = { share = 0.5, speedup = "working-set" }`.
///
/// ```
/// use gridemu::workload::{MalleableSpec, SpeedupForm};
///
/// let half = MalleableSpec { share: 0.5, speedup: SpeedupForm::WorkingSet, ..MalleableSpec::default() };
/// assert_eq!(half.range(16, 100), (8, 32));
/// assert_eq!(MalleableSpec::default().range(16, 100), (1, 100));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MalleableSpec {
    /// The share of jobs that are malleable, from 0 to 1, drawn for each job.
    pub share: f64,
    /// The fewest processors, as a part of those that a job requests. If it is not given, half of them with [`SpeedupForm::WorkingSet`], and else one
    /// processor.
    pub least: Option<f64>,
    /// The most processors, as a multiple of those that a job requests, and no more than the largest machine has. If it is not given, twice as many with
    /// [`SpeedupForm::WorkingSet`], and else all of that machine.
    pub most: Option<f64>,
    /// How its rate follows its processors.
    pub speedup: SpeedupForm,
}

/// How the rate of jobs that are made malleable follows their processors.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SpeedupForm {
    /// In proportion.
    #[default]
    Linear,
    /// [`Speedup::of_working_set`]: an efficiency of 80 % on the fewest processors, 65 % on those requested and 50 % on the most.
    WorkingSet,
}

impl Default for MalleableSpec {
    fn default() -> Self {
        Self { share: 1.0, least: None, most: None, speedup: SpeedupForm::Linear }
    }
}

impl MalleableSpec {
    /// The fewest and most processors of a job that requests `preferred`, where the largest machine has `largest`.
    pub fn range(&self, preferred: u32, largest: u32) -> (u32, u32) {
        let (least, most) = self.unlimited(preferred, largest);
        (least, most.min(largest).max(preferred))
    }

    /// As [`MalleableSpec::range`], with as many processors as the job could use on a larger machine.
    fn unlimited(&self, preferred: u32, largest: u32) -> (u32, u32) {
        let by_default = |part: f64| (self.speedup == SpeedupForm::WorkingSet).then_some(part);
        let least = self.least.or(by_default(0.5)).map_or(1, |part| times(preferred, part));
        let most = self.most.or(by_default(2.0)).map_or(largest, |part| times(preferred, part));
        (least.clamp(1, preferred.max(1)), most.max(preferred))
    }

    fn size(&self, preferred: u32, largest: u32) -> Size {
        let (min, max) = self.range(preferred, largest);
        let speedup = match self.speedup {
            SpeedupForm::Linear => Speedup::Linear,
            // The machine limits the size, not the curve: a job that requests nearly all of it would else be slower on all of it.
            SpeedupForm::WorkingSet => {
                Speedup::of_working_set(min, preferred, self.unlimited(preferred, largest).1)
            }
        };
        Size::Malleable { min, preferred, max, speedup }
    }
}

/// So many times as many processors, rounded down.
fn times(procs: u32, part: f64) -> u32 {
    // Decimal parts are exact to a millionth, and the casts saturate.
    let millionths = (part * 1e6).round() as u64;
    u32::try_from(u64::from(procs).saturating_mul(millionths) / 1_000_000).unwrap_or(u32::MAX)
}

/// A source of which some jobs are malleable, or all. A job prefers as many processors as it requested, where it has its run time. One that is larger than
/// the largest machine stays as it is. Which jobs are chosen depends on the seed, the entity and the number of each job alone, and those of a smaller share
/// are among those of a larger one.
pub type Resizable = Shaped<Malleable>;

/// How jobs are made malleable on up to this number of processors.
pub struct Malleable {
    spec: MalleableSpec,
    largest: u32,
    seed: u64,
    entity: String,
}

impl Resizable {
    /// Makes jobs of `inner` malleable, on up to `largest` processors.
    pub fn new(inner: Box<dyn Source>, spec: MalleableSpec, largest: u32, seed: u64, entity: &str) -> Self {
        Self { inner, shape: Malleable { spec, largest, seed, entity: entity.to_owned() } }
    }
}

impl Malleable {
    fn chooses(&self, job: &Job) -> bool {
        let drawn = || Stream::new(self.seed, &self.entity, &format!("malleable {}", job.id)).uniform();
        self.spec.share >= 1.0 || drawn() < self.spec.share
    }
}

impl Shape for Malleable {
    fn apply(&mut self, job: &mut Job) -> Result<(), SourceError> {
        if let Size::Rigid(preferred) = job.size
            && (1..=self.largest).contains(&preferred)
            && self.chooses(job)
        {
            job.size = self.spec.size(preferred, self.largest);
        }
        Ok(())
    }

    fn mark(&self, inner: Mark) -> Option<Mark> {
        with_state(inner, &(self.largest, self.spec))
    }

    fn seek(&mut self, mark: &Mark) -> Result<Mark, SourceError> {
        let ((largest, spec), inner): ((u32, MalleableSpec), _) = own_state("malleable jobs", mark)?;
        if largest != self.largest {
            let problem = format!("the mark was made with jobs of up to {largest} processors");
            return Err(mark_error("malleable jobs", &problem));
        }
        if spec != self.spec {
            return Err(mark_error("malleable jobs", "the mark was made with other malleable jobs"));
        }
        Ok(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Span, Time};
    use crate::workload::Jobs;

    /// The sizes of jobs that request so many processors, of a machine of 8.
    fn sizes(spec: MalleableSpec, requested: impl IntoIterator<Item = u32>) -> Vec<Size> {
        let jobs = requested.into_iter().zip(1..);
        let jobs = jobs.map(|(procs, id)| Job::rigid(id, Time::ZERO, procs, Span::SECOND)).collect();
        let mut source = Resizable::new(Box::new(Jobs::new(jobs)), spec, 8, 7, "site");
        let mut sizes = Vec::new();
        while let Some(job) = source.next_job().unwrap() {
            job.check().unwrap();
            sizes.push(job.size);
        }
        sizes
    }

    #[test]
    fn jobs_that_find_room_can_be_resized() {
        let malleable = |preferred| Size::Malleable { min: 1, preferred, max: 8, speedup: Speedup::Linear };
        let expected = [malleable(1), malleable(8), Size::Rigid(9)];
        assert_eq!(sizes(MalleableSpec::default(), [1, 8, 9]), expected);
    }

    #[test]
    fn a_share_is_drawn_for_each_job_and_grows() {
        let chosen = |share| -> Vec<bool> {
            let spec = MalleableSpec { share, ..MalleableSpec::default() };
            sizes(spec, [4; 4_000]).iter().map(Size::is_malleable).collect()
        };
        let shares = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (share, chosen(share)));
        for (share, chosen) in &shares {
            let count = chosen.iter().filter(|is_so| **is_so).count() as f64 / 4_000.0;
            // Four standard deviations.
            let most = 4.0 * (share * (1.0 - share) / 4_000.0).sqrt();
            assert!((count - share).abs() <= most, "{count} instead of {share}");
        }
        for pair in shares.windows(2) {
            assert!(pair[0].1.iter().zip(&pair[1].1).all(|(fewer, more)| !fewer || *more));
        }
    }

    #[test]
    fn a_working_set_is_half_to_twice_the_request_and_never_slower_on_more() {
        let spec = MalleableSpec { speedup: SpeedupForm::WorkingSet, ..MalleableSpec::default() };
        for (size, (preferred, min, max)) in sizes(spec, 1..=8).iter().zip([
            (1, 1, 2),
            (2, 1, 4),
            (3, 1, 6),
            (4, 2, 8),
            (5, 2, 8),
            (6, 3, 8),
            (7, 3, 8),
            (8, 4, 8),
        ]) {
            assert_eq!((size.min(), size.preferred(), size.max()), (min, preferred, max));
            assert_eq!(size.rate_on(preferred), Rate::FULL);
            assert!((min..max).all(|procs| size.rate_on(procs) < size.rate_on(procs + 1)), "{size:?}");
        }
        let narrow = MalleableSpec { least: Some(0.29), most: Some(1.5), ..spec };
        assert_eq!(narrow.range(100, 1_000), (29, 150));
    }
}
