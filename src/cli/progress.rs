//! Progress of a run: a bar on a terminal, otherwise a line at intervals.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use super::talk;
use crate::experiment::{Notice, Progress, RunsDone};

const REDRAW: Duration = Duration::from_millis(100);
/// Interval of checks for warnings, without a terminal.
const GLANCE: Duration = Duration::from_millis(100);
/// Number of checks between two lines; shorter runs print no line.
const LINE: u32 = 100;
/// After this time a run says what in its scenario may make it slow.
const PATIENCE: Duration = Duration::from_secs(3);

/// Runs `work` and shows its progress.
pub(super) fn shown<T: Send>(label: &str, progress: &Progress, work: impl FnOnce() -> T + Send) -> T {
    shown_beside(false, label, progress, work)
}

/// Runs `work` and shows its progress, without a bar if the user may be `typing` commands, which a bar would disturb.
pub(super) fn shown_beside<T: Send>(
    typing: bool,
    label: &str,
    progress: &Progress,
    work: impl FnOnce() -> T + Send,
) -> T {
    let (done, wait) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if io::stderr().is_terminal() && !typing {
                bar(label, progress, &wait)
            } else {
                lines(label, progress, &wait)
            }
        });
        let result = work();
        drop(done);
        warn(progress);
        result
    })
}

/// Progress of a campaign, and an estimate of the remaining time.
fn campaign(runs: RunsDone, elapsed: Duration) -> String {
    let failed = if runs.failed > 0 { format!(", {} failed", runs.failed) } else { String::new() };
    let left = runs.left(elapsed).filter(|_| runs.done < runs.total);
    let left = left.map(|left| format!(", {} left", HumanDuration(left))).unwrap_or_default();
    format!("{} of {} runs{failed}{left}", runs.done, runs.total)
}

fn bar(label: &str, progress: &Progress, wait: &mpsc::Receiver<()>) {
    // A run that ends before the first drawing shows no bar.
    if wait.recv_timeout(REDRAW) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {percent:>3} % {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(0).with_style(style).with_prefix(label.to_owned());
    loop {
        let (message, (done, total)) = match progress.runs() {
            Some(runs) => (campaign(runs, bar.elapsed()), (runs.done, runs.total)),
            // The remaining time is unknown: a log is read in a few large pieces, far ahead of the jobs that end.
            None => (format!("{} jobs have ended", progress.jobs()), progress.done()),
        };
        bar.set_message(message);
        bar.set_length(total.max(1));
        bar.set_position(done.min(total.max(1)));
        bar.suspend(|| {
            warn(progress);
            explain(progress, bar.elapsed());
        });
        if wait.recv_timeout(REDRAW) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    bar.finish_and_clear();
}

fn lines(label: &str, progress: &Progress, wait: &mpsc::Receiver<()>) {
    let mut glances = 0;
    // Only measures the elapsed time.
    let bar = ProgressBar::hidden();
    while wait.recv_timeout(GLANCE) == Err(RecvTimeoutError::Timeout) {
        warn(progress);
        explain(progress, bar.elapsed());
        glances += 1;
        if let Some(runs) = progress.runs().filter(|_| glances % LINE == 0) {
            talk(&format!("{label}: {}", campaign(runs, bar.elapsed())));
        } else if glances % LINE == 0 {
            let (read, total) = progress.done();
            let share = (read.min(total) * 100).checked_div(total);
            let share = share.map(|percent| format!(" ({percent} %)")).unwrap_or_default();
            talk(&format!("{label}: {} jobs have ended{share}", progress.jobs()));
        }
    }
}

/// Prints what may make the run slow, once it has gone on for a while.
fn explain(progress: &Progress, elapsed: Duration) {
    if elapsed >= PATIENCE {
        progress.reasons_to_wait().iter().for_each(|reason| talk(&format!("warning: {reason}")));
    }
}

/// Prints the notes and warnings of the run so far.
fn warn(progress: &Progress) {
    for notice in progress.notices() {
        match notice {
            Notice::Note(text) => talk(&text),
            Notice::Warning(text) => talk(&format!("warning: {text}")),
        }
    }
}
