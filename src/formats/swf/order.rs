//! Sorting rows by submission within a bounded window.

use std::collections::VecDeque;

use super::clean::Request;

/// Number of rows read ahead. A row that is further behind its place than this is submitted late.
const WINDOW: usize = 1_024;

/// The rows read ahead, in order of submission (ties by line).
#[derive(Debug, Default)]
pub(super) struct Window {
    rows: VecDeque<Request>,
    /// Submission of the row returned last: no later row may be submitted before it.
    returned: u64,
}

/// Where a row was placed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At the end: the log is in order here.
    InOrder,
    /// Before rows that precede it in the log.
    Sorted,
    /// After its place, since later rows were already returned: its submission becomes that of the last of them.
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
        self.returned = request.submit;
        Some(request)
    }

    #[inline]
    pub(super) fn push(&mut self, mut request: Request) -> Place {
        // Nearly all logs are in order throughout, so this is nearly always a push at the end.
        if request.submit >= self.rows.back().map_or(self.returned, |last| last.submit) {
            self.rows.push_back(request);
            return Place::InOrder;
        }
        let late = request.submit < self.returned;
        request.submit = request.submit.max(self.returned);
        let place = self.rows.partition_point(|other| other.submit <= request.submit);
        self.rows.insert(place, request);
        if late { Place::Late } else { Place::Sorted }
    }
}
