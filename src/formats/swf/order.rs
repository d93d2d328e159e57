//! Putting rows in order of submission, within a bounded window.

use std::collections::VecDeque;

use super::clean::Request;

/// Rows that are looked ahead. A row that stands further behind its place than this comes late.
const WINDOW: usize = 1_024;

/// The rows read ahead, in order of submission (ties by line).
#[derive(Debug, Default)]
pub(super) struct Window {
    rows: VecDeque<Request>,
    /// Submission of the row given last: nothing may come before it any more.
    given: u64,
}

/// What became of a row's place.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At the end, as it should be.
    InOrder,
    /// Before rows that stand before it in the log.
    Sorted,
    /// Before rows that are given already: its submission is now that of the last of them.
    Late,
}

impl Window {
    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= WINDOW
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn first(&self) -> Option<&Request> {
        self.rows.front()
    }

    pub(super) fn pop(&mut self) -> Option<Request> {
        let request = self.rows.pop_front()?;
        self.given = request.submit;
        Some(request)
    }

    pub(super) fn push(&mut self, mut request: Request) -> Place {
        // Nearly all logs are in order throughout, so this is nearly always a push at the end.
        if request.submit >= self.rows.back().map_or(self.given, |last| last.submit) {
            self.rows.push_back(request);
            return Place::InOrder;
        }
        let late = request.submit < self.given;
        request.submit = request.submit.max(self.given);
        let place = self.rows.partition_point(|other| other.submit <= request.submit);
        self.rows.insert(place, request);
        if late { Place::Late } else { Place::Sorted }
    }
}
