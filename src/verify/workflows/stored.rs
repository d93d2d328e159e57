//! The check of the space of storages.
//!
//! At a place a file takes its space from when a copy to it begins, or a task there that writes it has ended, until the last task that reads it has
//! ended, or it has come home as a result. At home results take none. A copy begins only if there is space for it; what tasks write is stored in any case.

use std::collections::BTreeMap;

use super::data::{Copied, Files};
use super::paths::Paths;
use super::{Submitted, Workflows, violation};
use crate::model::{Outcome, TransferOutcome};
use crate::units::{Bytes, Time};
use crate::verify::findings::{Row, Rule, Verdict};

/// The space of a file at a place.
#[derive(Clone, Copy, Debug)]
struct Space<'a> {
    from: Time,
    to: Time,
    bytes: u64,
    /// The copy that took it, unless a task or a workflow did.
    by: Option<&'a Copied>,
}

/// What takes space at each place.
type Spaces<'a> = BTreeMap<u32, Vec<Space<'a>>>;

impl Workflows {
    /// Reports for each place the first copy that has no space there.
    pub(super) fn check_storages(&self, paths: &Paths, verdict: &mut Verdict) {
        for (place, spaces) in self.spaces(paths) {
            let Some(capacity) = paths.capacity(place) else { continue };
            verdict.count_check(Rule::Data);
            if let Some((copy, held)) = beyond(&spaces, i128::from(capacity.count())) {
                let (began, site) = (copy.row.began.unwrap_or_default(), paths.name(place));
                let message = format!(
                    "a copy of file `{}` to {site} begins at {began} s, which makes {held} B there, and its storage has {capacity}",
                    copy.row.file
                );
                let row = Row { file: "transfers.csv", line: copy.row.line };
                verdict.report(violation(Rule::Data, began, copy.row.job, message, row));
            }
        }
    }

    /// The most bytes that lay at once at a site: at least, and at most; the latter is not known if tasks ran again.
    pub(crate) fn peaks(&self, paths: &Paths) -> impl Fn(&str) -> (u64, u64) {
        let again = self.submitted.values().any(Submitted::ran_again);
        let peaks = self.spaces(paths).into_iter().map(|(place, spaces)| {
            // A copy that was given up at the moment when it got its space may have had it.
            let most = peak(&spaces, true).max(paths.capacity(place).map_or(0, Bytes::count));
            (paths.name(place).to_owned(), (peak(&spaces, false), most))
        });
        let peaks: BTreeMap<String, (u64, u64)> = peaks.collect();
        move |site| {
            let (least, most) = peaks.get(site).copied().unwrap_or_default();
            (least, if again { u64::MAX } else { most })
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.submitted.is_empty()
    }

    fn spaces(&self, paths: &Paths) -> Spaces<'_> {
        let mut spaces = Spaces::new();
        self.submitted.values().for_each(|of| of.add_spaces(paths, &mut spaces));
        spaces
    }
}

impl Submitted {
    /// Whether one of its tasks has run again, so that files may have gone and come back.
    fn ran_again(&self) -> bool {
        self.earlier.iter().any(|rows| !rows.is_empty())
    }

    /// Adds the space that its files take for sure.
    fn add_spaces<'a>(&'a self, paths: &Paths, spaces: &mut Spaces<'a>) {
        if self.ran_again() {
            return;
        }
        let spec = &self.workflow.spec;
        let files = Files::of(spec);
        let mut taken: BTreeMap<(u32, u32), Vec<Space<'_>>> = BTreeMap::new();
        let mut add = |file: u32, place: u32, from: Time, to: Time, by: Option<&'a Copied>| {
            let bytes = spec.files[file as usize].size.count();
            taken.entry((place, file)).or_default().push(Space { from, to, bytes, by });
        };
        let home = |file: u32| self.copies.iter().filter(move |copy| copy.file == file && copy.arrived());
        // When it goes everywhere.
        let gone: Vec<Time> = (0..)
            .zip(&files.readers)
            .map(|(file, readers)| {
                let ends =
                    readers.iter().map(|task| self.job_rows(*task as usize).next().map(|row| row.known));
                let came = || home(file).map(|copy| copy.row.ended).min();
                let gone = if readers.is_empty() {
                    came()
                } else {
                    ends.collect::<Option<Vec<_>>>().and_then(|ends| ends.into_iter().max())
                };
                gone.unwrap_or(Time::NEVER)
            })
            .collect();
        let is_result = |file: u32| files.readers[file as usize].is_empty();
        let until = |file: u32, row: Time, place: u32| {
            if is_result(file) && place == paths.home { row } else { gone[file as usize] }
        };
        for (file, writers) in (0..).zip(&files.writers) {
            if writers.is_empty() && !files.readers[file as usize].is_empty() {
                add(file, paths.home, self.workflow.submit, gone[file as usize], None);
            }
            for row in writers.iter().flat_map(|task| self.job_rows(*task as usize)) {
                let place = paths.places.get(&*row.site).filter(|_| row.outcome == Outcome::Completed);
                if let Some(place) = place {
                    add(file, *place, row.known, until(file, row.known, *place), None);
                }
            }
        }
        for copy in &self.copies {
            let Some(began) = copy.row.began else { continue };
            let over = copy.row.outcome == TransferOutcome::Lost;
            if is_result(copy.file) && copy.to == paths.home {
                continue;
            }
            let to = gone[copy.file as usize].min(if over { copy.row.ended } else { Time::NEVER });
            add(copy.file, copy.to, began, to, Some(copy));
        }
        for ((place, _), mut each) in taken {
            each.retain(|space| space.from <= space.to);
            each.sort_by_key(|space| (space.from, space.by.is_some()));
            // Who finds it there takes no space.
            let all = spaces.entry(place).or_default();
            let mut last: Option<Space<'_>> = None;
            for space in each {
                match &mut last {
                    Some(last) if space.from <= last.to => last.to = last.to.max(space.to),
                    _ => all.extend(last.replace(space)),
                }
            }
            all.extend(last);
        }
    }
}

/// The first copy that begins without space, and the bytes that there are with it. Of what happens at one instant, what goes does so before it, and what
/// tasks write comes after it.
fn beyond<'a>(spaces: &[Space<'a>], capacity: i128) -> Option<(&'a Copied, i128)> {
    let mut changes = Vec::new();
    for (at, space) in spaces.iter().enumerate() {
        let order = if space.by.is_some() { 1 } else { 2 };
        changes.extend([(space.from, order, at), (space.to, 0, at)]);
    }
    changes.sort_unstable();
    let mut held = 0;
    for (_, order, at) in changes {
        let space = spaces[at];
        let bytes = i128::from(space.bytes);
        held += if order == 0 { -bytes } else { bytes };
        // What is empty needs no space.
        if let Some(copy) = space.by.filter(|_| order == 1 && bytes > 0 && held > capacity) {
            return Some((copy, held));
        }
    }
    None
}

/// The most bytes at once. `closed` says that what goes does so after what comes at that instant.
fn peak(spaces: &[Space<'_>], closed: bool) -> u64 {
    let changes = spaces.iter().flat_map(|space| {
        let bytes = i128::from(space.bytes);
        [(space.from, !closed, bytes), (space.to, closed, -bytes)]
    });
    let mut changes: Vec<(Time, bool, i128)> = changes.collect();
    changes.sort_unstable();
    let (mut held, mut most) = (0, 0);
    for (_, _, bytes) in changes {
        held += bytes;
        most = most.max(held);
    }
    u64::try_from(most).unwrap_or(u64::MAX)
}
