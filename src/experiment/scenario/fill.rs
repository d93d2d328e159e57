//! Every default, written out: the same keys with nothing left out that has a default.
//!
//! What comes out reads back as itself, so `gridemu check --show` prints it, and its hash names the scenario.

use std::path::Path as FilePath;

use super::Problem;
use super::document::Document;
use super::keys::{
    Absent, Always, AnyNumber, BrokerKeys, Checkpoint, CheckpointKeys, ChurnKeys, ClassesKey, ElectricityKey,
    Engine, EstimatesKey, GeneratorKeys, HoursKey, Interval, LinkKeys, MachineKeys, MaybeBandwidth,
    NetworkKeys, NoChurn, OutputKeys, PowerKey, ScenarioKeys, SiteKeys, Until, Virtual, WorkloadKeys,
    WorkloadText,
};
use super::quantity::{Or, Written};
use super::tree::Path;
use crate::experiment::archive;
use crate::formats::swf::Clean;
use crate::metrics::Definitions;
use crate::model::{BrokerSpec, DayRates, JobClasses, Named};
use crate::store::EngineKind;
use crate::units::{Power, Span};
use crate::workload::Spec;
use crate::workload::cwf::CwfSpec;
use crate::workload::lublin::LublinSpec;
use crate::workload::poisson::PoissonSpec;

/// What a processor of speed 1 does unless the scenario says otherwise.
pub(super) const REFERENCE_MIPS: f64 = 10_000.0;
/// How often a run with a store takes snapshots, by the wall clock.
const CHECKPOINT_EVERY: Span = Span::from_secs(30);
/// The seed of a scenario that names none.
pub(super) const SEED: u64 = 1;

/// Fills in the defaults; what cannot be understood well enough for that is a problem.
pub(super) fn fill(keys: ScenarioKeys, document: &Document, file: &FilePath) -> (ScenarioKeys, Vec<Problem>) {
    let mut filler = Filler { document, problems: Vec::new() };
    let filled = filler.scenario(keys, file);
    (filled, filler.problems)
}

struct Filler<'a> {
    document: &'a Document,
    problems: Vec<Problem>,
}

impl Filler<'_> {
    fn scenario(&mut self, keys: ScenarioKeys, file: &FilePath) -> ScenarioKeys {
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let churn = keys.churn.unwrap_or_default();
        let top = Path::default();
        let sites: Vec<SiteKeys> = keys
            .site
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(at, site)| self.site(&top.key("site").item(at), site, &churn))
            .collect();
        let largest = sites.iter().map(largest_class).max().unwrap_or(1);
        let workloads = keys.workload.map(|workloads| {
            let each = workloads.into_iter().enumerate();
            each.map(|(at, workload)| self.workload(&top.key("workload").item(at), workload, largest))
                .collect()
        });
        ScenarioKeys {
            name: keys.name.or(stem).or_else(|| Some("scenario".to_owned())),
            seed: keys.seed.or(Some(SEED)),
            measure: keys.measure.or(Some(Or::Word(Always))),
            tau: keys.tau.or(Some(Written(Definitions::TAU))),
            classes: keys.classes.or_else(|| Some(ClassesKey(JobClasses::none()))),
            until: keys.until.or(Some(Until::Done)),
            engine: keys.engine.or(Some(Engine::default())),
            clock: keys.clock.or(Some(Or::Word(Virtual))),
            reference_mips: keys.reference_mips.or(Some(REFERENCE_MIPS)),
            output: Some(output(keys.output.unwrap_or_default())),
            checkpoint: keys.checkpoint.map(checkpoint),
            network: Some(network(keys.network.unwrap_or_default())),
            broker: keys.broker.map(broker),
            // Each site says it from here on.
            churn: None,
            site: Some(sites),
            workload: workloads,
            event: keys.event,
        }
    }

    fn site(&mut self, path: &Path, site: SiteKeys, churn: &ChurnKeys) -> SiteKeys {
        let mut filled = SiteKeys {
            policy: site.policy.or_else(|| Some(Named::bare("easy"))),
            machines: site.machines.map(|machines| machines.into_iter().map(self::machines).collect()),
            pue: site.pue.or(Some(1.0)),
            price_by_hour: site.price_by_hour.or(Some(HoursKey(DayRates::FLAT))),
            electricity: site.electricity.or(Some(ElectricityKey::None)),
            electricity_by_hour: site.electricity_by_hour.or(Some(HoursKey(DayRates::FLAT))),
            starts_at: site.starts_at.or(Some(Written(Span::ZERO))),
            order: site.order.or_else(|| Some(Default::default())),
            overrun: site.overrun.or(Some(false)),
            workload: None,
            churn: Some(match site.churn {
                Some(Or::Word(NoChurn)) => Or::Word(NoChurn),
                Some(Or::Table(own)) => self::churn(own, churn),
                None => self::churn(ChurnKeys::default(), churn),
            }),
            reservation: site.reservation.map(|reservations| {
                let numbered = (1..).zip(reservations);
                let named = numbered.map(|(number, mut reservation)| {
                    reservation.name.get_or_insert_with(|| format!("reservation-{number}"));
                    reservation
                });
                named.collect()
            }),
            ..site
        };
        if let (Some(machines), Some(reservations)) = (&filled.machines, &mut filled.reservation) {
            for reservation in reservations {
                if reservation.class.is_none() {
                    reservation.class = machines.first().map(|machines| machines.class.clone());
                }
            }
        }
        let largest = largest_class(&filled);
        filled.workload = Some(self.own_workload(&path.key("workload"), site.workload, largest));
        filled
    }

    fn own_workload(
        &mut self,
        path: &Path,
        workload: Option<Or<WorkloadText, WorkloadKeys>>,
        largest: u32,
    ) -> Or<WorkloadText, WorkloadKeys> {
        let none = || Or::Word(WorkloadText("none".to_owned()));
        let keys = match workload {
            None => return none(),
            Some(Or::Table(keys)) => keys,
            Some(Or::Word(WorkloadText(text))) if text == "none" => return none(),
            Some(Or::Word(WorkloadText(text))) => {
                let named = |name: &str| {
                    text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
                };
                let generator = ["lublin", "poisson", "cwf"].into_iter().find(|name| named(name));
                match generator.map(|_| text.parse::<Named>()) {
                    None => WorkloadKeys { log: Some(text), ..WorkloadKeys::default() },
                    Some(Ok(named)) if named.name == "lublin" => {
                        WorkloadKeys { lublin: Some(GeneratorKeys(named.params)), ..WorkloadKeys::default() }
                    }
                    Some(Ok(named)) if named.name == "cwf" => {
                        WorkloadKeys { cwf: Some(GeneratorKeys(named.params)), ..WorkloadKeys::default() }
                    }
                    Some(Ok(named)) => {
                        WorkloadKeys { poisson: Some(GeneratorKeys(named.params)), ..WorkloadKeys::default() }
                    }
                    Some(Err(error)) => {
                        self.problems.push(self.document.problem(path, error.to_string()));
                        return none();
                    }
                }
            }
        };
        Or::Table(self.workload(path, keys, largest))
    }

    fn workload(&mut self, path: &Path, keys: WorkloadKeys, largest: u32) -> WorkloadKeys {
        let is_log = keys.log.is_some();
        let log = keys.log.map(|log| {
            let key = path.key("log");
            let folder = self.document.folder_of(&key);
            // What is in the archive is so wherever it is.
            if archive::names(&log) {
                return log;
            }
            // From now on it must not matter where the scenario is read.
            let path = folder.join(log);
            std::path::absolute(&path).unwrap_or(path).display().to_string()
        });
        let lublin =
            keys.lublin.map(|keys| generator::<LublinSpec>(keys, largest, &["jobs", "types", "start-hour"]));
        let poisson = keys.poisson.map(|params| {
            let mut told = vec!["jobs", "size"];
            if keys.load.is_none() && !params.0.contains_key("load") {
                told.push("every");
            }
            let mut params = generator::<PoissonSpec>(params, largest, &told);
            params.0.entry("runtime".to_owned()).or_insert_with(|| "exponential[mean=10 min]".to_owned());
            params
        });
        let cwf = keys.cwf.map(|keys| {
            let told = ["jobs", "unit", "split", "ps", "pd", "pe", "pr", "start-hour"];
            generator::<CwfSpec>(keys, largest, &told)
        });
        WorkloadKeys {
            log,
            lublin,
            poisson,
            cwf,
            estimates: keys.estimates.or_else(|| Some(EstimatesKey::default())),
            clean: keys.clean.or_else(|| is_log.then_some(Clean::None)),
            cap: keys.cap.or_else(|| is_log.then_some(false)),
            feedback: keys.feedback.or_else(|| is_log.then_some(false)),
            ..keys
        }
    }
}

/// The parameters of a generator with those defaults of its that are worth telling, for a machine of so many processors.
fn generator<S: Spec>(GeneratorKeys(mut params): GeneratorKeys, procs: u32, told: &[&str]) -> GeneratorKeys {
    params.entry("procs".to_owned()).or_insert_with(|| procs.to_string());
    for key in told {
        params.entry((*key).to_owned()).or_insert_with(|| S::default_of(key).to_owned());
    }
    GeneratorKeys(params)
}

fn machines(keys: MachineKeys) -> MachineKeys {
    let idle = keys.idle.unwrap_or(PowerKey::Machine(Power::ZERO));
    MachineKeys {
        count: keys.count.or(Some(1)),
        cores: keys.cores.or(Some(1)),
        speed: keys.speed.or_else(|| keys.mips.is_none().then_some(1.0)),
        idle: Some(idle),
        busy: keys.busy.or(Some(idle)),
        price: keys.price.or_else(|| Some(Default::default())),
        absent: keys.absent.or(Some(Absent::Of(0))),
        quantum: keys.quantum.or(Some(1)),
        ..keys
    }
}

/// Processors of the largest class that is there at the beginning, or of the largest if none is.
pub(super) fn largest_class(site: &SiteKeys) -> u32 {
    let classes = || site.machines.iter().flatten();
    let size = |machines: &MachineKeys| {
        let (count, cores) = (machines.count.unwrap_or(1), machines.cores.unwrap_or(1));
        let quantum = machines.quantum.unwrap_or(1).max(1);
        count.saturating_mul(cores) / quantum * quantum
    };
    let present = classes().filter(|machines| match machines.absent {
        Some(Absent::All) => false,
        Some(Absent::Of(number)) => machines.count.is_none_or(|count| number < count),
        None => true,
    });
    present.map(size).max().or_else(|| classes().map(size).max()).unwrap_or(1).max(1)
}

fn churn(own: ChurnKeys, of_all: &ChurnKeys) -> Or<NoChurn, ChurnKeys> {
    Or::Table(ChurnKeys {
        up: own.up.or(of_all.up),
        down: own.down.or(of_all.down),
        running: own.running.or(of_all.running).or_else(|| Some(Default::default())),
        return_queued: own.return_queued.or(of_all.return_queued).or(Some(false)),
        attempts: own.attempts.or(of_all.attempts).or(Some(100)),
        checkpoint: own.checkpoint.or(of_all.checkpoint).or(Some(Checkpoint::None)),
        checkpoint_cost: own
            .checkpoint_cost
            .or(of_all.checkpoint_cost)
            .or(Some(Written(Span::from_secs(60)))),
    })
}

fn output(keys: OutputKeys) -> OutputKeys {
    OutputKeys {
        folder: keys.folder,
        segments: keys.segments.or(Some(true)),
        machines: keys.machines.or(Some(false)),
        batsim: keys.batsim.or(Some(false)),
    }
}

fn checkpoint(keys: CheckpointKeys) -> CheckpointKeys {
    let virtually = keys.every_virtual.unwrap_or_default();
    let events = keys.every_events.unwrap_or_default();
    let otherwise = match (virtually, events) {
        (Interval::None, 0) => Interval::Every(CHECKPOINT_EVERY),
        _ => Interval::None,
    };
    CheckpointKeys {
        store: keys.store,
        every: keys.every.or(Some(otherwise)),
        every_virtual: Some(virtually),
        every_events: Some(events),
        last: keys.last.or(Some(2)),
        keep_every: keys.keep_every.or(Some(0)),
        keep_at: keys.keep_at.or_else(|| Some(Vec::new())),
        database: keys.database.or_else(|| Some(EngineKind::default().to_string())),
    }
}

fn network(keys: NetworkKeys) -> NetworkKeys {
    let is_open = keys.link.as_ref().is_none_or(Vec::is_empty);
    let latency = keys.latency.or_else(|| is_open.then_some(Written(Span::ZERO)));
    let bandwidth = keys.bandwidth.unwrap_or(MaybeBandwidth::Unlimited);
    let link = keys.link.map(|links| {
        let filled = links.into_iter().map(|link| LinkKeys {
            latency: link.latency.or(latency),
            bandwidth: link.bandwidth.or(Some(bandwidth)),
            ..link
        });
        filled.collect()
    });
    NetworkKeys { latency, bandwidth: Some(bandwidth), link }
}

fn broker(keys: BrokerKeys) -> BrokerKeys {
    let plain = BrokerSpec::new(Named::bare("mct"));
    BrokerKeys {
        policy: keys.policy.or(Some(plain.policy)),
        picture: keys.picture.or(Some(Written(plain.picture))),
        count_in_flight: keys.count_in_flight.or(Some(plain.count_in_flight)),
        replan: keys.replan.or(Some(plain.replan)),
        recall_queued: keys.recall_queued.or(Some(plain.recall_queued)),
        retries: keys.retries.or(Some(plain.retries)),
        backoff: keys.backoff.or(Some(Written(plain.backoff))),
        in_flight: keys.in_flight.or(Some(plain.in_flight.map_or(AnyNumber::Any, AnyNumber::Of))),
        overhead: keys.overhead.or(Some(Written(plain.overhead))),
        lost_attempts: keys.lost_attempts.or(Some(plain.lost_attempts)),
    }
}
