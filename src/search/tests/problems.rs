//! The problems of Zitzler, Deb and Thiele 2000 (ZDT) and of Deb et al. 2005 (DTLZ), with what a search reaches on them.

use std::f64::consts::PI;

use super::real::Real;
use super::{points, times};
use crate::search::{Method, Search, Settings, fronts, hypervolume};

/// A test problem and what is known of it.
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) problem: Real,
    generations: usize,
    /// The hypervolume of the whole front, at 1.1 in each objective.
    exact: f64,
    /// The median hypervolume that a well-kept NSGA-II reaches, in per cent of the exact one: pymoo, six seeds; DTLZ2 thirty of
    /// pymoo 0.6.2, because six gave 87.4.
    pymoo: f64,
    /// What must be reached, likewise.
    wanted: f64,
    /// The standard deviation between seeds, likewise, where a median of few of them says too little; otherwise 0.
    scatter: f64,
}

fn real(variables: usize, objectives: usize, function: fn(&[f64], &mut [f64])) -> Real {
    Real { bounds: vec![(0.0, 1.0); variables], objectives, function }
}

/// g of ZDT1 to 3.
fn mean_g(x: &[f64]) -> f64 {
    1.0 + 9.0 * x[1..].iter().sum::<f64>() / (x.len() - 1) as f64
}

fn zdt1(x: &[f64], f: &mut [f64]) {
    let g = mean_g(x);
    f.copy_from_slice(&[x[0], g * (1.0 - (x[0] / g).sqrt())]);
}

fn zdt2(x: &[f64], f: &mut [f64]) {
    let g = mean_g(x);
    f.copy_from_slice(&[x[0], g * (1.0 - (x[0] / g) * (x[0] / g))]);
}

fn zdt3(x: &[f64], f: &mut [f64]) {
    let g = mean_g(x);
    f.copy_from_slice(&[x[0], g * (1.0 - (x[0] / g).sqrt() - x[0] / g * libm::sin(10.0 * PI * x[0]))]);
}

fn zdt4(x: &[f64], f: &mut [f64]) {
    let waves: f64 = x[1..].iter().map(|x| x * x - 10.0 * libm::cos(4.0 * PI * x)).sum();
    let g = 1.0 + 10.0 * (x.len() - 1) as f64 + waves;
    f.copy_from_slice(&[x[0], g * (1.0 - (x[0] / g).sqrt())]);
}

fn zdt6(x: &[f64], f: &mut [f64]) {
    let first = 1.0 - libm::exp(-4.0 * x[0]) * libm::pow(libm::sin(6.0 * PI * x[0]), 6.0);
    let mean = x[1..].iter().sum::<f64>() / (x.len() - 1) as f64;
    let g = 1.0 + 9.0 * libm::pow(mean, 0.25);
    f.copy_from_slice(&[first, g * (1.0 - (first / g) * (first / g))]);
}

fn dtlz1(x: &[f64], f: &mut [f64]) {
    let others = &x[f.len() - 1..];
    let waves: f64 = others.iter().map(|x| (x - 0.5) * (x - 0.5) - libm::cos(20.0 * PI * (x - 0.5))).sum();
    let g = 100.0 * (others.len() as f64 + waves);
    let last = f.len() - 1;
    for (at, f) in f.iter_mut().enumerate() {
        let product: f64 = x[..last - at].iter().product();
        *f = 0.5 * (1.0 + g) * product * if at > 0 { 1.0 - x[last - at] } else { 1.0 };
    }
}

fn dtlz2(x: &[f64], f: &mut [f64]) {
    let g: f64 = x[f.len() - 1..].iter().map(|x| (x - 0.5) * (x - 0.5)).sum();
    let last = f.len() - 1;
    for (at, f) in f.iter_mut().enumerate() {
        let product: f64 = x[..last - at].iter().map(|x| libm::cos(x * PI / 2.0)).product();
        *f = (1.0 + g) * product * if at > 0 { libm::sin(x[last - at] * PI / 2.0) } else { 1.0 };
    }
}

pub(super) fn known(name: &str) -> Known {
    let (name, problem, generations, exact, pymoo, wanted) = match name {
        "ZDT1" => ("ZDT1", real(30, 2, zdt1), 250, 0.876_666_7, 99.2, 99.0),
        "ZDT2" => ("ZDT2", real(30, 2, zdt2), 250, 0.543_333_3, 98.7, 98.5),
        "ZDT3" => ("ZDT3", real(30, 2, zdt3), 250, 1.331_763, 99.7, 99.5),
        "ZDT4" => {
            let mut bounds = vec![(-5.0, 5.0); 10];
            bounds[0] = (0.0, 1.0);
            ("ZDT4", Real { bounds, objectives: 2, function: zdt4 }, 250, 0.876_666_7, 98.8, 98.0)
        }
        "ZDT6" => ("ZDT6", real(10, 2, zdt6), 250, 0.507_878, 97.2, 97.0),
        // Five variables beside those of the position, and ten.
        "DTLZ1" => ("DTLZ1", real(7, 3, dtlz1), 400, 1.331 - 0.125 / 6.0, 99.3, 99.0),
        // 87 % is not reached: the median is 86.8 of thirty seeds and 86.96 of two hundred. It is held against pymoo's alone.
        "DTLZ2" => ("DTLZ2", real(12, 3, dtlz2), 250, 1.331 - PI / 6.0, 86.97, 0.0),
        _ => unreachable!("{name} is none of them"),
    };
    let scatter = if name == "DTLZ2" { 0.74 } else { 0.0 };
    Known { name, problem, generations, exact, pymoo, wanted, scatter }
}

impl Known {
    /// The hypervolume that NSGA-II reaches with a seed, in per cent of the exact one.
    fn share(&self, seed: u64) -> f64 {
        let settings = Settings { generations: self.generations, seed, ..Settings::default() };
        let found = Search::new(&self.problem, Method::Nsga2, settings, &[]).unwrap().run().unwrap();
        assert_eq!(found.evaluations, 100 * self.generations as u64);
        100.0 * hypervolume(found.population.points(), &vec![1.1; self.problem.objectives]).unwrap()
            / self.exact
    }

    /// The median of three seeds, times `GRIDEMU_CASES`, is as good as it must be: not below what is wanted, and at most half a per cent below
    /// pymoo's. With `--nocapture` the figures are printed.
    #[expect(clippy::print_stderr, reason = "the table of these figures is put together from it")]
    fn is_reached(&self) {
        let mut shares: Vec<f64> = (1..=3 * u64::from(times())).map(|seed| self.share(seed)).collect();
        shares.sort_by(f64::total_cmp);
        let median = (shares[(shares.len() - 1) / 2] + shares[shares.len() / 2]) / 2.0;
        let (worst, best) = (shares[0], shares[shares.len() - 1]);
        let Self { name, wanted, pymoo, .. } = self;
        eprintln!(
            "{name}: median {median:.2} % of {} seeds ({worst:.2} to {best:.2}), wanted {wanted} %, pymoo {pymoo} %",
            shares.len()
        );
        // Three standard errors of a median, if it is of few.
        let few = if shares.len() < 30 { 1.0 / (shares.len() as f64).sqrt() } else { 0.0 };
        let chance = 3.0 * 1.25 * self.scatter * few;
        assert!(median >= wanted.max(pymoo - 0.5) - chance, "{name}: {median} %");
    }
}

#[test]
fn nsga2_reaches_zdt1() {
    known("ZDT1").is_reached();
}

#[test]
fn nsga2_reaches_zdt2() {
    known("ZDT2").is_reached();
}

#[test]
fn nsga2_reaches_zdt3() {
    known("ZDT3").is_reached();
}

#[test]
fn nsga2_reaches_zdt4() {
    known("ZDT4").is_reached();
}

#[test]
fn nsga2_reaches_zdt6() {
    known("ZDT6").is_reached();
}

#[test]
fn nsga2_reaches_dtlz1() {
    known("DTLZ1").is_reached();
}

#[test]
fn nsga2_reaches_dtlz2() {
    known("DTLZ2").is_reached();
}

/// The hypervolume of n points of a curve from x = 0 to 1, at reference `limit` in both.
fn sampled(n: u32, limit: f64, curve: impl Fn(f64) -> f64) -> f64 {
    let x = (0..n).map(|at| f64::from(at) / f64::from(n - 1));
    let values: Vec<f64> = x.flat_map(|x| [x, curve(x)]).collect();
    hypervolume(points(&values, 2), &[limit, limit]).unwrap()
}

#[test]
fn the_front_of_zdt1_as_finite_sets() {
    let curve = |x: f64| 1.0 - x.sqrt();
    assert!((sampled(100, 1.1, curve) - 0.871_409_4).abs() < 5e-8);
    assert!((sampled(100, 1.0, curve) - 0.661_409_4).abs() < 5e-8);
    assert!((sampled(1000, 1.1, curve) - 0.876_159_6).abs() < 5e-8);
}

#[test]
fn fronts_sampled_densely_have_the_hypervolume_of_their_closed_forms() {
    // A staircase of n steps below a curve that falls by 1 misses at most 1/n.
    let near = |got: f64, exact: f64| assert!(got < exact && exact - got < 2e-5, "{got}, not {exact}");
    for (limit, zdt1, zdt2) in
        [(1.0, 2.0 / 3.0, 1.0 / 3.0), (1.1, 0.876_666_7, 0.543_333_3), (2.0, 3.666_666_7, 3.333_333_3)]
    {
        near(sampled(100_000, limit, |x| 1.0 - x.sqrt()), zdt1);
        near(sampled(100_000, limit, |x| 1.0 - x * x), zdt2);
    }
    // Schaffer's problem.
    let x = (0..=100_000).map(|at| f64::from(at) / 50_000.0);
    let values: Vec<f64> = x.flat_map(|x| [x * x, (x - 2.0) * (x - 2.0)]).collect();
    let got = hypervolume(points(&values, 2), &[4.0, 4.0]).unwrap();
    assert!(got < 40.0 / 3.0 && 40.0 / 3.0 - got < 2e-4, "{got}");
}

#[test]
fn the_fronts_of_zdt3_and_zdt6() {
    let mut f = [0.0; 2];
    let mut zdt3_front = Vec::new();
    let mut zdt6_front = Vec::new();
    for at in 0..=100_000 {
        let x = f64::from(at) / 100_000.0;
        zdt3(&[x, 0.0], &mut f);
        zdt3_front.extend_from_slice(&f);
        let first = 0.280_775_3 + (1.0 - 0.280_775_3) * x;
        zdt6_front.extend_from_slice(&[first, 1.0 - first * first]);
    }
    for (limit, of_zdt3, of_zdt6) in
        [(1.0, 1.044_426, 0.325_955), (1.1, 1.331_763, 0.507_878), (2.0, 4.817_795, 3.045_180)]
    {
        for (front, exact) in [(&zdt3_front, of_zdt3), (&zdt6_front, of_zdt6)] {
            let got = hypervolume(points(front, 2), &[limit, limit]).unwrap();
            assert!((got - exact).abs() < 5e-5, "{got}, not {exact}");
        }
    }
    // The front of ZDT3 is where these pieces of it are.
    let pieces = [
        (0.0, 0.083_001_534_9),
        (0.182_228_728_0, 0.257_762_363_4),
        (0.409_313_674_8, 0.453_882_104_1),
        (0.618_396_794_4, 0.652_511_703_8),
        (0.823_331_798_3, 0.851_832_865_4),
    ];
    let sparse: Vec<f64> = zdt3_front.chunks_exact(100).flat_map(|some| &some[..2]).copied().collect();
    let front = &fronts(points(&sparse, 2), &[]).unwrap()[0];
    for index in 0..2_000 {
        let x = index as f64 / 2_000.0;
        // At an end it depends on the next point of the other piece.
        if pieces.iter().all(|(low, high)| (x - low).abs() > 1e-3 && (x - high).abs() > 1e-3) {
            let is_in_piece = pieces.iter().any(|(low, high)| *low <= x && x <= *high);
            assert_eq!(front.binary_search(&index).is_ok(), is_in_piece, "{x}");
        }
    }
}

/// The functions map what is known to be best to the fronts.
#[test]
fn the_best_variables_are_on_the_fronts() {
    for step in 0..=20 {
        let x = f64::from(step) / 20.0;
        let mut variables = vec![x];
        variables.extend([0.0; 9]);
        let mut f = [0.0; 2];
        zdt1(&variables, &mut f);
        assert!((f[1] - (1.0 - f[0].sqrt())).abs() < 1e-12);
        zdt4(&variables, &mut f);
        assert!((f[1] - (1.0 - f[0].sqrt())).abs() < 1e-12);
        for function in [zdt2, zdt6] {
            function(&variables, &mut f);
            assert!((f[1] - (1.0 - f[0] * f[0])).abs() < 1e-12);
        }
        for width in 2..=5 {
            let mut variables = vec![x; width - 1];
            variables.extend([0.5; 10]);
            let mut f = vec![0.0; width];
            dtlz1(&variables, &mut f);
            assert!((f.iter().sum::<f64>() - 0.5).abs() < 1e-12, "{f:?}");
            dtlz2(&variables, &mut f);
            assert!((f.iter().map(|f| f * f).sum::<f64>() - 1.0).abs() < 1e-12, "{f:?}");
        }
    }
}
