//! Handlers for Ctrl-C and SIGTERM.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, io, process, thread};

use super::talk;
use crate::experiment::Control;

/// Installs a handler: the first Ctrl-C or SIGTERM asks the run to stop, after a last snapshot if it has a `store`; the second ends the
/// process.
///
/// The handler cannot distinguish the two signals, and need not.
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
    // An error means that there is a handler; it ends in the same way.
    let _ = ctrlc::set_handler(end);
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

fn stop(control: &Control, message: &'static str) {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let control = control.clone();
    // Without a handler the process ends at once, which is safe: the last snapshot remains valid.
    let _ = ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::SeqCst) {
            end();
        }
        talk(message);
        control.stop();
    });
}
