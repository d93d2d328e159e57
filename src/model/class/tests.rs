use super::*;

/// The class of a job with this run time and an estimate that equals it.
fn of(classes: &JobClasses, runtime: Span, procs: u32, machine: u32) -> JobClass {
    classes.of(ClassifiedBy { runtime, estimate: runtime, procs }, machine)
}

#[test]
fn the_names_of_classes_have_a_meaning() {
    let meaning = |written: &str| written.parse::<JobClasses>().unwrap().meaning();
    assert_eq!(
        meaning("kettimuthu-16").unwrap(),
        "VS up to 10 min, S up to 1 h, L up to 8 h, VL longer; \
         Seq 1 processor, N up to 8 processors, W up to 32 processors, VW more"
    );
    assert_eq!(
        meaning("kanavallil").unwrap(),
        "short below 10 min, medium below 3 h, long longer; \
         narrow up to 10 % of the machine, medium up to 50 % of the machine, wide more"
    );
    assert_eq!(meaning("huang-2").unwrap(), "short up to 3 min, medium up to 1 h, long longer");
    assert_eq!((meaning("none"), meaning("cuts[run=1 h,size=8]")), (None, None));
    assert_eq!(
        meaning("kettimuthu-32").unwrap(),
        meaning("kettimuthu-16").unwrap() + "; well estimated at up to 2 × the run time, badly more"
    );
    let criteria = |written: &str| written.parse::<JobClasses>().unwrap().criteria();
    assert_eq!(criteria("kettimuthu-32"), "run time, requested processors and estimate over run time");
    assert_eq!(criteria("kettimuthu-4"), "run time and requested processors");
    assert_eq!((criteria("huang-1"), criteria("none")), ("run time".to_owned(), String::new()));
}

/// Kettimuthu 2003, chapter 4: well estimated is an estimate of not more than twice the run time.
#[test]
fn estimates_divide_the_sixteen_into_two_groups() {
    let classes: JobClasses = "kettimuthu-32".parse().unwrap();
    assert_eq!(classes.count(), 32);
    let sixteen: JobClasses = "kettimuthu-16".parse().unwrap();
    let expected: Vec<String> = (0..16)
        .flat_map(|at| ["well", "badly"].map(|group| format!("{} {group}", sixteen.label(at))))
        .collect();
    assert_eq!((0..32).map(|at| classes.label(at)).collect::<Vec<_>>(), expected);
    let label = |classes: &JobClasses, micros, estimate, procs| {
        let [runtime, estimate] = [micros, estimate].map(Span::from_micros);
        classes.label(classes.index(classes.of(ClassifiedBy { runtime, estimate, procs }, 430)))
    };
    let ten_minutes = 600_000_000;
    assert_eq!(
        label(&classes, ten_minutes, ten_minutes, 1),
        "VS Seq well",
        "killed at its estimate, or exact"
    );
    assert_eq!(label(&classes, ten_minutes, 2 * ten_minutes, 1), "VS Seq well", "the bound is inclusive");
    assert_eq!(label(&classes, ten_minutes, 2 * ten_minutes + 1, 1), "VS Seq badly");
    assert_eq!(label(&classes, ten_minutes + 1, 2 * ten_minutes + 2, 9), "S W well");
    assert_eq!(label(&classes, 0, 0, 33), "VS VW well");
    assert_eq!(label(&classes, 0, 1, 33), "VS VW badly", "no multiple of nothing");
    assert_eq!(label(&classes, u64::MAX, u64::MAX, 33), "VL VW well", "no product is too large");
    let two: JobClasses = "kettimuthu-estimates".parse().unwrap();
    assert_eq!((two.count(), two.label(0), two.label(1)), (2, "well".to_owned(), "badly".to_owned()));
    // Several bounds, with decimals, which are exact.
    let own: JobClasses = "cuts[size=8,estimates=1/1.1/2.50]".parse().unwrap();
    assert_eq!(
        (own.count(), own.label(1), own.label(7)),
        (8, "<=8p <=1.1x".to_owned(), ">8p >2.50x".to_owned())
    );
    assert_eq!(label(&own, 1_000_000, 1_100_000, 1), "<=8p <=1.1x");
    assert_eq!(label(&own, 1_000_000, 1_100_001, 9), ">8p <=2.50x");
    // Bounds of estimates always belong to the class below.
    let below: JobClasses = "cuts[run=10,estimates=2,bounds=exclusive]".parse().unwrap();
    assert_eq!(label(&below, 10_000_000, 20_000_000, 1), ">=10s <=2x");
}

#[test]
fn bounds_fall_where_the_papers_say() {
    let ks: JobClasses = "kettimuthu-16".parse().unwrap();
    assert_eq!(ks.count(), 16);
    let label = |secs, procs| ks.label(ks.index(of(&ks, Span::from_secs(secs), procs, 430)));
    assert_eq!(label(600, 1), "VS Seq");
    assert_eq!(label(601, 8), "S N");
    assert_eq!(label(28_801, 33), "VL VW");
    let kv: JobClasses = "kanavallil".parse().unwrap();
    let label = |secs, procs| kv.label(kv.index(of(&kv, Span::from_secs(secs), procs, 128)));
    assert_eq!(label(599, 12), "short narrow");
    assert_eq!(label(600, 13), "medium medium");
    assert_eq!(label(10_800, 65), "long wide");
}

#[test]
fn own_cuts_fall_where_they_say() {
    let cuts: JobClasses = JobClasses::EXAMPLE.parse().unwrap();
    assert_eq!(cuts.count(), 16);
    assert_eq!(cuts.name(), JobClasses::EXAMPLE);
    let presets: JobClasses = "kettimuthu-16".parse().unwrap();
    for (secs, procs) in [(600, 1), (601, 8), (28_801, 33), (28_800, 32), (0, 9)] {
        let run = Span::from_secs(secs);
        assert_eq!(of(&cuts, run, procs, 430), of(&presets, run, procs, 430));
    }
    assert_eq!(cuts.label(0), "<=10min <=1p");
    assert_eq!(cuts.label(15), ">8h >32p");
    let named: JobClasses = "cuts[run=1 h,run-names=short/long]".parse().unwrap();
    assert_eq!((named.count(), named.label(0), named.label(1)), (2, "short".to_owned(), "long".to_owned()));
    let shares: JobClasses = "cuts[size=10%/50%,size-names=narrow/medium/wide]".parse().unwrap();
    assert_eq!(shares.label(shares.index(of(&shares, Span::ZERO, 13, 128))), "medium");
    let below: JobClasses = "cuts[run=10 min,bounds=exclusive]".parse().unwrap();
    assert_eq!(below.label(below.index(of(&below, Span::from_secs(600), 1, 1))), ">=10min");
    // Bounds of sizes always belong to the class below; a bare number means seconds.
    let below: JobClasses = "cuts[run=10,size=8,bounds=exclusive]".parse().unwrap();
    assert_eq!(below.label(below.index(of(&below, Span::from_secs(10), 8, 16))), ">=10s <=8p");
}

#[test]
fn cuts_that_make_no_classes_are_refused() {
    let said = |written: &str| written.parse::<JobClasses>().unwrap_err().to_string();
    assert_eq!(said("cuts"), "`cuts`: bounds are missing; give `run`, `size` or `estimates`, or several");
    assert_eq!(said("cuts[run=1 h/10 min]"), "`cuts[run=1 h/10 min]`: the bounds of `run` must rise");
    assert_eq!(
        said("cuts[size=1/8,size-names=a/b]"),
        "`cuts[size=1/8,size-names=a/b]`: 2 names for 3 classes: one more than there are bounds"
    );
    assert!(said("cuts[runs=1 h]").contains("did you mean `run`?"), "{}", said("cuts[runs=1 h]"));
    assert!(said("cuts[size=many]").contains("`many` is not a size"), "{}", said("cuts[size=many]"));
    assert!(said("cuts[size=0]").ends_with("no job is as small as `0`: the class would be empty"));
    assert!(said("cuts[size=0%]").ends_with("no job is as small as `0%`: the class would be empty"));
    assert!(said("cuts[size=200%]").ends_with("`200%` is more than a machine has"));
    assert!(said("cuts[run=1 h,run-names=a/a]").ends_with("`run-names` has `a` twice"));
    assert!(said("cuts[size=1/8,size-names=a/b/a]").ends_with("`size-names` has `a` twice"));
    assert!(said("cuts[estimates=2,estimate-names=a/a]").ends_with("`estimate-names` has `a` twice"));
    assert!(said("cuts[estimates=2/1.5]").ends_with("the bounds of `estimates` must rise"));
    assert!(said("cuts[estimates=1.5/1.50]").ends_with("the bounds of `estimates` must rise"));
    assert!(
        said("cuts[estimates=0.0]")
            .ends_with("no estimate is as short as `0.0` run times: the class would be empty")
    );
    assert!(said("cuts[estimates=1.0000001]").ends_with("`1.0000001` has more than 6 decimals"));
    for wrong in ["-1", "two", "2/", "1.", ".5", "1e3", "20000000000000000000"] {
        let said = said(&format!("cuts[estimates={wrong}]"));
        assert!(said.contains("is not a bound of estimates; write how many run times"), "{wrong}: {said}");
    }
    assert!(said("cuts[estimate=2]").contains("did you mean `estimates`?"), "{}", said("cuts[estimate=2]"));
}

#[test]
fn a_near_miss_is_named() {
    let error = "kettimutu-16".parse::<JobClasses>().unwrap_err();
    assert!(error.to_string().contains("did you mean `kettimuthu-16`"), "{error}");
}
