//! Scenario files: rejected keys and their messages, `check --show` and reading it back, `--set`, the catalogue, and the pages
//! generated from the keys.

mod energy;
mod refused;
mod resolved;
mod set;

use std::fs;
use std::path::{Path, PathBuf};

use gridemu::grid::Policies;
use gridemu::scenario::{CATALOGUE, Override, Scenario, ScenarioError, schema_json};

const FOLDER: &str = "tests/it/scenarios";

fn load(file: &Path, sets: &[Override]) -> Result<Scenario, ScenarioError> {
    Scenario::load(file, sets, &Policies::standard())
}

/// Reads a scenario as if it stood in a file of the folder of good ones.
fn read(text: &str, sets: &[&str]) -> Result<Scenario, ScenarioError> {
    let sets: Vec<Override> = sets.iter().map(|set| Override::set(set)).collect();
    let file = Path::new(FOLDER).join("good/here.toml");
    Scenario::read(&file, text, &sets, &Policies::standard())
}

#[track_caller]
fn fine(text: &str, sets: &[&str]) -> Scenario {
    read(text, sets).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(text: &str, sets: &[&str]) -> String {
    match read(text, sets) {
        Ok(scenario) => panic!("this is fine: {}", scenario.line()),
        Err(error) => error.to_string(),
    }
}

/// The scenario files of a folder, in order of name.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    assert!(!files.is_empty(), "{folder} has no scenarios");
    files
}

/// Every scenario that comes with the program is fine; shown with all defaults it means the same, and shown again it is the same.
#[test]
fn what_is_shown_reads_back_as_the_same_scenario() {
    let everything = PathBuf::from(FOLDER).join("good/everything.toml");
    for file in files("configs").into_iter().chain([everything]) {
        let scenario = load(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
        // In another folder: nothing may depend on where it lies.
        let elsewhere = tempfile::tempdir().unwrap();
        let shown = elsewhere.path().join("shown.toml");
        fs::write(&shown, scenario.shown()).unwrap();
        let again = load(&shown, &[]).unwrap_or_else(|error| panic!("{error}\n{}", scenario.text));
        assert_eq!(again.resolved, scenario.resolved, "{}", file.display());
        assert_eq!((&again.text, again.hash), (&scenario.text, scenario.hash), "{}", file.display());
    }
}

#[test]
fn every_default_is_shown() {
    let scenario = load(&Path::new(FOLDER).join("good/everything.toml"), &[]).unwrap();
    let root = std::env::current_dir().unwrap().display().to_string();
    insta::assert_snapshot!("everything_shown", scenario.shown().replace(&root, "[ROOT]"));
    let plain = fine("[[site]]\nname = 'a'\nmachines = [{ class = 'node' }]\n\n[broker]\n", &[]);
    insta::assert_snapshot!("plain_shown", plain.shown());
}

/// The hash is of what is run, not of how it is written or where it lies.
#[test]
fn the_hash_follows_the_meaning() {
    let site = "[[site]]\nname = 'a'\nmachines = [{ class = 'node', count = 4 }]\n";
    let hash = |text: &str, sets: &[&str]| fine(text, sets).hash;
    let plain = hash(site, &[]);
    assert_eq!(hash(&format!("seed = 1 # the default\n{site}order = \"instant\"\n"), &[]), plain);
    for set in ["output.folder=somewhere", "engine=direct", "clock.pace=60", "name=other"] {
        assert_eq!(hash(site, &[set]), plain, "{set} changes no result");
    }
    assert_ne!(hash(site, &["seed=2"]), plain);
    assert_ne!(hash(site, &["site.a.machines.node.count=5"]), plain);
    let log = |folder: &Path| {
        fs::copy(Path::new(FOLDER).join("good/tiny.swf"), folder.join("tiny.swf")).unwrap();
        let file = folder.join("scenario.toml");
        fs::write(&file, format!("name = \"x\"\n{site}workload = \"tiny.swf\"\n")).unwrap();
        load(&file, &[]).unwrap().hash
    };
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(log(here.path()), log(there.path()), "a log is known by its name");
}

/// Every site file makes a site, is in the catalogue, says where its numbers come from, and is used under its path.
#[test]
fn the_catalogue_is_complete_and_loads() {
    let listed: Vec<PathBuf> = CATALOGUE.iter().map(|file| PathBuf::from(file.path)).collect();
    assert_eq!(listed, files("sites"), "`CATALOGUE` lists what is in `sites`, in order");
    for file in CATALOGUE {
        assert!(file.text.starts_with("# "), "{} does not say what it is", file.path);
        let scenario = fine(&format!("[[site]]\nuse = \"{}\"\n", file.path), &[]);
        let site = &scenario.resolved.grid.sites[0];
        assert!(site.check().is_ok() && !site.name.is_empty(), "{}", file.path);
    }
}

/// A site file beside the scenario comes before one of the catalogue.
#[test]
fn a_site_file_of_ones_own_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sites")).unwrap();
    fs::write(folder.path().join("sites/horus.toml"), "name = 'mine'\nmachines = [{ class = 'pc' }]\n")
        .unwrap();
    let file = folder.path().join("scenario.toml");
    fs::write(&file, "[[site]]\nuse = 'sites/horus.toml'\npue = 2\n").unwrap();
    let scenario = load(&file, &[]).unwrap();
    let site = &scenario.resolved.grid.sites[0];
    assert_eq!(
        (site.name.as_str(), site.partitions[0].name.as_str(), site.pue_ppm),
        ("mine", "pc", 2_000_000)
    );
}

#[expect(clippy::disallowed_methods, reason = "a test that is asked to write what it checks")]
fn blesses() -> bool {
    std::env::var_os("GRIDEMU_BLESS").is_some()
}

/// `GRIDEMU_BLESS=1 cargo test schema_is_fresh` writes it.
#[test]
fn the_schema_is_fresh() {
    let (path, schema) = ("configs/scenario.schema.json", schema_json(&Policies::standard()).unwrap());
    if blesses() {
        fs::write(path, &schema).unwrap();
    }
    assert!(
        fs::read_to_string(path).unwrap_or_default() == schema,
        "{path} is out of date: GRIDEMU_BLESS=1 cargo test schema_is_fresh"
    );
}
