//! A full disk, as the databases themselves meet it: the system limits the length of a process's files.
//! (The faults of `faults.rs` do not reach what sled does to its own files.)

#![cfg(unix)]

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::kills::{ENGINE, FOLDER, check_snapshots};
use crate::store::{EngineKind, Store, StoreOptions};

/// Runs the child of the kill test under `ulimit -f` until it fails; returns its last output.
fn run_until_full(folder: &std::path::Path, engine: EngineKind, blocks: u32) -> (String, u64) {
    let program = std::env::current_exe().expect("this program");
    // Without the trap the system would kill the process instead of failing the write.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .arg(program)
        .args(["--exact", "store::tests::kills::child", "--nocapture"])
        .env(FOLDER, folder)
        .env(ENGINE, engine.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let out = child.stdout.take().expect("its output");
    let reader = thread::spawn(move || std::io::read_to_string(out).unwrap_or_default());
    for _ in 0..600 {
        if child.try_wait().expect("it can be waited for").is_some() {
            break;
        }
        thread::sleep(Duration::from_millis(100));
    }
    // The kill has no effect if the child has ended; otherwise the child hangs without having reported a full disk.
    child.kill().expect("it can be killed");
    let ended = child.wait_with_output().expect("it ends");
    let message = reader.join().expect("what it message");
    let last = message.lines().filter_map(|line| line.strip_prefix("snapshot ")?.parse().ok()).max();
    (String::from_utf8_lossy(&ended.stderr).into_owned(), last.unwrap_or(0))
}

#[test]
fn a_limit_on_files_is_told_and_leaves_what_was_acknowledged() {
    for engine in EngineKind::all() {
        // In blocks of 512 bytes: less than a small snapshot of redb, and some and most chunks of a large one.
        for blocks in [80, 500, 1500] {
            let folder = tempfile::tempdir().expect("a folder");
            let folder = folder.path().join("store");
            let (message, last) = run_until_full(&folder, engine, blocks);
            assert!(
                message.contains("Io {") && message.contains("FileTooLarge"),
                "{engine} with {blocks} blocks: {message}"
            );
            let options = StoreOptions { engine, last: 2, patience: Duration::ZERO };
            let store = Store::open(&folder, &options).expect("the store opens");
            assert!(check_snapshots(&store) >= last, "{engine} with {blocks} blocks");
        }
    }
}
