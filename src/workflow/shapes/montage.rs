//! The shape of Montage: in each of three bands, images are projected, differences of neighbours are fitted, a background model made of all
//! fits is applied, and the images are added to a mosaic; a last task makes one picture of the three.

use super::laws::{Draws, Law, TypeLaws};
use super::numbered;
use crate::workflow::{Draft, TaskDraft};
use crate::workload::random::Stream;

const BANDS: usize = 3;
/// Two images a band.
pub(super) const FEWEST: u32 = count(2) as u32;

/// Fitted to the 2MASS instances, by the number of images of a band.
const LAWS: &[TypeLaws] = &[
    laws("mProject", Law::new(7.651, 0.22, 0.27), Law::new(8.294e6, 0.0, 0.0)),
    laws("mDiffFit", Law::new(0.054_48, 0.19, 1.02), Law::new(263.0, 0.0, 0.0)),
    laws("mConcatFit", Law::new(0.048_77, 0.76, 0.63), Law::new(123.6, 1.40, 0.0)),
    laws("mBgModel", Law::new(0.107_1, 1.08, 0.86), Law::new(64.15, 0.88, 0.0)),
    laws("mBackground", Law::new(0.008_574, 1.22, 1.22), Law::new(8.295e6, 0.0, 0.0)),
    laws("mImgtbl", Law::new(0.134_3, 0.19, 0.48), Law::new(734.8, 0.88, 0.0)),
    laws("mAdd", Law::new(0.122_7, 0.36, 0.32), Law::new(3.382e5, 1.13, 0.0)),
    laws("mViewer", Law::new(0.071_11, 0.66, 0.63), Law::new(1.714e4, 1.16, 0.0)),
];

const fn laws(kind: &'static str, runtime: Law, written: Law) -> TypeLaws {
    TypeLaws { kind, runtime, written }
}

/// The pairs of neighbours among `images`: all if there are few, about five an image otherwise.
const fn pairs(images: usize) -> usize {
    let all = images * (images - 1) / 2;
    let near = images * 26 / 5;
    if all < near { all } else { near }
}

/// The number of tasks.
const fn count(images: usize) -> usize {
    BANDS * (2 * images + pairs(images) + 5) + 1
}

pub(super) fn draft(tasks: u32, stream: &dyn Fn(&str) -> Stream) -> Draft {
    let mut images = 2;
    while count(images + 1) <= tasks as usize {
        images += 1;
    }
    let mut draws = Draws::new(images, LAWS, stream);
    let mut draft = Draft::default();
    draft.file("region.hdr", 277.0);
    let mut mosaics = Vec::new();
    for band in 1..=BANDS {
        mosaics.push(self::band(&mut draft, band, images, &mut draws));
    }
    add(&mut draft, "mViewer", &mosaics, &["mosaic-color.png".to_owned()], &mut draws);
    draft
}

/// Adds a task that reads and writes these files; what it writes is shared evenly among them.
fn add(draft: &mut Draft, kind: &str, reads: &[String], writes: &[String], draws: &mut Draws) {
    let (runtime, written) = draws.next(kind);
    for file in writes {
        draft.file(&**file, libm::round(written / writes.len() as f64));
    }
    let mut task = TaskDraft::new(numbered(draft, kind), runtime);
    task.inputs = reads.to_vec();
    task.outputs = writes.to_vec();
    draft.task(task);
}

/// Adds a band and returns the file of its mosaic.
fn band(draft: &mut Draft, band: usize, images: usize, draws: &mut Draws) -> String {
    let both = |begin: &str, image: usize| {
        [format!("{band}-{begin}{image}.fits"), format!("{band}-{begin}{image}_area.fits")]
    };
    let table = |name: &str| format!("{band}-{name}.tbl");
    let header = || "region.hdr".to_owned();
    for image in 0..images {
        let raw = format!("{band}-raw{image}.fits");
        draft.file(&*raw, 1.53e6);
        add(draft, "mProject", &[raw, header()], &both("p", image), draws);
    }
    // Neighbours in a row first, then those of the next rows.
    let neighbours = (1..images).flat_map(|apart| (0..images - apart).map(move |from| (from, from + apart)));
    let mut fits = Vec::new();
    for (one, other) in neighbours.take(pairs(images)) {
        let fit = format!("{band}-fit.{one}.{other}.txt");
        let reads = [&both("p", one)[..], &both("p", other)[..], &[header()]].concat();
        add(draft, "mDiffFit", &reads, std::slice::from_ref(&fit), draws);
        fits.push(fit);
    }
    add(draft, "mConcatFit", &fits, &[table("fits")], draws);
    add(draft, "mBgModel", &[table("fits")], &[table("corrections")], draws);
    let mut corrected = Vec::new();
    for image in 0..images {
        let reads = [&both("p", image)[..], &[table("corrections")]].concat();
        add(draft, "mBackground", &reads, &both("c", image), draws);
        corrected.extend(both("c", image));
    }
    let flat: Vec<String> = corrected.iter().step_by(2).cloned().collect();
    add(draft, "mImgtbl", &flat, &[table("updated")], draws);
    corrected.push(table("updated"));
    let mosaic = [format!("{band}-mosaic.fits"), format!("{band}-mosaic_area.fits")];
    add(draft, "mAdd", &corrected, &mosaic, draws);
    add(draft, "mViewer", &mosaic[..1], &[format!("{band}-mosaic.png")], draws);
    mosaic[0].clone()
}
