//! Draws are pinned to the bit, and follow their distributions.

use std::path::Path;

use rand::distr::{Open01, OpenClosed01, StandardUniform};
use rand::{Rng, RngExt};
use rand_distr::Beta;

use super::*;

/// Changing any of these numbers changes every generated workload: say so in the changelog.
#[test]
fn draws_are_golden() {
    let mut stream = Stream::new(7, "windsor", "size");
    let bits = [stream.next_u64(), stream.next_u64()];
    let simple = [stream.uniform(), stream.normal(), stream.exponential()];
    let gammas = [Gamma::new(4.2, 0.94), Gamma::new(312.0, 0.03), Gamma::new(0.5, 2.0)];
    let gammas = gammas.map(|gamma| gamma.sample(&mut stream));
    let below = [stream.below(6), stream.below(1_000_000_007)];
    assert_eq!(bits, [5_269_635_544_367_855_619, 7_019_473_074_460_228_513]);
    assert_eq!(simple, [0.38419360234558075, -0.17375154616040686, 0.1965703723413359]);
    assert_eq!(gammas, [4.160002264312873, 9.297641257112792, 0.9401664800076627]);
    assert_eq!(below, [1, 909_593_946]);
}

#[test]
fn every_name_counts() {
    let first = |seed, entity, purpose| Stream::new(seed, entity, purpose).next_u64();
    let base = first(1, "ab", "c");
    for other in [first(2, "ab", "c"), first(1, "a", "bc"), first(1, "ab", "d"), first(1, "", "abc")] {
        assert_ne!(base, other);
    }
    assert_eq!(base, first(1, "ab", "c"));
}

#[test]
fn saves_and_restores_exactly() {
    let mut stream = Stream::new(3, "site", "churn");
    stream.next_u64();
    let saved = postcard::to_stdvec(&stream).unwrap();
    let mut restored: Stream = postcard::from_bytes(&saved).unwrap();
    assert_eq!(restored, stream);
    assert_eq!(restored.next_u64(), stream.next_u64());
}

#[test]
fn moments_are_those_of_the_distributions() {
    let mut stream = Stream::new(1, "test", "moments");
    let n = 200_000;
    // Mean and variance of each, five standard errors wide (the variance of a sample variance is (κ − 1) σ⁴ / n).
    let mut check =
        |name: &str, mean: f64, variance: f64, kurtosis: f64, draw: &dyn Fn(&mut Stream) -> f64| {
            let draws: Vec<f64> = (0..n).map(|_| draw(&mut stream)).collect();
            let m = draws.iter().sum::<f64>() / n as f64;
            let v = draws.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / n as f64;
            let (tm, tv) =
                (5.0 * (variance / n as f64).sqrt(), 5.0 * variance * ((kurtosis - 1.0) / n as f64).sqrt());
            assert!((m - mean).abs() < tm && (v - variance).abs() < tv, "{name}: mean {m}, variance {v}");
        };
    check("uniform", 0.5, 1.0 / 12.0, 1.8, &Stream::uniform);
    check("exponential", 1.0, 1.0, 9.0, &Stream::exponential);
    check("normal", 0.0, 1.0, 3.0, &Stream::normal);
    check("die", 2.5, 35.0 / 12.0, 1.73, &|stream| stream.below(6) as f64);
    for (shape, scale) in [(0.3, 2.0), (1.0, 1.0), (4.2, 0.94), (312.0, 0.03)] {
        let gamma = Gamma::new(shape, scale);
        check("gamma", shape * scale, shape * scale * scale, 3.0 + 6.0 / shape, &|s| gamma.sample(s));
    }
}

#[test]
fn nothing_is_below_nothing() {
    assert_eq!(Stream::new(1, "", "").below(0), 0);
}

/// Changing any of these bits changes results: say so in the changelog. They are the same in debug and release builds,
/// with `num-traits/std` (as in every build of the tests) and without.
#[test]
fn the_bits_of_every_distribution_are_pinned() {
    fn pinned(name: &str, distribution: impl Distribution<Portable> + Copy, bits: [u64; 4]) {
        let mut stream = Stream::new(7, "windsor", name);
        // The last draw is far down the stream: a draw that is accepted or rejected differently changes it.
        let mut after =
            |skip| std::iter::repeat_with(|| stream.draw(distribution)).nth(skip).unwrap().to_bits();
        let drawn = [after(0), after(0), after(0), after(2_000)];
        assert_eq!(drawn, bits, "{name}: {drawn:#x?}");
    }
    let lognormal = LogNormal::new(Portable(1.5), Portable(0.8)).unwrap();
    let weibull = |shape| Weibull::new(Portable(2.0), Portable(shape)).unwrap();
    let beta = Beta::new(Portable(2.0), Portable(3.0)).unwrap();
    let gamma = |shape| rand_distr::Gamma::new(Portable(shape), Portable(1.5)).unwrap();
    pinned(
        "uniform",
        StandardUniform,
        [0x3fdd_1034_902d_c300, 0x3fb2_74d0_ff30_6518, 0x3fc4_f889_9a66_7d9c, 0x3f91_f408_92f2_5a00],
    );
    pinned(
        "open",
        Open01,
        [0x3fd5_a510_9618_1850, 0x3fdb_0bab_32ca_c716, 0x3fdb_5ad6_1b72_3902, 0x3fc8_6cfc_fbff_8884],
    );
    pinned(
        "open closed",
        OpenClosed01,
        [0x3fea_9407_dc18_c2d3, 0x3fe6_4d17_cc30_6ccb, 0x3fdd_8c9f_b620_5128, 0x3fce_257b_cc17_f43c],
    );
    pinned(
        "exponential",
        Exp1,
        [0x3fe2_c122_0719_55bb, 0x3fe7_4c47_a134_f357, 0x3fd6_0426_44e1_3b11, 0x4000_b55e_7356_a407],
    );
    pinned(
        "normal",
        StandardNormal,
        [0xbfd1_c645_dd84_dd3b, 0xbff1_d60a_d251_ba5a, 0xbfdd_ed32_92cb_52ad, 0x3ff4_2723_836f_2d69],
    );
    pinned(
        "lognormal",
        lognormal,
        [0x4016_48b0_78c1_f770, 0x3fe7_6176_d813_8ff1, 0x4000_d56b_7948_be57, 0x4030_00e3_7f32_9414],
    );
    pinned(
        "weibull",
        weibull(0.7),
        [0x3ff3_029d_ce09_f480, 0x4016_d216_6bf8_bef2, 0x3ff8_515c_de1f_ff98, 0x4030_f0de_3052_db98],
    );
    pinned(
        "steep weibull",
        weibull(3.5),
        [0x4000_5872_1fc5_bc9d, 0x3ff5_e4ce_48d2_c4d6, 0x3ff5_755e_f0a5_71e8, 0x4002_5f78_f319_8aa5],
    );
    pinned(
        "beta",
        beta,
        [0x3fc2_8ce5_997f_5ef6, 0x3fd2_d1bc_46c5_116d, 0x3fd5_295e_7cf2_4098, 0x3fc5_81a7_a53d_e643],
    );
    pinned(
        "gamma",
        gamma(4.2),
        [0x400e_61f5_d88b_e2a9, 0x400b_0d29_bd05_29cb, 0x4021_b8af_dfa6_cdbf, 0x4006_3afa_0df8_16a9],
    );
    pinned(
        "round gamma",
        gamma(1.0),
        [0x4007_8d83_db8a_bab8, 0x3fd5_35d7_3104_8f98, 0x3ff6_9aab_2f74_e4a4, 0x3fb5_d1ce_9373_8658],
    );
    pinned(
        "steep gamma",
        gamma(0.3),
        [0x3ef2_8c48_720d_bcde, 0x3f72_e975_0e70_58d4, 0x3f88_09da_3ec3_d68c, 0x3fd0_04a1_9c03_4750],
    );
}

/// Kolmogorov and Smirnov's distance at 1 in a thousand is 1.95 / √n; seeds are fixed.
fn follows(name: &str, distribution: impl Distribution<Portable> + Copy, cdf: impl Fn(f64) -> f64) {
    let n = 50_000;
    let mut stream = Stream::new(5, "test", name);
    let mut draws: Vec<f64> = (0..n).map(|_| stream.draw(distribution)).collect();
    draws.sort_by(f64::total_cmp);
    let off = |(rank, x): (usize, &f64)| (cdf(*x) - (rank as f64 + 0.5) / n as f64).abs();
    let distance = draws.iter().enumerate().map(off).fold(0.0, f64::max);
    assert!(distance < 1.95 / (n as f64).sqrt(), "{name}: {distance}");
}

#[test]
fn draws_follow_their_distributions() {
    let phi = |z: f64| libm::erfc(-z / libm::sqrt(2.0)) / 2.0;
    follows("uniform", StandardUniform, |x| x);
    follows("open", Open01, |x| x);
    follows("open closed", OpenClosed01, |x| x);
    follows("exponential", Exp1, |x| -libm::expm1(-x));
    follows("normal", StandardNormal, phi);
    for (mu, sigma) in [(1.5, 0.8), (-3.0, 2.5)] {
        let law = LogNormal::new(Portable(mu), Portable(sigma)).unwrap();
        follows("lognormal", law, |x| phi((libm::log(x) - mu) / sigma));
    }
    for shape in [0.4, 1.0, 3.5] {
        let law = Weibull::new(Portable(2.0), Portable(shape)).unwrap();
        follows("weibull", law, |x| -libm::expm1(-libm::pow(x / 2.0, shape)));
    }
    // The library's other distributions are as good over this number: B(2, 3) has 6 x² − 8 x³ + 3 x⁴.
    follows("beta", Beta::new(Portable(2.0), Portable(3.0)).unwrap(), |x| {
        x * x * (6.0 - 8.0 * x + 3.0 * x * x)
    });
}

#[test]
fn an_open_interval_is_open() {
    /// Draws zeros first, then the values of a generator.
    struct Zeros(u32, Stream);
    impl TryRng for Zeros {
        type Error = Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            unreachable!("no draw is made of 32 bits")
        }
        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            if self.0 == 0 {
                return self.1.try_next_u64();
            }
            self.0 -= 1;
            Ok(0)
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
            unreachable!("no draw is made of bytes")
        }
    }
    let zeros = || Zeros(3, Stream::new(1, "test", "open"));
    assert_eq!(zeros().sample::<Portable, _>(OpenClosed01), Portable(1.0));
    let open: Portable = zeros().sample(Open01);
    assert!(open > Portable(0.0) && open < Portable(1.0));
}

/// [`Stream::below`] is Lemire's method (ACM TOMACS 29(1) 2019), whose rejections are rare; with this bound they are
/// not.
#[test]
fn a_large_bound_is_without_bias() {
    let (bound, n) = (3 << 62, 30_000);
    let mut stream = Stream::new(2, "test", "below");
    let mut thirds = [0_u32; 3];
    for _ in 0..n {
        thirds[(stream.below(bound) >> 62) as usize] += 1;
    }
    // Each third is binomial with n and 1/3: five standard errors are 409 draws.
    assert!(thirds.iter().all(|third| third.abs_diff(n / 3) < 409), "{thirds:?}");
    let mut same = Stream::new(2, "test", "below");
    let slow: Vec<u64> = std::iter::repeat_with(|| u128::from(same.next_u64()) * u128::from(bound))
        .filter(|product| *product as u64 >= bound.wrapping_neg() % bound)
        .map(|product| (product >> 64) as u64)
        .take(100)
        .collect();
    let mut fast = Stream::new(2, "test", "below");
    assert_eq!(slow, (0..100).map(|_| fast.below(bound)).collect::<Vec<_>>());
}

/// Over `f64` the library may call the system's functions, so no code outside this module may name it.
#[test]
fn the_library_is_used_over_the_portable_number_alone() {
    fn search(folder: &Path, found: &mut Vec<String>) {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            let name = path.display().to_string();
            if path.is_dir() {
                search(&path, found);
            } else if name.ends_with(".rs")
                && !name.contains("/workload/random")
                && ["rand_distr", "num_traits"]
                    .iter()
                    .any(|crate_| std::fs::read_to_string(&path).unwrap().contains(crate_))
            {
                found.push(name);
            }
        }
    }
    let mut found = Vec::new();
    search(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert_eq!(found, Vec::<String>::new());
}
