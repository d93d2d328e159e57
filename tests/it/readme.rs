//! What README prints is what there is: the source of `examples/outside`, and the output of the quickstart and of a replay. The files
//! that ARCHITECTURE.md names exist.

mod commands;

use std::fs;
use std::path::Path;

use crate::cli::gridemu;

fn read(path: &str) -> String {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_policy_of_the_readme_is_the_one_that_is_built() {
    let readme = read("README.md");
    for file in ["smallest_first.rs", "main.rs"] {
        let source = read(&format!("examples/outside/src/{file}"));
        let printed = format!("```rust\n{source}```\n");
        assert!(readme.contains(&printed), "README does not print examples/outside/src/{file} as it is");
    }
}

#[test]
fn the_quickstart_prints_what_the_readme_shows() {
    let readme = read("README.md");
    let block = readme.lines().skip_while(|line| !line.starts_with("    quickstart: "));
    let shown: Vec<&str> =
        block.take_while(|line| line.is_empty() || line.starts_with("    ")).map(str::trim_start).collect();
    assert!(shown.len() > 15 && shown.iter().any(|line| line.starts_with("fingerprint")), "{shown:?}");
    let printed = gridemu(&["run", "configs/quickstart.toml"]).out;
    let mut printed = printed.lines().map(str::trim_start);
    // Blocks follow each other in the order of the output; `...` stands for what is left out between them.
    for block in shown.split(|line| *line == "...") {
        let mut lines = block.iter().filter(|line| !line.is_empty());
        let Some(first) = lines.next() else { continue };
        assert!(printed.any(|line| line == *first), "the quickstart does not print\n{first}");
        let mut printed = printed.by_ref().filter(|line| !line.is_empty());
        for line in lines {
            assert_eq!(printed.next(), Some(*line));
        }
    }
}

#[test]
fn the_files_that_the_architecture_names_exist() {
    let page = read("ARCHITECTURE.md");
    let named = page.split(|c: char| !(c.is_ascii_alphanumeric() || "/._-".contains(c)));
    let named: Vec<&str> =
        named.filter(|name| [".rs", ".toml", ".md"].iter().any(|end| name.ends_with(end))).collect();
    assert!(named.len() > 30, "{named:?}");
    let exists = |name: &str| {
        ["", "src", "tests/it"]
            .iter()
            .any(|base| Path::new(env!("CARGO_MANIFEST_DIR")).join(base).join(name).is_file())
    };
    let missing: Vec<&&str> = named.iter().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names files that do not exist: {missing:?}");
}

/// The replay of the README prints its table, up to the times of the last column.
#[test]
fn the_replay_prints_what_the_readme_shows() {
    let readme = read("README.md");
    let start = |line: &&str| line.starts_with("     policy ");
    let shown = readme.lines().skip_while(|line| !start(line));
    let shown: Vec<&str> = shown.take_while(|line| line.is_empty() || line.starts_with("    ")).collect();
    let args =
        ["lublin[jobs=10000,load=0.8]", "--policy", "fcfs", "--policy", "easy", "--policy", "conservative"];
    let command = format!("    gridemu replay '{}' {}\n", args[0], args[1..].join(" "));
    assert!(readme.contains(&command), "README does not show `{command}`");
    let printed = gridemu(&[&["replay"], &args[..]].concat()).out;
    let untimed = |line: &str| {
        let line = line.trim_start();
        let timed = line.rsplit_once(' ').filter(|(_, last)| last.parse::<f64>().is_ok());
        timed.map_or(line, |(rest, _)| rest.trim_end()).to_owned()
    };
    let printed: Vec<String> =
        printed.lines().skip_while(|line| !start(&&*format!("    {line}"))).map(untimed).collect();
    let shown: Vec<String> = shown.into_iter().map(untimed).collect();
    let shown = &shown[..shown.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1)];
    assert_eq!(printed, shown);
}
