//! Ctrl-C and SIGTERM.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use super::talk;
use crate::experiment::Control;

/// From now on the first Ctrl-C or SIGTERM asks the run to stop after a last snapshot; the second ends the process.
///
/// Which of the two it was cannot be told, and does not matter.
pub(super) fn stop_cleanly(control: &Control) {
    stop(control, "stopping after a last snapshot; once more to stop at once");
}

/// The same for a campaign: it stops when the runs that are going on have ended.
pub(super) fn stop_campaign(control: &Control) {
    stop(control, "stopping when the runs that have begun are done; once more to stop at once");
}

fn stop(control: &Control, said: &'static str) {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let control = control.clone();
    // Without a handler the process ends at once, which loses nothing that the last snapshot holds.
    let _ = ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::SeqCst) {
            process::exit(130);
        }
        talk(said);
        control.stop();
    });
}
