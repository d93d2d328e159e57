//! The shape of Montage: in each of three bands, images are projected, differences of neighbours are fitted, a background model made of all
//! fits is applied, and the images are added to a mosaic; a last task makes one picture of the three.

use super::laws::{Draws, Law, TypeLaws};
use super::numbered;
use crate::workflow::{Draft, TaskDraft};
use crate::workload::random::Stream;

const BANDS: usize = 3;
/// Two images a band.
pub(super) const FEWEST: u32 = count(2) as u32;

/// Fitted to seven 2MASS instances by the number of images of a band (the eighth wrote empty mosaics).
const LAWS: &[TypeLaws] = &[
    laws("mProject", Law::new(14.63, 0.04, 0.21, 0.15), Law::new(8.296e6, 0.0, 0.0, 0.0)),
    laws("mDiffFit", Law::new(0.1653, -0.11, 0.24, 1.03), Law::new(260.6, 0.0, 0.0, 0.09)),
    laws("mConcatFit", Law::new(0.049_36, 0.83, 0.29, 0.08), Law::new(126.9, 1.54, 0.38, 0.06)),
    laws("mBgModel", Law::new(0.109, 1.17, 0.30, 0.10), Law::new(65.13, 0.96, 0.07, 0.03)),
    laws("mBackground", Law::new(0.1169, 0.53, 0.58, 1.01), Law::new(8.296e6, 0.0, 0.0, 0.0)),
    laws("mImgtbl", Law::new(0.1343, 0.19, 0.35, 0.32), Law::new(734.8, 0.88, 0.04, 0.0)),
    laws("mAdd", Law::new(0.1227, 0.36, 0.30, 0.11), Law::new(3.382e5, 1.13, 0.83, 0.0)),
    laws("mViewer", Law::new(0.071_11, 0.66, 0.54, 0.33), Law::new(1.714e4, 1.16, 0.65, 0.48)),
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
