//! The strips of a Gantt chart: their heights and their axes.

use super::{Axis, GanttRow};

/// With more strips than this they are low, and have no labels but their names.
const MANY: usize = 16;
/// The least height of a strip with labels, and of one without, in pixels.
const LEAST: (i32, i32) = (28, 14);

pub(super) const fn many(rows: &[GanttRow]) -> bool {
    rows.len() > MANY
}

/// The space between strips, in pixels.
pub(super) const fn gap(rows: &[GanttRow]) -> i32 {
    match rows.len() {
        0 | 1 => 0,
        _ if many(rows) => 4,
        _ => 14,
    }
}

/// Heights in pixels, proportional to the square root of the processors, so that small strips remain readable.
pub(super) fn heights(rows: &[GanttRow]) -> Vec<i32> {
    let roots: Vec<f64> = rows.iter().map(|row| libm::sqrt(f64::from(row.processors.max(1)))).collect();
    let all: f64 = roots.iter().sum::<f64>().max(1.0);
    let whole = match rows.iter().map(|row| row.processors).max().unwrap_or(1) {
        few if few <= 16 => f64::from(few.max(3)) * 24.0 * rows.len() as f64,
        _ => 400.0 + 40.0 * (rows.len() as f64 - 1.0),
    };
    let least = if many(rows) { LEAST.1 } else { LEAST.0 };
    roots.iter().map(|root| ((root / all * whole.min(640.0)) as i32).max(least)).collect()
}

/// The axis of a strip: its processors, with a few labels if it has any.
pub(super) fn processors(row: &GanttRow, height: i32, labels: bool) -> Axis {
    let count = row.processors.max(1);
    let wanted = (height / 24).clamp(1, 8) as u32;
    let mut step = count.div_ceil(wanted);
    // Ticks at multiples of whole machines, or at round numbers.
    step = if row.cores > 1 { step.div_ceil(row.cores) * row.cores } else { round_up(step) };
    let places = (0..=count).step_by(step.max(1) as usize).filter(|_| labels);
    let ticks = places.map(|at| (f64::from(at), at.to_string())).collect();
    Axis::titled("", 0.0, f64::from(count), ticks, false)
}

/// The smallest of 1, 2, 5 × a power of ten that is at least `step`; `step` itself if there is none.
fn round_up(step: u32) -> u32 {
    let decades = (0..=9).map(|power| 10_u32.pow(power));
    let mut round = decades.flat_map(|decade| [1, 2, 5].map(|times| decade.checked_mul(times)));
    round.find_map(|round| round.filter(|round| *round >= step)).unwrap_or(step)
}
