//! The watch: the caller's thread, which takes the records and limits how long it waits for a run.
//!
//! Signs of life are an answer, a record, a message. Without any for as long as its patience, the watch ends the run with an error that
//! names an entity and the moment that it was to handle: [`RuntimeError::Stalled`] if the entity is at work, [`RuntimeError::LostReply`] if
//! it has only been asked. The thread of an entity that does not return is abandoned. A panic is caught in the handler and becomes
//! [`RuntimeError::Panicked`]; the error of an entity is passed on as it is; all other entities return, so their tallies can be read.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::board::Board;
use super::clock::now;
use super::entity_actor::panic_message;
use super::{Ended, Report, RuntimeError};
use crate::entity::Stamp;
use crate::grid::Merge;
use crate::model::RecordSink;

/// Waits for a run.
pub(super) struct Watch<E> {
    board: Arc<Board>,
    reports: Receiver<Report<E>>,
    thread: JoinHandle<Result<(), String>>,
    patience: Duration,
    passed: Stamp,
    error: Option<RuntimeError>,
}

impl<E> Watch<E> {
    pub(super) fn new(
        board: Arc<Board>,
        reports: Receiver<Report<E>>,
        thread: JoinHandle<Result<(), String>>,
        patience: Duration,
    ) -> Self {
        Self { board, reports, thread, patience, passed: Stamp::default(), error: None }
    }

    /// Takes records until the run has ended, or the watch ends it.
    pub(super) fn until_done(mut self, merge: &mut Merge, sink: &mut dyn RecordSink) -> Ended<E> {
        let (mut signs, mut alive) = (0, now());
        // Several looks at the board fit into the patience.
        let glance = (self.patience / 8).max(Duration::from_millis(1));
        loop {
            match self.reports.recv_timeout(glance) {
                Ok(Report::Records(batch, passed)) => {
                    self.passed = passed;
                    if !self.board.stopped() {
                        batch.into_iter().for_each(|(place, record)| merge.push(place, record, sink));
                        merge.emit(passed.time, sink);
                        if sink.is_closed() {
                            self.board.stop();
                        }
                    }
                    alive = now();
                }
                Ok(Report::Failed(error)) => {
                    self.error.get_or_insert(error);
                    alive = now();
                }
                Ok(Report::Done(entities, passed, over)) => {
                    let result = self.error.map_or(Ok(()), Err);
                    if result.is_ok() {
                        // All entities have answered, so the thread ends at once.
                        let _ = self.thread.join();
                    }
                    return Ended { entities, passed, over, result };
                }
                Err(RecvTimeoutError::Timeout) => {
                    let signs_now = self.board.signs();
                    if signs_now != signs || self.board.asleep() {
                        (signs, alive) = (signs_now, now());
                    }
                    if now() - alive >= self.patience {
                        // The entities are abandoned.
                        self.board.stop();
                        let error = self.error.take().unwrap_or_else(|| self.impatient());
                        let (entities, passed) = (Vec::new(), self.passed);
                        return Ended { entities, passed, over: false, result: Err(error) };
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return self.broken_down(),
            }
        }
    }

    /// The error of a run without a sign of life for too long.
    fn impatient(&self) -> RuntimeError {
        let patience = self.patience;
        match self.board.awaited() {
            Some((true, entity, at)) => RuntimeError::Stalled { entity, at, patience },
            Some((false, entity, at)) => RuntimeError::LostReply { entity, at },
            None => RuntimeError::Conductor("it makes no progress".to_owned()),
        }
    }

    /// The conductor has stopped without a last message.
    fn broken_down(self) -> Ended<E> {
        let problem = match self.thread.join() {
            Ok(Ok(())) => "it ended early".to_owned(),
            Ok(Err(problem)) => problem,
            Err(panic) => panic_message(panic.as_ref()),
        };
        let error = self.error.unwrap_or(RuntimeError::Conductor(problem));
        Ended { entities: Vec::new(), passed: self.passed, over: false, result: Err(error) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::entity::Address;
    use crate::model::Record;

    /// Short, since nothing moves.
    const SHORT: Duration = Duration::from_millis(40);

    /// Enough for a busy machine.
    const LONG: Duration = Duration::from_secs(30);

    /// Waits for a conductor that executes `conduct` and sends nothing.
    fn wait(
        board: Board,
        patience: Duration,
        conduct: impl FnOnce() -> Result<(), String> + Send + 'static,
    ) -> Ended<()> {
        let (reports, received) = sync_channel(1);
        let thread = std::thread::spawn(move || {
            let problem = conduct();
            drop(reports);
            problem
        });
        let mut records: Vec<Record> = Vec::new();
        Watch::new(Arc::new(board), received, thread, patience).until_done(&mut Merge::new(1), &mut records)
    }

    /// Blocks for longer than the patience.
    fn stand_still() -> Result<(), String> {
        std::thread::sleep(25 * SHORT);
        Ok(())
    }

    #[test]
    fn who_was_asked_last_is_named() {
        let at = Stamp { round: 3, ..Stamp::default() };
        let board = Board::new([Address::Portal, Address::Broker].into_iter());
        board.asked(1, at);
        let lost = RuntimeError::LostReply { entity: Address::Broker, at };
        assert_eq!(wait(board, SHORT, stand_still).result, Err(lost));

        let board = Board::new([Address::Portal, Address::Broker].into_iter());
        board.asked(0, Stamp::default());
        board.asked(1, at);
        board.at_work(1);
        let stalled = RuntimeError::Stalled { entity: Address::Broker, at, patience: SHORT };
        assert_eq!(wait(board, SHORT, stand_still).result, Err(stalled));

        let board = Board::new([Address::Portal].into_iter());
        board.asked(0, at);
        board.done(0);
        let idle = RuntimeError::Conductor("it makes no progress".to_owned());
        assert_eq!(wait(board, SHORT, stand_still).result, Err(idle));
    }

    #[test]
    fn a_conductor_that_breaks_down_is_told() {
        let board = || Board::new([Address::Portal].into_iter());
        let problem = |text: &str| Err(RuntimeError::Conductor(text.to_owned()));
        assert_eq!(wait(board(), LONG, || panic!("out of tune")).result, problem("out of tune"));
        assert_eq!(
            wait(board(), LONG, || Err("a task panicked".to_owned())).result,
            problem("a task panicked")
        );
        assert_eq!(wait(board(), LONG, || Ok(())).result, problem("it ended early"));
    }
}
