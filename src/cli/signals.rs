//! Handlers for Ctrl-C and SIGTERM.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use super::talk;
use crate::experiment::Control;

/// Installs a handler: the first Ctrl-C or SIGTERM asks the run to stop after a last snapshot; the second ends the process.
///
/// The handler cannot distinguish the two signals, and need not.
pub(super) fn stop_cleanly(control: &Control) {
    stop(control, "stopping after a last snapshot; press again to stop at once");
}

/// Does the same for a campaign, which stops when its current runs have ended.
pub(super) fn stop_campaign(control: &Control) {
    stop(control, "stopping when the current runs are done; press again to stop at once");
}

fn stop(control: &Control, message: &'static str) {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let control = control.clone();
    // Without a handler the process ends at once, which is safe: the last snapshot remains valid.
    let _ = ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::SeqCst) {
            process::exit(130);
        }
        talk(message);
        control.stop();
    });
}
