//! The policy that README prints is the source of `examples/outside`.

use std::fs;

#[test]
fn the_policy_of_the_readme_is_the_one_that_is_built() {
    let read = |path: &str| {
        let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let readme = read("README.md");
    for file in ["smallest_first.rs", "main.rs"] {
        let source = read(&format!("examples/outside/src/{file}"));
        let printed = format!("```rust\n{source}```\n");
        assert!(readme.contains(&printed), "README does not print examples/outside/src/{file} as it is");
    }
}
