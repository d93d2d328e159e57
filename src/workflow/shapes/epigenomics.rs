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

/// Fitted to the 26 instances by the number of chunks in all.
const LAWS: &[TypeLaws] = &[
    laws("chr21", Law::new(0.6191, 0.72, 0.58, 0.0), Law::new(1.41e6, 0.84, 0.32, 0.0)),
    laws("fast2bfq", Law::new(0.5934, 0.19, 0.53, 0.78), Law::new(2.625e6, -0.11, 0.33, 0.19)),
    laws("fastqSplit", Law::new(0.094_59, 1.13, 0.87, 0.57), Law::new(6.565e7, 0.33, 0.40, 0.32)),
    laws("filterContams", Law::new(1.771, 0.36, 0.54, 1.06), Law::new(1.518e7, -0.11, 0.31, 0.18)),
    laws("mapMerge", Law::new(1.249, 0.31, 0.27, 0.58), Law::new(5.273e6, 0.35, 0.39, 0.61)),
    laws("map", Law::new(80.98, -0.10, 0.24, 0.21), Law::new(1.415e6, -0.15, 0.31, 0.21)),
    laws("pileup", Law::new(16.73, 0.11, 0.29, 0.0), Law::new(2.137e6, 0.50, 0.78, 0.0)),
    laws("sol2sanger", Law::new(0.7392, 0.41, 0.76, 1.29), Law::new(1.179e7, -0.12, 0.31, 0.18)),
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
