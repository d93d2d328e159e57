//! What README prints is what there is: the source of `examples/outside`, and the output of the quickstart.

use std::fs;

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
    assert!(shown.len() > 40 && shown.iter().any(|line| line.starts_with("fingerprint")), "{shown:?}");
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
