use std::fs;

use super::*;
use crate::grid::Policies;
use crate::study::claims::Verdict;

const MODEL: &str = "\
measures = [\"mean_wait\", \"site.*.mean_wait\"]
seeds = 3

[scenario]
[[scenario.site]]
name = \"here\"
machines = [{ class = \"node\", count = 8 }]
workload = { lublin = { jobs = 60, load = 0.2 } }

[[axis]]
key = \"site.here.policy\"
values = [\"fcfs\", \"easy\"]
";

/// A claim at line 2 and a figure at line 10.
const CLAIMS: &str = "\
title = \"A paper\"
[[claim]]
id = \"c\"
source = \"Table 1\"
says = \"so\"
campaign = \"model.toml\"
measure = \"mean_wait\"
not_comparable = \"of another machine\"

[[figure]]
campaign = \"model.toml\"
measure = \"site.here.mean_wait\"
along = \"policy\"
caption = \"Waits.\"
";

/// The error and the hint for these claims on this campaign, before anything is run.
fn said(claims: &str, campaign: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("claims.toml"), claims).unwrap();
    fs::write(folder.path().join("model.toml"), campaign).unwrap();
    let options =
        ReproduceOptions { store: folder.path().join("store"), threads: Some(1), control: Control::new() };
    let ran = reproduce(folder.path(), &options, &Policies::standard(), |_, _| Err(RunError::run("it runs")));
    let error = ran.err().unwrap_or_else(|| RunError::run("nothing is wrong"));
    let text = error.to_string();
    let after = text.split_once("claims.toml:").map_or(text.as_str(), |(_, after)| after);
    (after.to_owned(), error.hint().unwrap_or_default().to_owned())
}

#[test]
fn measures_are_looked_at_before_anything_is_run() {
    assert_eq!(said(CLAIMS, MODEL).0, "it runs");
    let wrong = CLAIMS.replacen("\"mean_wait\"", "\"mean_wiat\"", 1);
    let expected = (
        "2: claim `c`: the campaign does not measure `mean_wiat`".to_owned(),
        "did you mean `mean_wait`? If not, add `mean_wiat` to the `measures` of model.toml".to_owned(),
    );
    assert_eq!(said(&wrong, MODEL), expected);
    // The error comes also where the log is missing, so that nothing would be run here.
    let logged =
        MODEL.replace("{ lublin = { jobs = 60, load = 0.2 } }", "{ log = \"archive:no-such-log.swf\" }");
    assert_eq!(said(CLAIMS, &logged).0, "nothing is wrong");
    assert_eq!(said(&wrong, &logged), expected);
}

#[test]
fn figures_are_looked_at_before_anything_is_run() {
    let figure = |from: &str, to: &str| {
        let at = CLAIMS.find("[[figure]]").unwrap();
        said(&format!("{}{}", &CLAIMS[..at], CLAIMS[at..].replace(from, to)), MODEL)
    };
    assert_eq!(
        figure("here.mean_wait", "here.mean_wiat").0,
        "10: a figure: the campaign does not measure `site.here.mean_wiat`"
    );
    assert_eq!(
        figure("\"policy\"", "\"polcy\""),
        (
            "10: a figure: the campaign has no axis `polcy`; its axes are policy".to_owned(),
            "did you mean `policy`?".to_owned()
        )
    );
    assert_eq!(
        figure("model.toml", "modell.toml"),
        ("10: no claim names the campaign `modell.toml`".to_owned(), "did you mean `model.toml`?".to_owned())
    );
    assert_eq!(
        figure("caption", "by = \"load\"\ncaption").0,
        "10: a figure: the campaign has no axis `load`; its axes are policy"
    );
    // The labels to draw are checked like those of a claim.
    let of = |of: &str| figure("caption", &format!("of = {of}\ncaption"));
    assert_eq!(of("{ policy = [\"easy\", \"fcfs\"] }").0, "it runs");
    let (said_so, hint) = of("{ polcy = \"easy\" }");
    assert_eq!(said_so, "10: a figure: the campaign has no axis `polcy`; its axes are policy");
    assert_eq!(hint, "did you mean `policy`?");
    let (said_so, hint) = of("{ policy = [\"easy\", \"fcsf\"] }");
    assert_eq!(said_so, "10: a figure: axis `policy` has no `fcsf`; it has fcfs, easy");
    assert_eq!(hint, "did you mean `fcfs`?");
    assert_eq!(of("{ policy = [] }").0, "10: a figure: `of` names no label of axis `policy`");
}

/// A claim on a greatest gain at line 2; the text after it begins at line 14.
const GAIN: &str = "\
title = \"A paper\"
[[claim]]
id = \"gain-easy\"
source = \"Table 4\"
says = \"so\"
campaign = \"model.toml\"
measure = \"mean_wait\"
of = { policy = \"easy\" }
than = { policy = \"fcfs\" }
relation = \"gains-up-to\"
by = \"30 %\"
along = \"load\"

";

#[test]
fn a_figure_of_gains_is_of_claims_on_greatest_gains() {
    let campaign = format!(
        "{MODEL}[[axis]]\nname = \"load\"\nkey = \"site.here.workload.lublin.load\"\nvalues = [0.2, 0.3]\n"
    );
    let below = "[[claim]]\nid = \"other\"\nsource = \"x\"\nsays = \"so\"\nnot_comparable = \"it is\"\n";
    let figure = |keys: &str| said(&format!("{GAIN}[[figure]]\n{keys}\n{below}"), &campaign);
    assert_eq!(figure("kind = \"gains\"\nclaims = \"gain-*\"\ncaption = \"c\"").0, "it runs");
    let labelled = "labels = { gain-easy = \"wait\" }";
    let gains = |more: &str| figure(&format!("kind = \"gains\"\n{more}\ncaption = \"c\""));
    assert_eq!(gains(&format!("claims = [\"gain-easy\"]\n{labelled}")).0, "it runs");
    let refused = |more: &str, says: &str, hints: &str| {
        let (said_so, hint) = gains(more);
        assert_eq!((said_so.as_str(), hint.as_str()), (format!("14: a figure: {says}").as_str(), hints));
    };
    refused("claims = \"gain-eazy\"", "there is no claim `gain-eazy`", "did you mean `gain-easy`?");
    let only = "a figure of gains is of claims with `relation = \"gains-up-to\"`";
    refused("claims = \"table-*\"", "there is no claim `table-*`", only);
    refused("claims = [\"gain-easy\", \"other\"]", "claim `other` is not on a greatest gain", only);
    refused("claims = []", "`claims` names none", only);
    refused("", "it has no `claims`", "docs/papers.md says what a figure is made of");
    refused(
        "claims = \"gain-*\"\nlabels = { gain-esay = \"x\" }",
        "`labels` names `gain-esay`, which is not in it",
        "did you mean `gain-easy`?",
    );
    refused(
        "claims = \"gain-*\"\nalong = \"load\"",
        "`along` is not of `kind = \"gains\"`",
        "leave it out, or write `kind = \"curves\"`",
    );
    assert_eq!(
        figure("kind = \"gain\"\ncaption = \"c\""),
        ("14: a figure: there is no kind `gain`".to_owned(), "did you mean `gains`?".to_owned())
    );
    let curves = "campaign = \"model.toml\"\nmeasure = \"mean_wait\"\ncaption = \"c\"";
    assert_eq!(figure(curves).0, "14: a figure: it has no `along`");
    assert_eq!(
        figure(&format!("{curves}\nalong = \"load\"\nclaims = \"gain-*\"")).1,
        "leave it out, or write `kind = \"gains\"`"
    );
}

#[test]
fn a_pareto_figure_has_two_measures_and_axes_to_choose_among() {
    let at = CLAIMS.find("[[figure]]").unwrap();
    let figure = |keys: &str| {
        let head = "[[figure]]\nkind = \"pareto\"\ncampaign = \"model.toml\"\ncaption = \"c\"\n";
        said(&format!("{}{head}{keys}\n", &CLAIMS[..at]), MODEL)
    };
    let measures = "measures = [\"mean_wait\", \"site.here.mean_wait\"]\n";
    let with = |keys: &str| figure(&format!("{measures}{keys}"));
    assert_eq!(with("among = \"policy\"").0, "it runs");
    assert_eq!(with("among = [\"policy\"]\nthan = { policy = \"fcfs\" }").0, "it runs");
    assert_eq!(with("").0, "10: a figure: it has no `among`");
    assert_eq!(figure("among = \"policy\"").0, "10: a figure: it has no `measures`");
    assert_eq!(with("among = \"polcy\"").1, "did you mean `policy`?");
    let one = figure("among = \"policy\"\nmeasures = [\"mean_wait\"]");
    assert_eq!(one.0, "10: a figure: `measures` has the two that are drawn against each other");
    let unknown = figure("among = \"policy\"\nmeasures = [\"mean_wait\", \"makespan\"]");
    assert_eq!(unknown.0, "10: a figure: the campaign does not measure `makespan`");
    assert_eq!(with("among = \"policy\"\nthan = { load = 1 }").0, "10: a figure: `than` is not one point");
    let label = with("among = \"policy\"\nthan = { policy = \"fcsf\" }");
    assert_eq!(label.0, "10: a figure: axis `policy` has no `fcsf`; it has fcfs, easy");
    assert_eq!(
        with("among = \"policy\"\nalong = \"policy\""),
        (
            "10: a figure: `along` is not of `kind = \"pareto\"`".to_owned(),
            "leave it out, or write `kind = \"curves\"`".to_owned()
        )
    );
}

#[test]
fn a_heat_map_is_of_one_measure_of_each_class() {
    let at = CLAIMS.find("[[figure]]").unwrap();
    let classed = MODEL
        .replace("measures = [", "measures = [\"class.*.mean_wait\", ")
        .replace("[scenario]", "[scenario]\nclasses = \"kettimuthu-32\"");
    let on = |campaign: &str, keys: &str| {
        let head = "[[figure]]\nkind = \"heat-map\"\ncampaign = \"model.toml\"\ncaption = \"c\"\n";
        said(&format!("{}{head}{keys}\n", &CLAIMS[..at]), campaign)
    };
    let figure = |keys: &str| on(&classed, keys);
    let waits = "measure = \"class.*.mean_wait\"\nby = \"policy\"\n";
    assert_eq!(figure(waits).0, "it runs");
    assert_eq!(
        figure(&format!("{waits}than = {{ policy = \"fcfs\" }}\nof = {{ policy = \"easy\" }}")).0,
        "it runs"
    );
    assert_eq!(figure("measure = \"class.*.mean_wait\"").0, "10: a figure: it has no `by`");
    for measure in ["mean_wait", "class.vs_n.mean_wait", "class.*.", "class.*.*"] {
        let (said_so, hint) = figure(&waits.replace("class.*.mean_wait", measure));
        assert_eq!(said_so, format!("10: a figure: `{measure}` is not one measure of each class"));
        assert_eq!(hint, "such as `measure = \"class.*.mean_bounded_slowdown\"`");
    }
    let other = figure(&waits.replace("mean_wait", "max_wait"));
    assert_eq!(other.0, "10: a figure: the campaign does not measure `class.*.max_wait`");
    let label = figure(&format!("{waits}than = {{ policy = \"fcsf\" }}"));
    assert_eq!(label.0, "10: a figure: axis `policy` has no `fcsf`; it has fcfs, easy");
    let two = figure(&format!("{waits}than = {{ policy = [\"fcfs\", \"easy\"] }}"));
    assert_eq!(two.0, "10: a figure: `than` is not one point");
    // Without classes there is no such measure; where they differ the tables do, too.
    let (said_so, hint) = on(&MODEL.replace("measures = [", "measures = [\"*\", "), waits);
    assert_eq!(said_so, "10: a figure: the jobs of model.toml are not divided into classes");
    assert!(hint.starts_with("set `classes` in its scenario"), "{hint}");
    let axis = "\n[[axis]]\nkey = \"classes\"\nvalues = [\"kettimuthu-4\", \"kettimuthu-16\"]\n";
    let differ = on(&(classed.replace("classes = \"kettimuthu-32\"", "") + axis), waits);
    assert_eq!(differ.0, "10: a figure: the runs of model.toml have different job classes");
}

#[test]
fn figures_have_files_of_their_own() {
    let at = CLAIMS.find("[[figure]]").unwrap();
    let two = |name: &str, other: &str| {
        let (first, second) = (&CLAIMS[at..], format!("{}{other}\n", &CLAIMS[at..]));
        said(&format!("{}{first}{name}\n{second}", &CLAIMS[..at]), MODEL)
    };
    let (said_so, hint) = two("", "of = { policy = \"easy\" }");
    assert_eq!(
        said_so,
        "16: a figure: its file would be `model-site.here.mean-wait`, as that of the figure at line 10"
    );
    assert_eq!(hint, "give it another name: `name = \"...\"`");
    assert_eq!(two("", "name = \"easy-alone\"").0, "it runs");
    assert_eq!(two("name = \"x\"", "").0, "it runs");
    assert_eq!(
        two("name = \"x\"", "name = \"X\"").0,
        "16: a figure: its file would be `X`, as that of the figure at line 10"
    );
    let (said_so, hint) = two("", "name = \"../x\"");
    assert_eq!(said_so, "16: a figure: `name = \"../x\"` is not a file name");
    assert_eq!(hint, "letters, digits, `-`, `_` and `.` may be in it");
}

#[test]
fn a_measure_that_the_campaign_leaves_out_is_to_be_added() {
    let other = CLAIMS.replacen("\"mean_wait\"", "\"utilization\"", 1);
    let (said_so, hint) = said(&other, MODEL);
    assert_eq!(said_so, "2: claim `c`: the campaign does not measure `utilization`");
    assert!(hint.ends_with("add `utilization` to the `measures` of model.toml"), "{hint}");
    // A campaign that names no measures has the default ones.
    let none = MODEL.replace("measures = [\"mean_wait\", \"site.*.mean_wait\"]\n", "");
    let figure = CLAIMS.replace("site.here.mean_wait", "makespan");
    assert_eq!(said(&figure, &none).0, "it runs");
    assert_eq!(said(CLAIMS, &none).0, "10: a figure: the campaign does not measure `site.here.mean_wait`");
}

#[test]
fn what_draws_nothing_is_the_same_with_every_seed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("jobs.swf"), "1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n").unwrap();
    let drawn = |workload: &str, more: &str| {
        let text = MODEL
            .replace("{ lublin = { jobs = 60, load = 0.2 } }", workload)
            .replace("[[axis]]", &format!("{more}\n[[axis]]"));
        let file = folder.path().join("c.toml");
        fs::write(&file, text).unwrap();
        let campaign = Campaign::load(&file, &[], &Policies::standard()).unwrap();
        campaign.runs().iter().map(|run| run.drawn).collect::<Vec<_>>()
    };
    assert_eq!(drawn("{ log = \"jobs.swf\" }", ""), [false; 6]);
    assert_eq!(drawn("{ log = \"jobs.swf\", estimates = \"exact\" }", ""), [false; 6]);
    assert_eq!(drawn("{ log = \"jobs.swf\", estimates = \"tsafrir\" }", ""), [true; 6]);
    let churn = "churn = { up = \"exponential[mean=2 d]\", down = \"exponential[mean=1 h]\", on_failure = \"requeue\" }";
    assert_eq!(drawn("{ log = \"jobs.swf\" }", churn), [true; 6]);
    assert_eq!(drawn("{ lublin = { jobs = 60, load = 0.2 } }", ""), [true; 6]);
    // A generator with a seed of its own gives the same jobs in every run; estimates are drawn from the seed of the run.
    assert_eq!(drawn("{ lublin = { jobs = 60, load = 0.2, seed = 7 } }", ""), [false; 6]);
    let estimated = "{ lublin = { jobs = 60, load = 0.2, seed = 7 }, estimates = \"tsafrir\" }";
    assert_eq!(drawn(estimated, ""), [true; 6]);
    // A broker is random only if its policy draws.
    let broker = |policy: &str| {
        let portal = "[[scenario.workload]]\nlog = \"jobs.swf\"\n";
        drawn("{ log = \"jobs.swf\" }", &format!("[scenario.broker]\npolicy = \"{policy}\"\n{portal}"))
    };
    assert_eq!(broker("mct"), [false; 6]);
    assert_eq!(broker("random"), [true; 6]);
    // Each run is examined by itself.
    let axis = "[[axis]]\nkey = \"site.here.workload.estimates\"\nvalues = [\"exact\", \"tsafrir\"]\n";
    let some = drawn("{ log = \"jobs.swf\" }", axis);
    assert_eq!((some.len(), some.iter().filter(|drawn| **drawn).count()), (12, 6));
}

/// Verdict and reason of each claim on this campaign, once it has run.
fn judged(claims: &str, campaign: &str) -> Vec<(Verdict, String)> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("claims.toml"), claims).unwrap();
    fs::write(folder.path().join("c.toml"), campaign).unwrap();
    // Two jobs that do not fit together, and a third that fits beside the first if its estimate allows it.
    let jobs = [(1, 0, 100, 6, 100), (2, 1, 50, 6, 50), (3, 2, 90, 2, 4_000)];
    let line = |(job, submit, run, procs, estimate): (u32, u32, u32, u32, u32)| {
        format!("{job} {submit} -1 {run} {procs} -1 -1 {procs} {estimate} -1 1 1 1 1 1 1 -1 -1\n")
    };
    fs::write(folder.path().join("jobs.swf"), jobs.map(line).concat()).unwrap();
    let options =
        ReproduceOptions { store: folder.path().join("store"), threads: Some(1), control: Control::new() };
    let ran = reproduce(folder.path(), &options, &Policies::standard(), |campaign, options| {
        campaign.run(options, &crate::experiment::Progress::default())
    });
    let claims = ran.unwrap().claims;
    claims.into_iter().map(|(_, judged)| (judged.verdict, judged.reason)).collect()
}

#[test]
fn a_claim_is_judged_by_the_runs_that_it_is_about() {
    let claim = |id: &str, of: &str, more: &str| {
        format!(
            "[[claim]]\nid = \"{id}\"\nsource = \"Table 1\"\nsays = \"so\"\ncampaign = \"c.toml\"\nmeasure = \"mean_wait\"\nof = {of}\n{more}\n"
        )
    };
    let logged = MODEL
        .replace("{ lublin = { jobs = 60, load = 0.2 } }", "{ log = \"jobs.swf\" }")
        .replace("count = 8", "count = 8, cores = 1");
    let axis = "[[axis]]\nname = \"estimates\"\nkey = \"site.here.workload.estimates\"\nvalues = [\"exact\", \"tsafrir\"]\n";
    // FCFS: jobs 1, 2 and 3 start at 0, 100 and 100 s; they wait 0, 99 and 98 s.
    let number = claim(
        "number",
        "{ policy = \"fcfs\", estimates = \"exact\" }",
        &format!("published = {}\ntolerance = 1e-9", (99.0 + 98.0) / 3.0),
    );
    let order = |estimates: &str| {
        claim(
            estimates,
            &format!("{{ policy = \"easy\", estimates = \"{estimates}\" }}"),
            "than = { policy = \"fcfs\" }\nrelation = \"below\"",
        )
    };
    let claims = format!("title = \"A paper\"\n{number}{}", order("exact"));
    let expected = [
        (Verdict::Holds, String::new()),
        // The axis of estimates draws in other runs, so no jobs are kept, and there are no weeks.
        (Verdict::Undecided, "one log, one run; missing: an interval; it is so in this run".to_owned()),
    ];
    // Beside drawn runs, with several seeds and with one.
    assert_eq!(judged(&claims, &format!("{logged}{axis}")), expected);
    assert_eq!(judged(&claims, &format!("{logged}{axis}").replace("seeds = 3", "seeds = 1")), expected);
    // Copies of one run under a broker that draws nothing, and of a generator with a seed of its own.
    let order = claim("order", "{ policy = \"easy\" }", "than = { policy = \"fcfs\" }\nrelation = \"below\"");
    let claims = format!("title = \"A paper\"\n{order}");
    let brokered = "[scenario.broker]\npolicy = \"mct\"\n[[scenario.workload]]\nlog = \"jobs.swf\"\n[[axis]]";
    let own = MODEL.replace("load = 0.2", "load = 0.9, seed = 7");
    for campaign in [logged.replacen("[[axis]]", brokered, 1), own.clone()] {
        for seeds in ["seeds = 1", "seeds = 30"] {
            let judged = judged(&claims, &campaign.replace("seeds = 3", seeds));
            assert_eq!(judged[0].0, Verdict::Undecided);
            // Its jobs are there, and they are of one week.
            assert_eq!(judged[0].1, "1 week, and a verdict needs 30");
        }
    }
    // Without that seed it is a sample, and three are too few.
    let drawn = judged(&claims, &own.replace(", seed = 7", ""));
    assert_eq!(drawn, [(Verdict::Undecided, "3 seeds, and a verdict needs 30".to_owned())]);
}
