//! The shape of Epigenomics: sequences are split into chunks, each chunk goes through four steps, the maps of a sequence are merged, and
//! then those of all sequences.

use super::laws::{Draws, Law, TypeLaws};
use super::numbered;
use crate::workflow::{Draft, TaskDraft};
use crate::workload::random::Stream;

/// One sequence of one chunk.
pub(super) const FEWEST: u32 = 9;
/// Chunks of a sequence: the median of the published instances.
const CHUNKS: usize = 35;
/// The genome that each chunk is compared with.
const GENOME: f64 = 46_944_392.0;

/// Fitted by the number of chunks in all.
const LAWS: &[TypeLaws] = &[
    laws("fastqSplit", Law::new(0.078_69, 1.20, 1.14), Law::new(6.405e7, 0.32, 0.49)),
    laws("filterContams", Law::new(10.4, 0.0, 1.14), Law::new(3.032e7, -0.25, 0.33)),
    laws("sol2sanger", Law::new(5.368, 0.01, 1.43), Law::new(2.397e7, -0.26, 0.33)),
    laws("fast2bfq", Law::new(2.393, -0.08, 0.92), Law::new(4.671e6, -0.22, 0.35)),
    laws("map", Law::new(173.2, -0.25, 0.30), Law::new(2.403e6, -0.26, 0.36)),
    laws("mapMerge", Law::new(1.106, 0.29, 0.49), Law::new(5.501e6, 0.27, 0.47)),
    laws("chr21", Law::new(0.619_1, 0.72, 0.58), Law::new(1.41e6, 0.84, 0.32)),
    laws("pileup", Law::new(16.73, 0.11, 0.29), Law::new(2.137e6, 0.50, 0.78)),
];

const fn laws(kind: &'static str, runtime: Law, written: Law) -> TypeLaws {
    TypeLaws { kind, runtime, written }
}

pub(super) fn draft(tasks: u32, stream: &dyn Fn(&str) -> Stream) -> Draft {
    // A chunk has four tasks, a sequence two more, and three follow all of them.
    let tasks = tasks as usize;
    let sequences = (tasks - 3).div_ceil(4 * CHUNKS + 2).min((tasks - 3) / 6).max(1);
    let chunks = (tasks - 3 - 2 * sequences) / 4;
    let mut draws = Draws::new(chunks, LAWS, stream);
    let mut draft = Draft::default();
    draft.file("chr21.bfa", GENOME);
    let mut merged = Vec::new();
    for sequence in 1..=sequences {
        // The first sequences have one chunk more if the number does not divide.
        let own = chunks / sequences + usize::from(sequence <= chunks % sequences);
        merged.push(self::sequence(&mut draft, sequence, own, &mut draws));
    }
    let all = add(&mut draft, "mapMerge", merged, "all.map", &mut draws);
    let genome = || "chr21.bfa".to_owned();
    let chr21 = add(&mut draft, "chr21", vec![all], "chr21.map", &mut draws);
    add(&mut draft, "pileup", vec![chr21, genome()], "all.pileup", &mut draws);
    draft
}

/// Adds a task that reads these files and writes one, which it returns.
fn add(draft: &mut Draft, kind: &str, reads: Vec<String>, writes: &str, draws: &mut Draws) -> String {
    let (runtime, written) = draws.next(kind);
    draft.file(writes, written);
    let mut task = TaskDraft::new(numbered(draft, kind), runtime).writes(writes);
    task.inputs = reads;
    draft.task(task);
    writes.to_owned()
}

/// Adds a sequence and returns the file of its merged maps.
fn sequence(draft: &mut Draft, sequence: usize, chunks: usize, draws: &mut Draws) -> String {
    let (runtime, written) = draws.next("fastqSplit");
    let whole = format!("s{sequence}.sfq");
    draft.file(&*whole, written);
    let mut split = TaskDraft::new(numbered(draft, "fastqSplit"), runtime).reads(whole);
    for chunk in 1..=chunks {
        let part = format!("s{sequence}.{chunk}.sfq");
        draft.file(&*part, libm::round(written / chunks as f64));
        split = split.writes(part);
    }
    let parts = split.outputs.clone();
    draft.task(split);
    let mut maps = Vec::new();
    for (part, chunk) in parts.into_iter().zip(1..) {
        let file = |ending: &str| format!("s{sequence}.{chunk}.{ending}");
        let filtered = add(draft, "filterContams", vec![part], &file("nocontam.sfq"), draws);
        let sanger = add(draft, "sol2sanger", vec![filtered], &file("fq"), draws);
        let binary = add(draft, "fast2bfq", vec![sanger], &file("bfq"), draws);
        maps.push(add(draft, "map", vec![binary, "chr21.bfa".to_owned()], &file("map"), draws));
    }
    add(draft, "mapMerge", maps, &format!("s{sequence}.map"), draws)
}
