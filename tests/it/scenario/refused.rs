//! What is wrong is told with file, line and key, and with what would be right.

use std::fmt::Write;
use std::path::Path;

use super::{FOLDER, files, load};

/// One tiny file a mistake, named for it. The messages are in the snapshot.
#[test]
fn mistakes_are_told_with_their_place() {
    let root = std::env::current_dir().unwrap().display().to_string();
    let folder = format!("{FOLDER}/bad");
    let mut told = String::new();
    for file in files(&folder) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let error = match load(&file, &[]) {
            Err(error) => error,
            Ok(scenario) => panic!("`{name}` is {}", scenario.line()),
        };
        for problem in &error.0 {
            assert!(problem.place.contains(", line "), "`{name}` has no line: {problem}");
        }
        let text = error.to_string().replace(&format!("{folder}/"), "").replace(&root, "[ROOT]");
        // A new policy is no new message.
        let text: Vec<&str> = text.lines().map(without_policies).collect();
        let _ = writeln!(told, "{name}\n{}\n", text.join("\n"));
    }
    insta::assert_snapshot!(told);
}

fn without_policies(line: &str) -> &str {
    match line.split_once(" policy `") {
        Some((_, rest)) => {
            line.split_once("; there are ").filter(|_| !rest.is_empty()).map_or(line, |(line, _)| line)
        }
        None => line,
    }
}

#[test]
fn a_file_that_is_not_there() {
    let error = load(Path::new("configs/quickstrat.toml"), &[]).unwrap_err().to_string();
    assert!(error.starts_with("cannot read `configs/quickstrat.toml`: "), "{error}");
    assert!(error.ends_with("hint: give a scenario file, such as `configs/quickstart.toml`"), "{error}");
    let error = load(Path::new("configs"), &[]).unwrap_err().to_string();
    assert!(error.starts_with("cannot read `configs`: "), "{error}");
}

/// No text makes the reader panic, whatever stands where.
#[test]
fn spoilt_scenarios_are_errors() {
    let whole = std::fs::read_to_string("configs/quickstart.toml").unwrap();
    let file = Path::new("configs/quickstart.toml");
    let policies = gridemu::grid::Policies::standard();
    let mut refused = 0;
    // A byte turned into another, at every place but in comments.
    for at in (0..whole.len()).step_by(3) {
        for with in ["9", "\"", "-", "]", "\u{0}", "="] {
            if !whole.is_char_boundary(at) || !whole.is_char_boundary(at + 1) {
                continue;
            }
            let spoilt = format!("{}{with}{}", &whole[..at], &whole[at + 1..]);
            let read = gridemu::scenario::Scenario::read(file, &spoilt, &[], &policies);
            refused += u32::from(read.is_err());
        }
    }
    assert!(refused > 1_000, "{refused}");
}
