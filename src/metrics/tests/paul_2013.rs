//! The five tables of Paul (2013), "Resource Utilization ...": both of their columns in percent follow from their times, as our measures of a finish do.

use crate::metrics::Ledger;
use crate::metrics::finishes::finishes;
use crate::model::SiteSpec;
use crate::platform::Usage;
use crate::units::Time;

/// A row: the kind of machine; "Execution time" and "Actual utilized time", in microseconds; "Makespan %age" and "Utilization %age", in hundredths of a percent.
type Row = (&'static str, u64, u64, u64, u64);

const P4: &str = "Pentium 4";
const I7_920: &str = "i7-920";
const X6800: &str = "X6800";
const I7_3960X: &str = "i7 Extreme Edition";
const QX6700: &str = "QX6700";
const I7_2600: &str = "i7-2600";

#[rustfmt::skip]
const WORKLOAD_6: [Row; 15] = [
    (P4, 12_048_592_250_000, 11_813_044_190_000, 9_801, 9_804),
    (P4, 12_163_752_560_000, 11_300_235_120_000, 9_895, 9_290),
    (P4, 12_164_478_670_000, 11_686_679_200_000, 9_895, 9_607),
    (I7_920, 12_046_834_850_000, 11_272_379_330_000, 9_799, 9_357),
    (I7_920, 12_047_842_360_000, 11_749_485_960_000, 9_800, 9_752),
    (X6800, 12_048_727_000_000, 11_734_951_470_000, 9_801, 9_739),
    (X6800, 12_160_673_180_000, 11_776_008_860_000, 9_892, 9_683),
    (I7_3960X, 12_162_928_270_000, 11_422_999_160_000, 9_894, 9_391),
    (I7_3960X, 12_160_661_700_000, 11_777_797_370_000, 9_892, 9_685),
    (QX6700, 12_160_968_730_000, 11_864_565_480_000, 9_892, 9_756),
    (QX6700, 12_156_329_050_000, 11_976_902_340_000, 9_889, 9_852),
    (QX6700, 12_160_817_180_000, 11_727_719_110_000, 9_892, 9_643),
    (QX6700, 12_160_965_550_000, 11_931_317_990_000, 9_892, 9_811),
    (I7_2600, 12_293_364_460_000, 11_959_913_000_000, 10_000, 9_728),
    (I7_2600, 12_161_210_370_000, 12_059_303_000_000, 9_892, 9_916),
];

#[rustfmt::skip]
const WORKLOAD_5: [Row; 15] = [
    (P4, 307_118_820_000, 280_545_300_000, 9_920, 9_134),
    (P4, 301_366_180_000, 270_360_920_000, 9_734, 8_971),
    (P4, 300_697_120_000, 270_477_220_000, 9_712, 8_995),
    (I7_920, 307_367_740_000, 273_357_180_000, 9_928, 8_893),
    (I7_920, 307_456_720_000, 283_748_630_000, 9_931, 9_228),
    (X6800, 305_703_060_000, 269_904_980_000, 9_874, 8_828),
    (X6800, 305_227_130_000, 276_089_830_000, 9_859, 9_045),
    (I7_3960X, 305_428_160_000, 288_772_300_000, 9_865, 9_454),
    (I7_3960X, 303_222_350_000, 278_433_590_000, 9_794, 9_182),
    (QX6700, 309_606_430_000, 291_890_840_000, 10_000, 9_427),
    (QX6700, 309_296_740_000, 291_225_750_000, 9_990, 9_415),
    (QX6700, 305_602_290_000, 288_181_420_000, 9_871, 9_429),
    (QX6700, 303_673_860_000, 297_436_400_000, 9_808, 9_794),
    (I7_2600, 308_464_860_000, 303_151_000_000, 9_963, 9_827),
    (I7_2600, 308_339_700_000, 303_203_000_000, 9_959, 9_833),
];

#[rustfmt::skip]
const WORKLOAD_7: [Row; 12] = [
    (P4, 388_054_553_460, 337_986_508_894, 9_531, 8_710),
    (I7_920, 390_646_860_537, 362_241_059_321, 9_595, 9_272),
    (X6800, 391_917_860_219, 357_671_610_452, 9_626, 9_126),
    (I7_3960X, 389_061_135_613, 367_173_559_685, 9_556, 9_437),
    (QX6700, 389_834_143_125, 368_452_037_427, 9_575, 9_451),
    (I7_2600, 394_967_616_183, 365_376_000_000, 9_701, 9_250),
    (P4, 407_130_811_479, 362_875_392_190, 10_000, 8_912),
    (I7_920, 406_698_612_175, 343_454_864_029, 9_989, 8_444),
    (X6800, 403_146_303_747, 348_012_012_859, 9_902, 8_632),
    (I7_3960X, 402_622_406_754, 378_981_878_416, 9_889, 9_412),
    (QX6700, 405_572_293_961, 385_571_358_202, 9_962, 9_506),
    (I7_2600, 394_268_616_183, 374_894_000_000, 9_684, 9_508),
];

#[rustfmt::skip]
const WORKLOAD_8: [Row; 12] = [
    (P4, 15_856_966_328_786, 14_643_863_906_402, 9_965, 9_234),
    (I7_920, 15_777_189_495_383, 14_224_208_443_954, 9_914, 9_015),
    (X6800, 15_777_954_142_035, 14_347_179_713_218, 9_915, 9_093),
    (I7_3960X, 15_853_934_301_256, 14_962_167_332_284, 9_963, 9_437),
    (QX6700, 15_855_065_258_749, 14_971_170_083_674, 9_963, 9_442),
    (I7_2600, 15_807_884_835_386, 14_039_647_000_000, 9_934, 8_881),
    (P4, 15_855_945_977_623, 15_192_585_514_258, 9_964, 9_581),
    (I7_920, 15_856_889_388_767, 15_492_772_726_830, 9_965, 9_770),
    (X6800, 15_856_577_788_845, 15_509_484_322_644, 9_964, 9_781),
    (I7_3960X, 15_808_788_880_171, 15_123_906_518_069, 9_934, 9_566),
    (QX6700, 15_913_317_542_563, 15_439_774_231_570, 10_000, 9_702),
    (I7_2600, 15_884_947_971_385, 15_685_884_000_000, 9_982, 9_874),
];

#[rustfmt::skip]
const WORKLOAD_8_ON_24: [Row; 24] = [
    (P4, 8_243_698_720_000, 7_556_234_160_000, 9_949, 9_166),
    (P4, 7_275_262_720_000, 6_253_412_080_000, 8_781, 8_595),
    (I7_920, 7_682_671_480_000, 6_326_204_110_000, 9_272, 8_234),
    (I7_920, 8_233_315_820_000, 7_351_339_160_000, 9_937, 8_928),
    (X6800, 8_117_606_740_000, 7_269_743_030_000, 9_797, 8_955),
    (X6800, 8_118_002_880_000, 7_072_373_180_000, 9_798, 8_711),
    (I7_3960X, 8_117_468_760_000, 7_183_725_780_000, 9_797, 8_849),
    (I7_3960X, 8_244_584_640_000, 7_426_916_890_000, 9_950, 9_008),
    (QX6700, 8_117_904_660_000, 7_220_275_870_000, 9_798, 8_894),
    (QX6700, 8_119_335_220_000, 7_202_661_190_000, 9_799, 8_870),
    (I7_2600, 8_229_761_810_000, 7_763_631_000_000, 9_933, 9_433),
    (I7_2600, 8_244_728_910_000, 7_615_311_000_000, 9_951, 9_236),
    (P4, 8_119_374_380_000, 7_906_705_970_000, 9_799, 9_738),
    (P4, 8_231_574_390_000, 7_705_017_380_000, 9_935, 9_360),
    (I7_920, 8_229_150_060_000, 7_628_743_040_000, 9_932, 9_270),
    (I7_920, 8_117_134_830_000, 7_339_766_910_000, 9_797, 9_042),
    (X6800, 8_244_402_120_000, 7_126_312_760_000, 9_950, 8_643),
    (X6800, 8_120_187_280_000, 7_600_934_790_000, 9_800, 9_360),
    (I7_3960X, 8_285_650_010_000, 8_151_742_160_000, 10_000, 9_838),
    (I7_3960X, 8_230_477_530_000, 7_746_832_680_000, 9_933, 9_412),
    (QX6700, 8_232_608_550_000, 7_776_374_290_000, 9_936, 9_445),
    (QX6700, 8_230_191_410_000, 7_517_359_040_000, 9_933, 9_133),
    (I7_2600, 8_244_461_910_000, 7_950_420_000_000, 9_950, 9_643),
    (I7_2600, 8_244_329_910_000, 7_745_014_000_000, 9_950, 9_394),
];

/// The table, and of it: the least share of the makespan, the least and the mean utilization in percent, and the mean idle time in seconds.
const TABLES: [(&str, &[Row], [f64; 4]); 5] = [
    ("workload 5", &WORKLOAD_5, [97.12, 88.28, 92.97, 21_452.9]),
    ("workload 6", &WORKLOAD_6, [97.99, 92.90, 96.68, 402_989.6]),
    ("workload 7", &WORKLOAD_7, [95.31, 84.44, 91.38, 34_269.2]),
    ("workload 8", &WORKLOAD_8, [99.14, 88.81, 94.48, 872_734.8]),
    ("workload 8 on 24 resources", &WORKLOAD_8_ON_24, [87.81, 82.34, 91.315, 701_534.8]),
];

/// The sites of a table, each of one processor.
fn sites(rows: &[Row]) -> Vec<(SiteSpec, Ledger)> {
    let site = |(name, _, busy, ..): &Row| {
        let mut ledger = Ledger::default();
        let useful = u128::from(*busy) * (Usage::PROC_SECOND / 1_000_000);
        ledger.add(
            &Usage { to: Time::from_secs(20_000_000), processors: 1, useful, ..Usage::default() },
            1_000_000,
        );
        (SiteSpec::plain(name, 1, "fcfs".parse().unwrap()), ledger)
    };
    rows.iter().map(site).collect()
}

/// Shares of the makespan are rounded in the paper; of utilizations some are, and some are cut off.
#[test]
fn both_columns_of_the_tables_follow_from_their_times() {
    for (table, rows, [least_share, least, mean, idle]) in TABLES {
        let last: Vec<_> = rows.iter().map(|row| Some(Time::from_micros(row.1))).collect();
        let (all, each) = finishes(Some(Time::ZERO), &sites(rows), &last);
        for (row, site) in rows.iter().zip(each) {
            assert_eq!((site.share.unwrap() * 1e4).round() as u64, row.3, "{table}: {row:?}");
            let off = site.utilization.unwrap() * 1e4 - row.4 as f64;
            assert!(off.abs() < 1.0, "{table}: {row:?} is off by {off}");
        }
        let near = |value: Option<f64>, printed: f64, by: f64| (value.unwrap() - printed).abs() <= by;
        assert!(near(all.least_share, least_share / 100.0, 5e-5), "{table}: {all:?}");
        assert!(near(all.least_utilization, least / 100.0, 1e-4), "{table}: {all:?}");
        assert!(near(all.mean_utilization, mean / 100.0, 1e-4), "{table}: {all:?}");
        assert!(near(all.mean_idle_s, idle, 0.1), "{table}: {all:?}");
    }
}

/// The work of a table in seconds of the i7-2600, to which run times refer: busy times at the speed of each kind.
fn work(rows: &[Row], mips_of_qx6700: f64) -> f64 {
    let mips = |kind: &str| match kind {
        P4 => 9_726.0,
        I7_920 => 20_575.0,
        X6800 => 13_539.0,
        I7_3960X => 29_621.0,
        QX6700 => mips_of_qx6700,
        _ => 32_075.0,
    };
    rows.iter().map(|row| row.2 as f64 / 1e6 * mips(row.0) / 32_075.0).sum()
}

/// Two tables of one trace have the same work to a thousandth, if the rows called QX6700 are of a machine 1.026 times as fast as the i7-2600. At the 12,290
/// MIPS that are printed for it they do not.
#[test]
fn the_same_jobs_have_the_same_work() {
    let pairs =
        [(&WORKLOAD_5[..], &WORKLOAD_7[..]), (&WORKLOAD_6, &WORKLOAD_8), (&WORKLOAD_6, &WORKLOAD_8_ON_24)];
    for (one, other) in pairs {
        let ratio = |mips| work(one, mips) / work(other, mips);
        assert!((ratio(1.026 * 32_075.0) - 1.0).abs() < 1e-3, "{}", ratio(1.026 * 32_075.0));
        assert!((ratio(12_290.0) - 1.0).abs() > 0.09, "{}", ratio(12_290.0));
    }
    let whole = |time: u64| time.is_multiple_of(1_000_000);
    for (_, rows, _) in TABLES {
        assert!(rows.iter().all(|(kind, _, busy, ..)| whole(*busy) == (*kind == I7_2600)));
    }
    // As many jobs of uniform run times up to 20,000 s, or 100,000 s, as `configs/papers/paul-2013` has.
    let jobs = |rows: &[Row], mips, most: f64| (work(rows, mips) / f64::midpoint(1.0, most)).round();
    assert_eq!(jobs(&WORKLOAD_5, 1.026 * 32_075.0, 20_000.0), 317.0);
    assert_eq!(jobs(&WORKLOAD_6, 1.026 * 32_075.0, 100_000.0), 2_588.0);
    assert_eq!(jobs(&WORKLOAD_8, 1.026 * 32_075.0, 100_000.0), 2_588.0);
}

/// Twice as many resources: the makespan of workload 8 is the 1.92nd part.
#[test]
fn the_speed_up_from_12_to_24_resources() {
    let makespan = |rows: &[Row]| rows.iter().map(|row| row.1).max().unwrap() as f64;
    let speed_up = makespan(&WORKLOAD_8) / makespan(&WORKLOAD_8_ON_24);
    assert_eq!((speed_up * 100.0).round(), 192.0);
}
