//! Opens studies by their paths: the store of a campaign, its table, or a table of the user's own.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::campaign::{About, TABLE};
use crate::experiment::RunError;
use crate::output::files;
use crate::scenario::shell_word;
use crate::store::{ResultStore, StoreError, StoreOptions};
use crate::study::StudyTable;

/// True if `path` is a study: the store of a campaign, a folder with the table of one, or such a table.
pub fn is_study(path: &Path) -> bool {
    let path = place_of(path);
    if path.is_dir() {
        let is_run = path.join("summary.json").is_file();
        return !is_run && (ResultStore::is_at(path) || is_table(&path.join(TABLE)));
    }
    is_table(path)
}

/// True if `path` is the file of a campaign: a text that is TOML by its name.
pub fn is_campaign_file(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml") && path.is_file()
}

/// The store whose table is `path`, if the store confirms it; otherwise `path` itself.
fn place_of(path: &Path) -> &Path {
    let is_table = path.file_name().is_some_and(|name| name == TABLE) && !path.is_dir();
    let store = path.parent().filter(|_| is_table).map(|store| match store.as_os_str().is_empty() {
        true => Path::new("."),
        false => store,
    });
    store.filter(|store| About::read(store).is_some()).unwrap_or(path)
}

/// True if the first column of a file is that of every study.
fn is_table(path: &Path) -> bool {
    let mut first = String::new();
    let read = files::open(path).and_then(|file| BufReader::new(file).take(10).read_line(&mut first));
    read.is_ok() && first.starts_with("run,")
}

/// The table of the study at `path`.
///
/// # Errors
/// `RunErrorKind::Request` if its campaign is running or was killed, with the command that continues it, or if the table is incomplete.
pub fn read_study(path: &Path) -> Result<StudyTable, RunError> {
    let path = place_of(path);
    let file = if path.is_dir() { path.join(TABLE) } else { path.to_owned() };
    if path.is_dir() && ResultStore::is_at(path) {
        let about = About::read(path);
        if !file.is_file() || about.as_ref().is_some_and(|about| about.tabled.is_none()) {
            return Err(unfinished(path, about.as_ref()));
        }
    }
    let fail = |problem: String| {
        RunError::request(format!("`{}`: {problem}", file.display()))
            .with_hint("give the store of a campaign, or a complete table of `gridemu campaign`")
    };
    let open = files::open(&file).map_err(|error| fail(format!("cannot be read: {error}")))?;
    let table = StudyTable::read_csv(&name_of(&file), BufReader::new(open))
        .map_err(|error| fail(error.to_string()))?;
    let (baseline, dates) = About::read(path).map(|about| (about.baseline, about.dates)).unwrap_or_default();
    Ok(StudyTable { baseline, dates, ..table })
}

/// A warning about the study at `path` if not all of its runs are in its table.
pub fn study_note(path: &Path) -> Option<String> {
    let path = place_of(path);
    let about = About::read(path)?;
    let there = about.tabled.filter(|there| *there < about.runs)?;
    Some(format!("{}: {there} of {} runs are in its table; {}", about.what(), about.runs, about.go_on(path)))
}

/// The name of the study of a table: that of its campaign, of the store that contains it, or of the file.
fn name_of(file: &Path) -> String {
    let about = file.parent().filter(|_| file.ends_with(TABLE)).and_then(About::read);
    if let Some(about) = about {
        return about.name;
    }
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let store = file.parent().filter(|_| file.ends_with(TABLE)).map(absolute);
    store.and_then(|store| stem(&store)).or_else(|| stem(file)).unwrap_or_default()
}

/// The folder with its name: `.` has none.
fn absolute(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The error of a campaign that is not finished.
fn unfinished(path: &Path, about: Option<&About>) -> RunError {
    let store = match ResultStore::open(path, None, StoreOptions::PATIENCE) {
        Ok(store) => store,
        Err(error @ StoreError::InUse { .. }) => {
            return RunError::request(format!("the campaign is running: {error}")).with_hint(
                "wait for its end, or stop it (Ctrl-C), which writes a table of the finished runs",
            );
        }
        Err(error) => return super::campaign::refused(&error),
    };
    let there = store.keys().map_or(0, |keys| keys.len());
    let of = about.map(|about| format!(" of {} runs", about.runs)).unwrap_or_default();
    let table = if path.join(TABLE).is_file() { "its table is outdated" } else { "no table" };
    let problem = format!(
        "`{}` belongs to {}: it has {there} results{of}, and {table}",
        path.display(),
        about.map_or_else(|| "an unfinished campaign".to_owned(), About::what)
    );
    RunError::request(problem).with_hint(match about {
        Some(about) => about.go_on(path),
        None => {
            format!(
                "continue with `gridemu campaign FILE --store {}`",
                shell_word(&path.display().to_string())
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_is_told_from_a_run() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name);
        std::fs::create_dir(place("kth.campaign")).unwrap();
        assert!(!is_study(&place("kth.campaign")), "an empty folder");
        assert!(!is_study(&place("no_site")));
        let table = place("kth.campaign").join(TABLE);
        std::fs::write(&table, "run,policy,seed\n").unwrap();
        assert!(is_study(&place("kth.campaign")) && is_study(&table));
        assert_eq!(name_of(&table), "kth");
        assert_eq!(name_of(Path::new("mine.csv")), "mine");
        std::fs::write(place("jobs.csv"), "job,submit\n").unwrap();
        assert!(!is_study(&place("jobs.csv")));
        std::fs::write(place("kth.campaign").join("summary.json"), "{}").unwrap();
        assert!(!is_study(&place("kth.campaign")), "a run that has left a table of its own there");
    }
}
