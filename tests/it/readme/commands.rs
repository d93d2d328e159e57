//! Every command of README runs as it is printed.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::read;

/// What README leaves to the reader, and what stands for it here.
const STANDS_FOR: [(&str, &str); 9] = [
    // In a grid three jobs have that number, and the error says how to name one.
    ("explain DIR", "explain results/easy"),
    // Only a run with workflows has one to be written.
    ("export DIR", "export workflows"),
    ("CAMPAIGN.toml", "small.toml"),
    ("A B", "results/easy results/easy-order=sjf"),
    ("FILE", "configs/quickstart.toml"),
    ("STORE", "store"),
    ("DIR", "grid"),
    // As many jobs, runs or claims would take minutes; the studies have a test of their own.
    ("jobs=1000000", "jobs=1000"),
    ("configs/campaigns/backfilling.toml", "configs/campaigns/backfilling.toml --list"),
];

/// Too long for a test, beginning with these words. The studies are run, with fewer jobs and seeds, by another test.
const LONG: [&str; 5] = [
    "gridemu compare configs/studies/",
    "gridemu report brokers-under-churn.campaign",
    "gridemu report energy-cost-wait.campaign",
    "gridemu reproduce configs/papers/",
    "gridemu reproduce configs/studies/",
];

/// The commands on lines of their own, and those in cells and sentences.
fn commands(readme: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in readme.lines() {
        let line = line.trim();
        if line.starts_with("gridemu ") && !line.starts_with("gridemu emulates") {
            found.push(line.to_owned());
        } else {
            // The name of a command alone is no command, unless it needs nothing.
            let whole = |span: &&str| {
                let words: Vec<&str> = span.split(' ').collect();
                words[0] == "gridemu" && (words.len() > 2 || matches!(words[1..], ["policies" | "sites"]))
            };
            found.extend(spans(line).filter(whole).map(str::to_owned));
        }
    }
    found
}

/// What stands in backticks.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The options of a table of README, which begins with this row.
fn options(readme: &str, head: &str) -> Vec<String> {
    let rows = readme.lines().skip_while(|line| *line != head).take_while(|line| line.starts_with('|'));
    let options = rows.flat_map(spans).filter(|span| span.starts_with("--"));
    options.map(str::to_owned).collect()
}

/// A shell in a folder that has what a user's clone has, and the command on its path.
fn shell(folder: &Path, line: &str) {
    let bin = Path::new(assert_cmd::cargo::cargo_bin!("gridemu")).parent().unwrap();
    let script = format!("PATH=\"{}:$PATH\"; {line}", bin.display());
    let done = Command::new("sh").args(["-c", &script]).current_dir(folder).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "`{line}`: {}\n{out}\n{err}", done.status);
}

#[cfg(unix)]
#[test]
fn every_command_runs_as_it_is_printed() {
    let (readme, root) = (read("README.md"), Path::new(env!("CARGO_MANIFEST_DIR")));
    let folder = tempfile::tempdir().unwrap();
    for name in ["configs", "sites", "examples"] {
        std::os::unix::fs::symlink(root.join(name), folder.path().join(name)).unwrap();
    }
    let campaign = "scenario = 'configs/two-sites.toml'\nmeasures = ['mean_wait']\nseeds = 2\n[[axis]]\nkey = 'broker.policy'\nvalues = ['mct', 'random']\n";
    fs::write(folder.path().join("small.toml"), campaign).unwrap();
    let log = "KTH-SP2-1996-2.1-cln.swf.gz";
    shell(folder.path(), &format!("gridemu generate 'lublin[jobs=500,procs=100,load=0.7]' | gzip > {log}"));
    shell(folder.path(), "gridemu run configs/quickstart.toml --out grid --checkpoint store");
    let mut ran = 0;
    for printed in commands(&readme) {
        let lacks = printed.contains("python3") && !crate::programs::has("python3");
        if lacks || LONG.iter().any(|long| printed.starts_with(long)) {
            continue;
        }
        let line = STANDS_FOR.iter().fold(printed, |line, (word, stands)| line.replace(word, stands));
        shell(folder.path(), &line);
        ran += 1;
    }
    assert!(ran > 15, "{ran} commands");
    for option in options(&readme, "| goal | option |").iter().filter(|option| !option.starts_with("--out")) {
        shell(folder.path(), &format!("gridemu replay {log} --policy easy --out elsewhere {option}"));
    }
    let sets = options(&readme, "| goal | how |");
    let sets: Vec<&String> = sets.iter().filter(|option| option.starts_with("--set")).collect();
    assert!(sets.len() >= 2, "{sets:?}");
    sets.iter().for_each(|set| shell(folder.path(), &format!("gridemu check configs/quickstart.toml {set}")));
}
