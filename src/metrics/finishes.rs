//! How evenly the sites of a grid become free at the end of a run.

use serde::{Deserialize, Serialize};

use super::Ledger;
use crate::model::SiteSpec;
use crate::platform::Usage;
use crate::units::Time;

/// How evenly sites become free. A site *finishes* with the last end of a job there; one without a job has finished at the beginning.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinishSummary {
    /// When the first site finishes, as a share of the time until all have.
    pub least_share: Option<f64>,
    /// The least utilization of a site until it finishes.
    pub least_utilization: Option<f64>,
    /// The mean of these, each site counting once.
    pub mean_utilization: Option<f64>,
    /// Mean time for which a processor is idle before its site finishes, in seconds, each site counting once.
    pub mean_idle_s: Option<f64>,
}

/// When a site became free, and how much of it was used until then.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteFinish {
    /// Time from the first submission to the last end of a job there, in seconds.
    pub after_s: Option<f64>,
    /// The same as a share of the time until all sites have finished.
    pub share: Option<f64>,
    /// Processor time in use over processors × that time; `None` without a job.
    pub utilization: Option<f64>,
}

/// The finish of each site, and of all together. `begin` is the first submission, and each site comes with the last end of a job there, if there
/// was one.
pub(super) fn finishes(
    begin: Option<Time>,
    sites: &[(SiteSpec, Ledger)],
    last: &[Option<Time>],
) -> (FinishSummary, Vec<SiteFinish>) {
    let all = begin.zip(last.iter().flatten().copied().max()).filter(|(begin, end)| begin < end);
    let Some((begin, end)) = all else {
        return (FinishSummary::default(), vec![SiteFinish::default(); sites.len()]);
    };
    let whole = end.since(begin).as_secs_f64();
    let mut each = Vec::with_capacity(sites.len());
    let mut idle = 0.0;
    for ((spec, ledger), last) in sites.iter().zip(last) {
        let after = last.map_or(0.0, |last| last.since(begin).as_secs_f64());
        let processors =
            spec.partitions.iter().map(|part| f64::from(part.processors())).sum::<f64>().max(1.0);
        let busy = ledger.in_use() as f64 / Usage::PROC_SECOND as f64 / processors;
        idle += (after - busy).max(0.0);
        each.push(SiteFinish {
            after_s: Some(after),
            share: Some(after / whole),
            utilization: (after > 0.0).then(|| busy / after),
        });
    }
    let used: Vec<f64> = each.iter().filter_map(|site| site.utilization).collect();
    let least = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::min);
    let summary = FinishSummary {
        least_share: least(&mut each.iter().filter_map(|site| site.share)),
        least_utilization: least(&mut used.iter().copied()),
        mean_utilization: (!used.is_empty()).then(|| used.iter().sum::<f64>() / used.len() as f64),
        mean_idle_s: Some(idle / each.len().max(1) as f64),
    };
    (summary, each)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three sites of 1, 2 and 1 processors. The first is busy for 80 s and finishes after 100 s, the second uses 60 processor-seconds and finishes after 50 s, the
    /// third has no job. Submissions begin at 10 s.
    #[test]
    fn finishes_by_hand() {
        let site = |name: &str, processors: u32, busy: u128| {
            let mut ledger = Ledger::default();
            let useful = busy * Usage::PROC_SECOND;
            ledger
                .add(&Usage { to: Time::from_secs(500), processors, useful, ..Usage::default() }, 1_000_000);
            (SiteSpec::plain(name, processors, "easy".parse().unwrap()), ledger)
        };
        let sites = [site("a", 1, 80), site("b", 2, 60), site("c", 1, 0)];
        let last = [Some(Time::from_secs(110)), Some(Time::from_secs(60)), None];
        let (all, each) = finishes(Some(Time::from_secs(10)), &sites, &last);
        let finish =
            |after, share, utilization| SiteFinish { after_s: Some(after), share: Some(share), utilization };
        assert_eq!(
            each,
            [finish(100.0, 1.0, Some(0.8)), finish(50.0, 0.5, Some(0.6)), finish(0.0, 0.0, None)]
        );
        // Idle are 20 s, (100 - 60) / 2 s and nothing.
        assert_eq!(
            all,
            FinishSummary {
                least_share: Some(0.0),
                least_utilization: Some(0.6),
                mean_utilization: Some(0.7),
                mean_idle_s: Some(40.0 / 3.0),
            }
        );
        let (none, each) = finishes(None, &sites, &[None; 3]);
        assert_eq!((none, each), (FinishSummary::default(), vec![SiteFinish::default(); 3]));
    }
}
