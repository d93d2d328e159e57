//! Handlers for Ctrl-C, SIGTERM and hang-ups.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, io, process, thread};

use super::talk;
use crate::experiment::Control;

/// Installs a handler: the first Ctrl-C, SIGTERM or hang-up asks the run to stop, after a last snapshot if it has a `store`; the second ends the
/// process.
///
/// The handler does not distinguish the signals. One that whoever started the process ignores, as `nohup` does hang-ups, stays ignored.
pub(super) fn stop_cleanly(control: &Control, store: bool) {
    stop(
        control,
        match store {
            true => "stopping after a last snapshot; press again to stop at once",
            false => "stopping; press again to stop at once",
        },
    );
}

/// Does the same for a campaign, which stops when its current runs have ended.
pub(super) fn stop_campaign(control: &Control) {
    stop(control, "stopping when the current runs are done; press again to stop at once");
}

/// The folder to remove before the process ends.
static SCRATCH: OnceLock<PathBuf> = OnceLock::new();

/// Lets Ctrl-C and SIGTERM remove this folder before they end the process. A handler that stops cleanly is installed before.
pub(super) fn remove_at_end(scratch: &Path) {
    let _ = SCRATCH.set(scratch.to_owned());
    // Where there is a handler already, it ends in the same way.
    handle(end);
}

fn end() {
    if let Some(scratch) = SCRATCH.get() {
        // The run may be creating its files.
        for _ in 0..100 {
            match fs::remove_dir_all(scratch) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    thread::sleep(Duration::from_millis(1))
                }
                _ => break,
            }
        }
    }
    process::exit(130);
}

/// Lets `handler` handle the signals, unless something does already.
fn handle(handler: impl FnMut() + Send + 'static) {
    static IS_HANDLED: AtomicBool = AtomicBool::new(false);
    if !IS_HANDLED.swap(true, Ordering::SeqCst) {
        // Without a handler the process ends at once, which is safe: the last snapshot remains valid.
        let _ = install(handler);
    }
}

#[cfg(unix)]
fn install(mut handler: impl FnMut() + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let handled =
        [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| *signal != SIGHUP || ignored() & 1 == 0);
    let mut signals = signal_hook::iterator::Signals::new(handled)?;
    let wait = move || signals.forever().for_each(|_| handler());
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

/// The signals that the process ignores, a bit each, from the lowest: as Linux tells it. None where it cannot be known.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let digits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    digits.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
fn install(handler: impl FnMut() + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(handler)
}

fn stop(control: &Control, message: &'static str) {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let control = control.clone();
    handle(move || {
        if ASKED.swap(true, Ordering::SeqCst) {
            end();
        }
        talk(message);
        control.stop();
    });
}
