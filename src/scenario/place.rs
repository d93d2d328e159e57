//! Reads targets within a grid, a site, a class of its machines or some of them, and the changes that events make.

use std::ops::Range;

use super::names::{listed, near, there};
use crate::model::{Elastic, Machines, PartitionId, ProcSet, SiteSpec};
use crate::units::{Rate, Span};

/// The target of a name such as `delft/i7/0-15`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The whole site.
    Site,
    /// Machines of one class.
    Machines(Machines),
}

/// Reads `delft`, `delft/i7`, `delft/i7/0-15` or `delft/0-15`.
///
/// # Errors
/// The mistake in the name, and the correct form.
pub(crate) fn target(written: &str, sites: &[SiteSpec]) -> Result<(usize, Target), String> {
    let mut parts = written.split('/').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let Some(at) = sites.iter().position(|site| site.name == name) else {
        let names = || sites.iter().map(|site| site.name.as_str());
        return Err(format!("there is no site `{name}`{}; {}", near(name, names()), there(names())));
    };
    let site = &sites[at];
    let classes = || named(site).map(|(class, ..)| class);
    let class_at = |class: &str| named(site).find(|(name, ..)| *name == class);
    let unknown = |class: &str| {
        format!(
            "site `{name}` has no machines `{class}`{}; it has {}",
            near(class, classes()),
            listed(classes())
        )
    };
    let (partition, which) = match rest.as_slice() {
        [] => return Ok((at, Target::Site)),
        [class] => match (class_at(class), site.partitions.len()) {
            (Some((_, partition, machines)), _) => (partition, ProcSet::range(machines.start, machines.end)),
            (None, 1) if is_numbers(class) => (0, numbers(class, site, named(site).next())?),
            (None, _) if is_numbers(class) => {
                let first = classes().next().unwrap_or_default();
                return Err(format!(
                    "site `{name}` has several classes of machines; say which: `{name}/{first}/{class}`"
                ));
            }
            (None, _) => return Err(unknown(class)),
        },
        [class, which] => {
            let place = class_at(class).ok_or_else(|| unknown(class))?;
            (place.1, numbers(which, site, Some(place))?)
        }
        _ => return Err(format!("`{written}` is not of the form `site/class/0-15`")),
    };
    Ok((at, Target::Machines(Machines { partition: PartitionId(partition as u32), which })))
}

/// A partition, or a class in one of several, with its machines in the partition.
type Place<'a> = (&'a str, usize, Range<u32>);

/// All names of machines of a site: its partitions, then the classes of partitions that have several.
fn named(site: &SiteSpec) -> impl Iterator<Item = Place<'_>> {
    let partitions = || site.partitions.iter().enumerate();
    let whole = partitions().map(|(at, part)| (part.name.as_str(), at, 0..part.machines()));
    let several = partitions().filter(|(_, part)| part.groups.len() > 1);
    let classes = several.flat_map(|(at, part)| {
        part.numbered().map(move |(machines, group)| (group.class.as_str(), at, machines))
    });
    whole.chain(classes)
}

fn is_numbers(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b',' | b' '))
}

/// Reads `0-15`, `3` or `0-3,8`; machines of a class are numbered from 0.
fn numbers(written: &str, site: &SiteSpec, place: Option<Place<'_>>) -> Result<ProcSet, String> {
    let (name, _, machines) = place.unwrap_or_default();
    let count = machines.end - machines.start;
    let mut set = ProcSet::new();
    for piece in written.split(',').map(str::trim) {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        let form = || format!("`{written}` is not of the form `0-15`, `3` or `0-3,8`");
        let (first, last): (u32, u32) =
            (first.trim().parse().map_err(|_| form())?, last.trim().parse().map_err(|_| form())?);
        if first > last {
            return Err(format!("`{piece}` goes backwards; say `{last}-{first}`"));
        }
        if last >= count {
            return Err(format!(
                "site `{}` has {} machines `{}`, numbered from 0 to {}; there is no number {last}",
                site.name,
                count,
                name,
                count.saturating_sub(1)
            ));
        }
        set.insert_all(&ProcSet::range(machines.start + first, machines.start + last + 1));
    }
    Ok(set)
}

/// The partition that a whole site or a class of machines stands for; `None` for a site of several.
///
/// # Errors
/// If it is some of the machines of a partition: `what` must not name these.
pub(crate) fn partition(site: &SiteSpec, place: &Target, what: &str) -> Result<Option<PartitionId>, String> {
    let Target::Machines(machines) = place else {
        return Ok((site.partitions.len() == 1).then_some(PartitionId(0)));
    };
    let whole = &site.partitions[machines.partition.index()];
    if machines.which.len() < whole.machines() {
        let partition = match whole.groups.len() {
            0 | 1 => String::new(),
            _ => format!(", or of a whole partition of several, `{}/{}`", site.name, whole.name),
        };
        return Err(format!("{what}{partition}, not single machines; the site chooses them"));
    }
    Ok(Some(machines.partition))
}

/// The speed of slowed machines.
///
/// # Errors
/// If `factor` is not a valid fraction.
pub(crate) fn fraction(factor: f64) -> Result<Rate, String> {
    let rate = Rate::from_f64(factor).filter(|_| (0.001..=1.0).contains(&factor));
    rate.ok_or_else(|| format!("`{factor}` is not a fraction; it must be from 0.001 to 1"))
}

/// The elastic command that extends or reduces the run time of a job.
///
/// # Errors
/// If nothing would change.
pub(crate) fn by_time(extend: bool, by: Span) -> Result<Elastic, String> {
    match (by.is_zero(), extend) {
        (true, _) => Err("the change of time must not be 0; give a duration such as `10 min`".to_owned()),
        (false, true) => Ok(Elastic::ExtendTime(by)),
        (false, false) => Ok(Elastic::ReduceTime(by)),
    }
}

/// The elastic command that adds or removes processors of a job.
///
/// # Errors
/// If nothing would change.
pub(crate) fn by_procs(extend: bool, by: u32) -> Result<Elastic, String> {
    match (by, extend) {
        (0, _) => Err("the change of processors must be 1 or more".to_owned()),
        (_, true) => Ok(Elastic::ExtendProcs(by)),
        (_, false) => Ok(Elastic::ReduceProcs(by)),
    }
}

/// The reason why a whole site cannot slow down.
pub(crate) fn class_by_class(site: &SiteSpec) -> String {
    let classes = site.partitions.iter().map(|partition| format!("{}/{}", site.name, partition.name));
    let classes: Vec<String> = classes.collect();
    format!(
        "`{}` is a whole site, and only machines of one class can slow down: {}",
        site.name,
        listed(classes.iter().map(String::as_str))
    )
}
