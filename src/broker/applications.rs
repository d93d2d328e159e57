//! Records of applications: how long jobs of an executable ran.
//!
//! A record belongs to a user, and has the jobs of one executable. It is registered in the scenario, with a run time if that is known, or begins with the first job of
//! the user that completes. What it says is disclosed to its owner, and to users whom the owner has given the key. No site is told anything of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::series::Series;
use crate::model::{Application, ApplicationSpec, Job};
use crate::units::Span;

/// The run times that were measured of applications.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applications(BTreeMap<Application, Series>);

/// The run time of a job as the broker believes it, in the place of its estimate.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BelievedRun {
    /// Its application, whose record will have its run time.
    pub(crate) application: Application,
    /// At reference speed on its preferred size.
    pub(crate) run: Span,
}

impl Applications {
    /// What the user of the job may know of its run time: by the record that the user owns, or else by the first one of its executable that the user has the key
    /// to. Its estimate if there is none, and if that is less: sites end jobs at their estimates. `None` if the job names no user or executable.
    pub fn run_of(&self, job: &Job, registered: &[ApplicationSpec]) -> Option<BelievedRun> {
        let application = Application::of(job)?;
        let by_key = registered.iter().filter(|record| record.may_be_read_by(application));
        let by_key = || by_key.clone().find_map(|record| self.forecast(record.application, registered));
        let known = self.forecast(application, registered).or_else(by_key);
        let run = known.map_or(job.estimate, |run| run.min(job.estimate));
        Some(BelievedRun { application, run })
    }

    /// The run time of a job of an application: as it is forecast from what was measured, or else as it was registered.
    fn forecast(&self, application: Application, registered: &[ApplicationSpec]) -> Option<Span> {
        let measured = self.0.get(&application).and_then(Series::next_whole).map(Span::from_micros);
        let is_it = |record: &&ApplicationSpec| record.application == application;
        measured.or_else(|| registered.iter().find(is_it)?.run_time)
    }

    /// Enters the run time of a job that has completed: it ran for one time where it was believed to run for another.
    pub fn ran(&mut self, believed: BelievedRun, ran: Span, planned: Span) {
        let run = u128::from(believed.run.micros()) * u128::from(ran.micros());
        let run = run / u128::from(planned.micros().max(1));
        self.0.entry(believed.application).or_default().observe(run as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    fn job(user: i32, executable: i32) -> Job {
        let job = Job::rigid(1, Time::ZERO, 1, Span::from_secs(50)).estimated(Span::from_secs(1_000));
        Job { user, executable, ..job }
    }

    fn record(user: i32, executable: i32, run: Option<u64>, key_holders: &[i32]) -> ApplicationSpec {
        let application = Application { user, executable };
        ApplicationSpec { application, run_time: run.map(Span::from_secs), key_holders: key_holders.to_vec() }
    }

    /// User 3 owns a record of executable 7 with 600 s, and has given the key to user 4. Of user 5 a record of the same executable says nothing yet.
    #[test]
    fn a_record_is_disclosed_to_its_owner_and_by_its_key() {
        let registered =
            [record(5, 7, None, &[4]), record(3, 7, Some(600), &[4]), record(3, 8, Some(2_000), &[])];
        let mut applications = Applications::default();
        let run = |applications: &Applications, user, executable| {
            let believed = applications.run_of(&job(user, executable), &registered);
            believed.map(|believed| believed.run.micros() / 1_000_000)
        };
        let all = |applications: &Applications| [3, 4, 5, 6].map(|user| run(applications, user, 7));
        assert_eq!(all(&applications), [Some(600), Some(600), Some(1_000), Some(1_000)]);
        assert_eq!(run(&applications, 3, 8), Some(1_000), "no longer than the estimate");
        assert_eq!([run(&applications, -1, 7), run(&applications, 3, -1)], [None; 2]);
        // A job of user 3 that was believed to run for 600 s, on machines of half the speed for 1200 s, ran for 100 s there.
        let believed = applications.run_of(&job(3, 7), &registered).expect("it names both");
        applications.ran(believed, Span::from_secs(100), Span::from_secs(1_200));
        assert_eq!(all(&applications), [Some(50), Some(50), Some(1_000), Some(1_000)]);
        // One of user 4, who has a record of his own from then on.
        let believed = applications.run_of(&job(4, 7), &registered).expect("it names both");
        applications.ran(believed, Span::from_secs(70), Span::from_secs(50));
        assert_eq!(all(&applications), [Some(50), Some(70), Some(1_000), Some(1_000)]);
    }
}
