//! Parses a line of commands.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::entity::ToSite;
use crate::model::{
    BookAct, ChurnAct, Elastic, Job, JobId, PartitionId, PartitionSpec, ReservationRequest, SiteId, SiteSpec,
};
use crate::scenario::kind::quantity::exact;
use crate::scenario::place::{self, Target, by_procs, by_time, class_by_class, fraction, target};
use crate::scenario::{OF_CLASS, listed, near, wrong_name};
use crate::units::{Span, Time};

/// The number of the job that the first command of a run submits; the `n`th command, from 0 and of whatever kind, uses
/// the `n`th number from here. Logs and generators do not reach these numbers.
pub(super) const FIRST_JOB: u64 = 900_000_000;

/// The first word of each command, with an example of its form.
const FORMS: [(&str, &str); 10] = [
    ("leave", "`leave SITE`, `leave SITE/CLASS` or `leave SITE/CLASS/0-15`"),
    ("drain", "`drain SITE`, `drain SITE/CLASS` or `drain SITE/CLASS/0-15`"),
    ("join", "`join SITE`, `join SITE/CLASS` or `join SITE/CLASS/0-15`"),
    ("slow", "`slow SITE/CLASS 0.5` or `slow SITE/CLASS/0-15 0.5`"),
    ("cancel", "`cancel SITE 412` with the number of a job"),
    ("submit", "`submit SITE procs=4 run=10min`"),
    ("extend", "`extend SITE 412 time=10min` or `extend SITE 412 procs=4`"),
    ("reduce", "`reduce SITE 412 time=10min` or `reduce SITE 412 procs=4`"),
    (
        "reserve",
        "`reserve SITE procs=16 length=2h` or `reserve SITE/CLASS procs=16 length=2h from=8h until=20h name=demo job=412`",
    ),
    ("release", "`release SITE demo` or `release SITE/CLASS demo`"),
];

/// The keys of a submitted job.
const KEYS: [&str; 5] = ["procs", "run", "estimate", "user", "class"];

/// The keys of a reservation.
const OF_RESERVATION: [&str; 6] = ["procs", "length", "from", "until", "name", "job"];

/// Reads the command of a line, if there is one. `number` is its number among those of the run; it determines the number of a submitted
/// job.
///
/// # Errors
/// The mistake in the line, and the correct form.
pub(super) fn read(line: &str, sites: &[SiteSpec], number: u64) -> Result<Option<(SiteId, ToSite)>, String> {
    let line = line.split('#').next().unwrap_or_default();
    let mut words = line.split_whitespace();
    let Some(word) = words.next() else { return Ok(None) };
    let Some((_, form)) = FORMS.iter().find(|(name, _)| *name == word) else {
        let names = || FORMS.map(|(name, _)| name);
        return Err(format!(
            "there is no command `{word}`{}; there are {}",
            near(word, names()),
            listed(names())
        ));
    };
    let written = words.next().ok_or_else(|| format!("the site is missing; write {form}"))?;
    let (at, place) = target(written, sites)?;
    let site = &sites[at];
    let rest: Vec<&str> = words.collect();
    let body = match (word, place, rest.as_slice()) {
        ("leave", Target::Site, []) => ToSite::Churn(ChurnAct::LeaveSite),
        ("leave", Target::Machines(machines), []) => ToSite::Churn(ChurnAct::Leave(machines)),
        ("drain", Target::Site, []) => ToSite::Churn(ChurnAct::DrainSite),
        ("drain", Target::Machines(machines), []) => ToSite::Churn(ChurnAct::Drain(machines)),
        ("join", Target::Site, []) => ToSite::Churn(ChurnAct::JoinSite),
        ("join", Target::Machines(machines), []) => ToSite::Churn(ChurnAct::Join(machines)),
        ("slow", Target::Site, _) => return Err(class_by_class(site)),
        ("slow", Target::Machines(machines), [factor]) => {
            let factor = value(factor, "a number such as `0.5`; `1` is full speed")?;
            ToSite::Churn(ChurnAct::Slow { machines, factor: fraction(factor)? })
        }
        ("slow", _, []) => {
            return Err(format!("the speed is missing; write {form}; 1 is full speed"));
        }
        ("cancel", Target::Machines(_), _) => {
            let job = rest.first().unwrap_or(&"412");
            return Err(format!("give the site only, not a class or machines: `cancel {} {job}`", site.name));
        }
        ("cancel", Target::Site, [job]) => {
            ToSite::Cancel(JobId(value(job, "the number of a job, as in jobs.csv")?))
        }
        ("extend" | "reduce", Target::Machines(_), _) => {
            return Err(format!("give the site only, not a class or machines: write {form}"));
        }
        ("extend" | "reduce", Target::Site, [job, by]) => {
            let job = JobId(value(job, "the number of a job, as in jobs.csv")?);
            ToSite::Elastic { job, change: elastic(by, word == "extend", form)? }
        }
        ("extend" | "reduce", Target::Site, [] | [_]) => {
            return Err(format!("the job and the amount are missing; write {form}"));
        }
        ("submit", place, words) => {
            ToSite::Submit(Box::new(job(site, place, words, JobId(FIRST_JOB + number))?))
        }
        ("reserve", place, words) => {
            ToSite::Book(BookAct::Reserve(Box::new(reservation(site, &place, words, number)?)))
        }
        ("release", place, [_, ..]) => {
            let partition = place::partition(site, &place, OF_CLASS)?;
            ToSite::Book(BookAct::Release { name: rest.join(" "), partition })
        }
        ("release", _, []) => return Err(format!("the name of the reservation is missing; write {form}")),
        // Of the others, only a job to be cancelled can be missing.
        (_, _, []) => return Err(format!("the job is missing; write {form}")),
        (_, _, [.., last]) => return Err(format!("`{last}` is too much; write {form}")),
    };
    Ok(Some((SiteId(at as u32), body)))
}

/// The change of a job by an elastic command.
fn elastic(written: &str, extend: bool, form: &str) -> Result<Elastic, String> {
    match written.split_once('=') {
        Some(("time", by)) => by_time(extend, span("time", by)?),
        Some(("procs", by)) => by_procs(extend, value(by, "a number of processors")?),
        _ => Err(format!("`{written}` is neither `time=` nor `procs=`; write {form}")),
    }
}

/// A job of a site's local users, submitted when the command is carried out.
fn job(site: &SiteSpec, place: Target, words: &[&str], id: JobId) -> Result<Job, String> {
    let [procs, run, estimate, user, class] = pairs(words, KEYS, "job", "run=10min")?;
    let procs: u32 = procs.map_or(Ok(1), |procs| value(procs, "a number of processors"))?;
    let run = run.ok_or("the run time is missing; add `run=10min` (`estimate` is the same unless given)")?;
    let run = span("run", run)?;
    let estimate = estimate.map_or(Ok(run), |estimate| span("estimate", estimate))?;
    let partition = partition(site, place, class)?;
    if procs == 0 {
        return Err("`procs=0` is no job; it must be 1 or more".to_owned());
    }
    let asked = partition.map(|at| &site.partitions[at.index()]);
    let most = asked.into_iter().chain(site.partitions.iter().filter(|_| asked.is_none()));
    let most = most.map(PartitionSpec::usable).max().unwrap_or_default();
    if procs > most {
        let has = match asked {
            Some(asked) => format!("machines `{}` of site `{}` have {most}", asked.name, site.name),
            None => format!("no machines of site `{}` have more than {most}", site.name),
        };
        return Err(format!("`procs={procs}` is too many: {has}"));
    }
    let user = user.map_or(Ok(-1), |user| value(user, "the number of a user"))?;
    // The job is submitted in the moment in which the command arrives: a site does not accept a later submission time.
    Ok(Job { user, partition, ..Job::rigid(id.0, Time::NEVER, procs, run).estimated(estimate) })
}

/// The values of these keys in words of the form `key=value`.
fn pairs<'a, const N: usize>(
    words: &[&'a str],
    keys: [&str; N],
    of: &str,
    example: &str,
) -> Result<[Option<&'a str>; N], String> {
    let mut given: BTreeMap<&str, &str> = BTreeMap::new();
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| {
            format!("`{word}` is not of the form `key=value`, without spaces, such as `{example}`")
        })?;
        if !keys.contains(&key) {
            return Err(format!("a {of} has no `{key}`{}; it has {}", near(key, keys), listed(keys)));
        }
        if given.insert(key, value).is_some() {
            return Err(format!("`{key}` is given twice"));
        }
    }
    Ok(keys.map(|key| given.get(key).copied()))
}

/// A reservation that is sought when the command is carried out. Without a name it has one by the number of the command.
fn reservation(
    site: &SiteSpec,
    place: &Target,
    words: &[&str],
    number: u64,
) -> Result<ReservationRequest, String> {
    let [procs, length, from, until, name, job] = pairs(words, OF_RESERVATION, "reservation", "length=2h")?;
    let partition = place::partition(site, place, OF_CLASS)?.ok_or_else(|| {
        let classes = site.partitions.iter().map(|part| part.name.as_str());
        format!("say of which machines, `reserve {}/CLASS`; it has {}", site.name, listed(classes))
    })?;
    let most = site.partitions[partition.index()].most();
    let procs = procs.ok_or("the number of processors is missing; add `procs=16`")?;
    let procs: u32 = value(procs, "a number of processors")?;
    if procs == 0 || site.partitions[partition.index()].rounded(procs) > most {
        return Err(format!("`procs={procs}` of {most} processors cannot be reserved"));
    }
    let length = span("length", length.ok_or("how long it is is missing; add `length=2h`")?)?;
    let time = |key: &str, written: Option<&str>| -> Result<Option<Time>, String> {
        Ok(written.map(|written| span(key, written)).transpose()?.map(|span| Time::ZERO + span))
    };
    let (from, until) = (time("from", from)?, time("until", until)?);
    let begins = from.unwrap_or_default();
    if length.is_zero()
        || begins.checked_add(length).is_none_or(|ends| until.is_some_and(|until| until < ends))
    {
        return Err("it has no length, or its window (`from` to `until`) is shorter than it".to_owned());
    }
    let name = name.map_or_else(|| format!("command-{number}"), str::to_owned);
    if let Some(wrong) = wrong_name(&name) {
        return Err(format!("`name={name}`: {wrong}"));
    }
    let job = job.map(|job| value(job, "the number of a job, as in jobs.csv")).transpose()?.map(JobId);
    Ok(ReservationRequest { name, partition, procs, length, from, until, job })
}

/// The class of machines that a job requests: `submit delft/i7 ...` or `submit delft ... class=i7`.
fn partition(site: &SiteSpec, place: Target, class: Option<&str>) -> Result<Option<PartitionId>, String> {
    let named = class.map(|class| target(&format!("{}/{class}", site.name), std::slice::from_ref(site)));
    let target = match (place, named.transpose()?) {
        (Target::Machines(_), Some(_)) => return Err("the class is given twice".to_owned()),
        (_, Some((_, target))) => target,
        (place, None) => place,
    };
    match target {
        Target::Site => Ok(None),
        Target::Machines(_) => place::partition(site, &target, "a job requests a class of machines"),
    }
}

fn span(key: &str, written: &str) -> Result<Span, String> {
    let span = exact::<Span>(written);
    span.map_err(|error| format!("`{key}`: {error}; write it without a space: `{key}=10min`"))
}

fn value<T: FromStr>(written: &str, expected: &str) -> Result<T, String> {
    written.parse().map_err(|_| format!("`{written}` is not {expected}"))
}
