//! What the runs of a campaign take on this machine, from which the tasks of a job array are sized.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::{Campaign, CampaignOptions};
use crate::experiment::Progress;
use crate::experiment::clock::now;
use crate::model::Layout;
use crate::study::RunStatus;
use crate::units::{Bytes, Span};

/// The largest number of runs that are timed.
const MOST: usize = 100;

/// What some runs of a campaign took, one at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    layout: Layout<1>,
    /// The campaign, as [`Campaign::hash`].
    pub of: String,
    /// The number of runs that were timed.
    pub runs: u64,
    /// The mean time of a run, in microseconds as the next.
    pub mean: Span,
    /// The longest time of a run.
    pub longest: Span,
    /// The most memory that this process has ever had; `None` where it cannot be known.
    pub peak: Option<Bytes>,
    /// The first of these runs that failed, with the reason.
    pub failed: Option<(u64, String)>,
}

impl Campaign {
    /// Times runs, one at a time, until `budget` is used up; at least one. Their results are not kept.
    ///
    /// The runs of the first seed come first, and of these the first, one from the middle, then from the quarters, and so on: the
    /// values of an axis that make runs long are then among the first few.
    pub fn time_some(&self, budget: Duration) -> Timing {
        let options = CampaignOptions::new(PathBuf::new());
        let mine = self.part(None);
        let todo = self.todo(&mine, &BTreeMap::new(), &options);
        let seeds = self.runs().iter().take_while(|run| run.point == self.runs()[0].point).count();
        let points = (self.runs().len() / seeds.max(1)).max(1);
        let mut order: Vec<usize> = (0..todo.len()).collect();
        order.sort_by_key(|at| (at / points, (at % points).reverse_bits()));
        let mut timing = Timing {
            layout: Layout,
            of: self.hash(),
            runs: 0,
            mean: Span::ZERO,
            longest: Span::ZERO,
            peak: None,
            failed: None,
        };
        let began = now();
        let mut all = Span::ZERO;
        for at in order.into_iter().take(MOST) {
            let before = now();
            let (outcome, _) = self.carry_out(todo[at], &options, &Progress::default());
            let took = Span::from_micros(u64::try_from(before.elapsed().as_micros()).unwrap_or(u64::MAX));
            all += took;
            timing.runs += 1;
            timing.longest = timing.longest.max(took);
            if let (RunStatus::Failed(why), None) = (outcome.status, &timing.failed) {
                timing.failed = Some((todo[at].run, why));
            }
            if began.elapsed() >= budget {
                break;
            }
        }
        timing.mean = all.scale_up(1, timing.runs);
        timing.peak = peak();
        timing
    }

    /// A hash of all that its results depend on, in the order of its runs.
    pub fn hash(&self) -> String {
        let mut hash = Xxh3::new();
        self.runs().iter().for_each(|run| hash.update(&run.key.to_le_bytes()));
        format!("{:032x}", hash.digest128())
    }

    /// The largest number of runs in one of so many parts; runs with the same scenario count once.
    pub fn largest_part(&self, of: u64) -> u64 {
        let (mut seen, mut counts) = (BTreeSet::new(), BTreeMap::<u64, u64>::new());
        for run in self.runs().iter().filter(|run| seen.insert(run.key)) {
            *counts.entry(run.run % of).or_default() += 1;
        }
        counts.into_values().max().unwrap_or(0)
    }
}

/// The most memory that this process has had, as Linux tells it.
fn peak() -> Option<Bytes> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok().map(Bytes::from_kib)
}
