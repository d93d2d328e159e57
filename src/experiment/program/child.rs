//! The child process: a line out, a line in, and not for ever.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::experiment::Progress;
use crate::experiment::clock::now;
use crate::scenario::ProgramPlan;

/// The longest line that a program may write.
const LONGEST_LINE: u64 = 64 << 20;
/// Most of a line on standard error that is shown.
const LONGEST_ERROR: u64 = 4 << 10;
/// Most lines on standard error that are shown.
const MOST_ERRORS: usize = 10_000;
/// How long a program may take to end once its input has ended.
const GRACE: Duration = Duration::from_secs(1);
const GLANCE: Duration = Duration::from_millis(5);

/// A child process with its standard streams.
pub(super) struct Child {
    watched: Arc<Watched>,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    timeout: Duration,
    /// The last line on standard error.
    last_words: Arc<Mutex<String>>,
    /// The thread that reads standard error.
    errors: Option<thread::JoinHandle<()>>,
}

/// What the thread sees that ends a child which is silent for too long.
struct Watched {
    process: Mutex<std::process::Child>,
    began: Instant,
    /// When the answer must be there, in microseconds since the beginning; zero for no question.
    due: AtomicU64,
    /// True once it was ended because of that.
    silent: AtomicBool,
}

impl Watched {
    fn kill(&self) {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        // Its own children may hold its streams open.
        #[cfg(unix)]
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&process),
            rustix::process::Signal::KILL,
        );
        let _ = process.kill();
    }

    fn status(&self) -> Option<ExitStatus> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        process.try_wait().ok().flatten()
    }

    /// Waits for its end, not for long.
    fn wait(&self, most: Duration) -> Option<ExitStatus> {
        let until = now() + most;
        loop {
            let status = self.status();
            if status.is_some() || now() >= until {
                return status;
            }
            thread::sleep(GLANCE);
        }
    }
}

impl Child {
    /// Starts the program of a plan. What it writes on standard error goes to `progress`, with its `name`.
    pub(super) fn spawn(
        path: &Path,
        plan: &ProgramPlan,
        name: &str,
        progress: &Progress,
    ) -> Result<Self, String> {
        let mut command = Command::new(path);
        command.args(&plan.command[1..]);
        if !plan.folder.as_os_str().is_empty() {
            command.current_dir(&plan.folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is for the run, which ends it in an orderly way.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
        let (Some(to), Some(from), Some(errors)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err("it has no standard streams".to_owned());
        };
        let watched = Arc::new(Watched {
            process: Mutex::new(process),
            began: now(),
            due: AtomicU64::new(0),
            silent: AtomicBool::new(false),
        });
        let (weak, glance) = (Arc::downgrade(&watched), (plan.timeout / 20).clamp(GLANCE, GRACE / 4));
        let no_thread = |error| format!("no thread can be started: {error}");
        let named = |of: &str| thread::Builder::new().name(format!("broker {of}"));
        named("watch").spawn(move || watch(&weak, glance)).map_err(no_thread)?;
        let last_words = Arc::<Mutex<String>>::default();
        let (words, progress, name) = (Arc::clone(&last_words), progress.clone(), name.to_owned());
        let errors =
            named("errors").spawn(move || show(errors, &name, &words, &progress)).map_err(no_thread)?;
        Ok(Self {
            watched,
            to: Some(to),
            from: BufReader::new(from),
            timeout: plan.timeout,
            last_words,
            errors: Some(errors),
        })
    }

    /// Sends a line, and reads the line of the answer, without its end.
    ///
    /// # Errors
    /// A sentence on why there is none.
    pub(super) fn exchange(&mut self, line: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        answer.clear();
        let due = (now() + self.timeout) - self.watched.began;
        let due = u64::try_from(due.as_micros()).unwrap_or(u64::MAX);
        self.watched.due.store(due, Ordering::Relaxed);
        let sent = match &mut self.to {
            Some(to) => to.write_all(line).and_then(|()| to.flush()),
            None => Err(ErrorKind::BrokenPipe.into()),
        };
        // Who does not read what is asked may still have said why.
        let read = (&mut self.from).take(LONGEST_LINE).read_until(b'\n', answer);
        self.watched.due.store(0, Ordering::Relaxed);
        if sent.is_ok() && answer.ends_with(b"\n") && !self.watched.silent.load(Ordering::Relaxed) {
            answer.truncate(answer.trim_ascii_end().len());
            return Ok(());
        }
        Err(self.trouble(answer, read.err()))
    }

    /// Why there is no answer.
    fn trouble(&mut self, part: &[u8], error: Option<std::io::Error>) -> String {
        let begun = || {
            let text: String = String::from_utf8_lossy(part).chars().take(60).collect();
            if text.is_empty() {
                String::new()
            } else {
                format!(", in the middle of its answer: `{}`", text.trim_end())
            }
        };
        if self.watched.silent.load(Ordering::Relaxed) {
            let secs = self.timeout.as_secs_f64();
            return format!(
                "it has not answered within {secs} s of the wall clock{}{}",
                begun(),
                self.words()
            );
        }
        if part.len() as u64 >= LONGEST_LINE {
            return format!("its answer is a line of more than {} MB", LONGEST_LINE >> 20);
        }
        if let Some(error) = error {
            return format!("its answer cannot be read: {error}");
        }
        let status = self.watched.wait(GRACE);
        let ended = match status {
            Some(status) if status.success() => "it has ended".to_owned(),
            Some(status) => format!("it has ended with {}", told(status)),
            None => "it has closed its standard output".to_owned(),
        };
        format!("{ended}{}{}", begun(), self.words())
    }

    /// What it said last on standard error.
    fn words(&mut self) -> String {
        let until = now() + Duration::from_millis(200);
        while self.errors.as_ref().is_some_and(|errors| !errors.is_finished()) && now() < until {
            thread::sleep(GLANCE);
        }
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        if words.is_empty() { String::new() } else { format!("; it said last: `{words}`") }
    }

    /// Ends the input of the program, and the program if it does not end itself. Returns whether it has.
    pub(super) fn end(&mut self) -> bool {
        self.to = None;
        let ended = self.watched.wait(GRACE).is_some();
        if !ended {
            self.watched.kill();
            self.watched.wait(GRACE);
        }
        ended
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
        if self.errors.as_ref().is_some_and(thread::JoinHandle::is_finished)
            && let Some(errors) = self.errors.take()
        {
            let _ = errors.join();
        }
    }
}

fn told(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

/// Ends a child that has not answered in time.
fn watch(watched: &Weak<Watched>, glance: Duration) {
    loop {
        thread::sleep(glance);
        let Some(watched) = watched.upgrade() else { return };
        let due = watched.due.load(Ordering::Relaxed);
        let passed = u64::try_from((now() - watched.began).as_micros()).unwrap_or(u64::MAX);
        if due > 0 && passed > due {
            watched.silent.store(true, Ordering::Relaxed);
            return watched.kill();
        }
    }
}

/// Shows what a program writes on standard error.
fn show(errors: ChildStderr, name: &str, last_words: &Mutex<String>, progress: &Progress) {
    let (mut errors, mut line) = (BufReader::new(errors), Vec::new());
    for shown in 0.. {
        line.clear();
        match (&mut errors).take(LONGEST_ERROR).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(line.trim_ascii_end());
        if text.is_empty() {
            continue;
        }
        (*last_words.lock().unwrap_or_else(PoisonError::into_inner)) = text.clone().into_owned();
        match shown {
            MOST_ERRORS => progress.note(format!("{name}: more lines on standard error are not shown")),
            _ if shown < MOST_ERRORS => progress.note(format!("{name}: {text}")),
            _ => {}
        }
    }
}
