//! Resolves reservations that are made and given up by events.

use super::Checker;
use crate::entity::Site;
use crate::model::{BookAct, JobId, OF_GRID, ReservationRequest, SiteSpec};
use crate::scenario::keys::EventKeys;
use crate::scenario::kind::quantity::Quantity;
use crate::scenario::names::{listed, near, there};
use crate::scenario::place::{Target, partition};
use crate::scenario::tree::Path;
use crate::units::Time;

/// What is wrong with the name of a reservation, if anything is.
pub(crate) fn wrong_name(name: &str) -> Option<String> {
    if name.trim().is_empty() || name.contains(char::is_control) {
        return Some("a reservation has a name of one line, such as `demo`".to_owned());
    }
    let is_of_grid = name.starts_with(OF_GRID);
    is_of_grid.then(|| format!("names that begin with `{OF_GRID}` are those of the grid's reservations"))
}

/// Where machines are given that a reservation cannot be of.
pub(crate) const OF_CLASS: &str = "a reservation is of a class of machines";

impl Checker<'_> {
    /// A reservation that an event makes.
    pub(super) fn reserve(
        &mut self,
        path: &Path,
        keys: &EventKeys,
        site: &SiteSpec,
        place: &Target,
        has_jobs: bool,
    ) -> Option<ReservationRequest> {
        let place = partition(site, place, OF_CLASS);
        let place = place.map_err(|message| self.wrong(&path.key("reserve"), message)).ok()?;
        let Some(partition) = place else {
            let classes = site.partitions.iter().map(|part| part.name.as_str());
            let message = format!("say of which machines, `{}/CLASS`; it has {}", site.name, listed(classes));
            return self.refuse(&path.key("reserve"), message);
        };
        let spec = site.partitions.get(partition.index())?;
        if let Ok((_, able)) = Site::check_policy(site, &self.policies.local)
            && !able.keeps_reservations
        {
            let policy = &site.policy;
            let message = format!(
                "the local policy `{policy}` cannot plan around reservations (`gridemu policies` names those that can)"
            );
            self.wrong(&path.key("reserve"), message);
        }
        if let Some(wrong) = keys.name.as_deref().and_then(wrong_name) {
            self.wrong(&path.key("name"), wrong);
        }
        if keys.job.is_some() && !has_jobs {
            let message = "it is kept for a job of the site's own workload, and the site has none: add `workload`, or leave out `job`";
            self.wrong(&path.key("job"), message);
        }
        match keys.procs {
            None => self.wrong(path, "`reserve` needs a number of processors: `procs = 16`"),
            Some(procs) if procs == 0 || spec.rounded(procs) > spec.most() => {
                let message = format!("it requests {procs} of {} processors", spec.most());
                self.wrong(&path.key("procs"), message);
            }
            Some(_) => {}
        }
        let Some(length) = keys.length.filter(|length| !length.is_zero()) else {
            return match keys.length {
                None => self.refuse(path, "`reserve` needs a length: `length = \"2 h\"`"),
                Some(_) => self.refuse(&path.key("length"), "a reservation lasts for some time"),
            };
        };
        let from = keys.from.unwrap_or(keys.at);
        if from < keys.at {
            let message = format!("it begins before the event, which is at {}", keys.at.text());
            self.wrong(&path.key("from"), message);
        }
        let Some(ends) = (Time::ZERO + from).checked_add(length) else {
            return self.refuse(&path.key("length"), "it ends beyond the time axis");
        };
        let until = keys.until.map(|until| Time::ZERO + until);
        if until.is_some_and(|until| until < ends) {
            let message = format!(
                "the window is shorter than the reservation: it lasts for {} from {} on, until {}",
                length.text(),
                from.text(),
                ends.since(Time::ZERO).text()
            );
            self.wrong(&path.key("until"), message);
        }
        let (name, procs) = (keys.name.clone()?, keys.procs?);
        let (from, job) = (keys.from.map(|from| Time::ZERO + from), keys.job.map(JobId));
        Some(ReservationRequest { name, partition, procs, length, from, until, job })
    }

    /// A reservation that an event gives up.
    pub(super) fn release(
        &mut self,
        path: &Path,
        keys: &EventKeys,
        site: &SiteSpec,
        place: &Target,
        names: &[&str],
    ) -> Option<BookAct> {
        let partition = partition(site, place, OF_CLASS);
        let partition = partition.map_err(|message| self.wrong(&path.key("release"), message)).ok()?;
        let Some(name) = keys.name.clone() else {
            return self.refuse(path, "`release` needs the `name` of a reservation");
        };
        if !names.contains(&&*name) {
            let near = near(&name, names.iter().copied());
            let message = format!(
                "no reservation of `{}` has this name{near}; {}",
                site.name,
                there(names.iter().copied())
            );
            return self.refuse(&path.key("name"), message);
        }
        Some(BookAct::Release { name, partition })
    }
}
