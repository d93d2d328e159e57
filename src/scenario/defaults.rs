//! Fills in defaults that do not follow from the keys beside them: names, paths of logs, parameters of generators.
//!
//! The keys are then what `gridemu check --show` prints. The printed text reads back as itself, and its hash names the scenario.

use std::path::Path as FilePath;

use super::document::Document;
use super::keys::{MachineKeys, PerKwhKey, ScenarioKeys, SiteKeys, WorkloadKeys};
use super::tree::Path;
use crate::scenario::archive;
use crate::scenario::kind::named::Params;
use crate::scenario::kind::words::Or;
use crate::workflow::shapes::ShapeSpec;
use crate::workload::Spec;
use crate::workload::cwf::CwfSpec;
use crate::workload::huang::HuangSpec;
use crate::workload::lublin::LublinSpec;
use crate::workload::poisson::PoissonSpec;

/// The name of the log that is read from standard input.
pub(super) const STDIN: &str = "-";

/// Fills in the defaults of the scenario of `file`.
pub(super) fn fill_in(keys: &mut ScenarioKeys, document: &Document, file: &FilePath) {
    let stem =
        || file.file_stem().map_or_else(|| "scenario".to_owned(), |stem| stem.to_string_lossy().into());
    keys.name.get_or_insert_with(stem);
    if let Some(broker) = keys.broker.as_mut().filter(|broker| broker.command.is_some()) {
        let path = Path::default().key("broker");
        let at = path.key(if broker.folder.is_some() { "folder" } else { "command" });
        make_absolute(broker.folder.get_or_insert_default(), &at, document);
    }
    // From here on each site has its own copy.
    keys.churn = None;
    let top = Path::default();
    let sites = keys.site.get_or_insert_default();
    for (at, site) in sites.iter_mut().enumerate() {
        fill_site(site, &top.key("site").item(at), document);
    }
    for (number, event) in (1..).zip(keys.event.iter_mut().flatten()) {
        if event.reserve.is_some() {
            event.name.get_or_insert_with(|| format!("event-{number}"));
        }
    }
    let largest = sites.iter().map(largest_partition).max().unwrap_or(1);
    for (at, workload) in keys.workload.iter_mut().flatten().enumerate() {
        fill_workload(workload, &top.key("workload").item(at), document, largest);
    }
}

fn fill_site(site: &mut SiteKeys, path: &Path, document: &Document) {
    let series = [
        ("electricity", site.electricity.as_value_mut().and_then(PerKwhKey::series_mut)),
        ("carbon", site.carbon.as_mut().and_then(Or::as_value_mut).and_then(PerKwhKey::series_mut)),
    ];
    for (key, series) in series {
        if let Some(file) = series.and_then(|series| series.trace.as_mut()) {
            make_absolute(file, &path.key(key).key("trace"), document);
        }
    }
    if let Some(file) = site.churn.as_value_mut().and_then(|churn| churn.trace.as_mut()) {
        make_absolute(file, &path.key("churn").key("trace"), document);
    }
    let first = site.machines.as_ref().and_then(|machines| machines.first()).map(MachineKeys::partition);
    for (number, reservation) in (1..).zip(site.reservation.iter_mut().flatten()) {
        reservation.name.get_or_insert_with(|| format!("reservation-{number}"));
        reservation.class = reservation.class.take().or_else(|| first.map(str::to_owned));
    }
    let largest = largest_partition(site);
    if let Some(workload) = &mut site.workload.0 {
        fill_workload(workload, &path.key("workload"), document, largest);
    }
}

fn fill_workload(keys: &mut WorkloadKeys, path: &Path, document: &Document, largest: u32) {
    let workflow = keys.workflow.as_mut().filter(|written| generator_in(written).is_none());
    for (key, file) in [("log", keys.log.as_mut()), ("workflow", workflow)] {
        if let Some(file) = file.filter(|file| *file != STDIN) {
            make_absolute(file, &path.key(key), document);
        }
    }
    if let Some(params) = &mut keys.lublin {
        generator::<LublinSpec>(params, largest, &["jobs", "types", "start-hour"]);
    }
    if let Some(params) = &mut keys.poisson {
        let has_load = keys.load.is_some() || params.0.contains_key("load");
        params.0.entry("runtime".to_owned()).or_insert_with(|| "exponential[mean=10 min]".to_owned());
        let keys: &[&str] = if has_load { &["jobs", "size"] } else { &["jobs", "size", "every"] };
        generator::<PoissonSpec>(params, largest, keys);
    }
    if let Some(params) = &mut keys.huang {
        generator::<HuangSpec>(params, largest, &["workload"]);
    }
    if let Some(params) = &mut keys.cwf {
        generator::<CwfSpec>(
            params,
            largest,
            &["jobs", "unit", "split", "ps", "pd", "pe", "pr", "start-hour"],
        );
    }
}

/// Makes the path of a file that is written at `path` absolute, so that it does not matter where the scenario is read. A file of the archive
/// keeps its name.
fn make_absolute(file: &mut String, path: &Path, document: &Document) {
    if !archive::names(file) {
        let place = document.folder_of(path).join(&file);
        *file = std::path::absolute(&place).unwrap_or(place).display().to_string();
    }
}

/// The generator of workflows that this names; `None` for a file.
pub(super) fn generator_in(written: &str) -> Option<&str> {
    let name = written.split('[').next().unwrap_or_default();
    ShapeSpec::names(name).then_some(written)
}

/// Adds the defaults of a generator that are to be shown, for a machine with this number of processors.
fn generator<S: Spec>(Params(params): &mut Params, procs: u32, keys: &[&str]) {
    params.entry("procs".to_owned()).or_insert_with(|| procs.to_string());
    for key in keys {
        params.entry((*key).to_owned()).or_insert_with(|| S::default_of(key).to_owned());
    }
}

/// Processors of the largest partition of which any machine is present at the beginning, or of the largest if none is.
fn largest_partition(site: &SiteKeys) -> u32 {
    let classes = || site.machines.iter().flatten();
    let size = |machines: &MachineKeys| {
        let allocation_unit = machines.allocation_unit.max(1);
        let whole = classes().filter(|other| other.partition() == machines.partition());
        let count = whole.fold(0_u32, |sum, other| sum.saturating_add(other.count));
        count.saturating_mul(machines.cores) / allocation_unit * allocation_unit
    };
    let present = classes().filter(|machines| match machines.absent {
        Or::Word(_) => false,
        Or::Value(number) => number < machines.count,
    });
    present.map(size).max().or_else(|| classes().map(size).max()).unwrap_or(1).max(1)
}
