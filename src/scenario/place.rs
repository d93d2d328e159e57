//! Reads targets within a grid, a site, a class of its machines or some of them, and the changes that events make.

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
    let classes = || site.partitions.iter().map(|partition| partition.name.as_str());
    let class_at = |class: &str| classes().position(|name| name == class);
    let unknown = |class: &str| {
        format!(
            "site `{name}` has no machines `{class}`{}; it has {}",
            near(class, classes()),
            listed(classes())
        )
    };
    let whole = |partition: usize| ProcSet::full(site.partitions[partition].machines());
    let (partition, which) = match rest.as_slice() {
        [] => return Ok((at, Target::Site)),
        [class] => match (class_at(class), site.partitions.len()) {
            (Some(partition), _) => (partition, whole(partition)),
            (None, 1) if is_numbers(class) => (0, numbers(class, site, 0)?),
            (None, _) if is_numbers(class) => {
                let first = classes().next().unwrap_or_default();
                return Err(format!(
                    "site `{name}` has several classes of machines; say which: `{name}/{first}/{class}`"
                ));
            }
            (None, _) => return Err(unknown(class)),
        },
        [class, which] => {
            let partition = class_at(class).ok_or_else(|| unknown(class))?;
            (partition, numbers(which, site, partition)?)
        }
        _ => return Err(format!("`{written}` is not of the form `site/class/0-15`")),
    };
    Ok((at, Target::Machines(Machines { partition: PartitionId(partition as u32), which })))
}

fn is_numbers(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b',' | b' '))
}

/// Reads `0-15`, `3` or `0-3,8`.
fn numbers(written: &str, site: &SiteSpec, partition: usize) -> Result<ProcSet, String> {
    let spec = &site.partitions[partition];
    let mut set = ProcSet::new();
    for piece in written.split(',').map(str::trim) {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        let form = || format!("`{written}` is not of the form `0-15`, `3` or `0-3,8`");
        let (first, last): (u32, u32) =
            (first.trim().parse().map_err(|_| form())?, last.trim().parse().map_err(|_| form())?);
        if first > last {
            return Err(format!("`{piece}` goes backwards; say `{last}-{first}`"));
        }
        if last >= spec.machines() {
            return Err(format!(
                "site `{}` has {} machines `{}`, numbered from 0 to {}; there is no number {last}",
                site.name,
                spec.machines(),
                spec.name,
                spec.machines().saturating_sub(1)
            ));
        }
        set.insert_all(&ProcSet::range(first, last + 1));
    }
    Ok(set)
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
