//! Holm's correction for many comparisons in one table.

/// Holm's step-down correction: the adjusted p values, in the given order.
///
/// Of `m` p values the smallest is multiplied by `m`, the next one by `m - 1` and so on, and no adjusted value is below that
/// of a smaller one (S. Holm, Scandinavian Journal of Statistics 6, 1979). If adjusted values below α are called significant,
/// the probability of any false result in the whole table is below α, whatever the dependence between the tests.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        let times = (p_values.len() - rank) as f64;
        least = least.max((times * p_values[at]).min(1.0));
        adjusted[at] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(got: &[f64], expected: &[f64]) {
        assert_eq!(got.len(), expected.len());
        for (a, b) in got.iter().zip(expected) {
            assert!((a - b).abs() < 1e-12, "{got:?} and not {expected:?}");
        }
    }

    #[test]
    fn worked_example() {
        // Four tests: 0.005 x 4 = 0.02, 0.01 x 3 = 0.03, 0.03 x 2 = 0.06, 0.04 x 1 = 0.04 raised to 0.06.
        // The same as R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
        assert_close(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
    }

    #[test]
    fn never_above_one_and_ties_are_treated_alike() {
        assert_close(&holm(&[0.5, 0.9, 0.4]), &[1.0, 1.0, 1.0]);
        assert_close(&holm(&[0.02, 0.02]), &[0.04, 0.04]);
        assert_close(&holm(&[0.2]), &[0.2]);
        assert_close(&holm(&[]), &[]);
    }

    #[test]
    fn between_nothing_and_bonferroni() {
        let mut stream = crate::workload::random::Stream::new(1, "test", "holm");
        for m in 1..40 {
            let raw: Vec<f64> = (0..m).map(|_| stream.uniform() * stream.uniform()).collect();
            for (adjusted, raw) in holm(&raw).into_iter().zip(raw) {
                assert!(raw <= adjusted && adjusted <= (m as f64 * raw).min(1.0));
            }
        }
    }

    #[test]
    fn twenty_cells_without_a_difference_give_no_false_call() {
        // Uncorrected, 64 of 100 such tables would report a difference; corrected, 5.
        let mut stream = crate::workload::random::Stream::new(2, "test", "holm");
        let (mut naive, mut corrected) = (0, 0);
        for _ in 0..2_000 {
            let raw: Vec<f64> = (0..20).map(|_| stream.uniform()).collect();
            naive += i32::from(raw.iter().any(|p| *p < 0.05));
            corrected += i32::from(holm(&raw).iter().any(|p| *p < 0.05));
        }
        assert!((naive - 1_283).abs() < 110, "{naive}");
        assert!((50..=150).contains(&corrected), "{corrected}");
    }
}
