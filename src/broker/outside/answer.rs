//! What a program answers.

use serde::Deserialize;

use crate::broker::Reason;

/// The keys of an answer.
pub const ANSWER_KEYS: [&str; 5] = ["answer", "plan", "takes", "later", "save"];

/// An answer as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reply {
    pub(super) answer: u64,
    #[serde(default)]
    pub(super) plan: Vec<Item>,
    #[serde(default)]
    pub(super) takes: u64,
    #[serde(default)]
    pub(super) later: Option<u64>,
    #[serde(default)]
    pub(super) save: Option<String>,
}

/// A decision as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Item {
    pub(super) id: u64,
    pub(super) task: u64,
    #[serde(default)]
    pub(super) assign: Option<usize>,
    #[serde(default)]
    pub(super) plan: Option<usize>,
    #[serde(default)]
    pub(super) put_off: Option<usize>,
    #[serde(default)]
    pub(super) start: Option<u64>,
    #[serde(default)]
    pub(super) end: Option<u64>,
    #[serde(default)]
    pub(super) until: Option<u64>,
    #[serde(default)]
    pub(super) reason: Option<String>,
}

/// What is done with a task, as it is written.
#[derive(Copy, Clone, Debug)]
pub(super) enum Wish {
    Assign,
    Plan,
    PutOff,
}

impl Reply {
    /// Reads the answer to the question of this number.
    pub(super) fn read(line: &[u8], number: u64) -> Result<Self, String> {
        let shown = || {
            let text = String::from_utf8_lossy(line);
            let short: String = text.chars().take(80).collect();
            if short.len() < text.len() { format!("`{short}...`") } else { format!("`{short}`") }
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            return Err(format!(
                "its answer is an empty line; write {{\"answer\":{number}}} to let all wait"
            ));
        }
        if std::str::from_utf8(line).is_err() {
            return Err(format!("its answer is not UTF-8: {}", shown()));
        }
        let reply: Self = serde_json::from_slice(line)
            .map_err(|error| format!("its answer cannot be read: {error}; it wrote {}", shown()))?;
        if reply.answer != number {
            return Err(format!(
                "it answers question {}; the answer to this one begins {{\"answer\":{number}",
                reply.answer
            ));
        }
        Ok(reply)
    }
}

impl Item {
    /// What is done with the task, and the place of the pool.
    pub(super) fn wish(&self) -> Result<(Wish, usize), String> {
        let wishes = [(Wish::Assign, self.assign), (Wish::Plan, self.plan), (Wish::PutOff, self.put_off)];
        let mut given = wishes.into_iter().filter_map(|(wish, pool)| Some((wish, pool?)));
        match (given.next(), given.next()) {
            (Some(wish), None) => Ok(wish),
            _ => Err(format!(
                "decision {} about task {} must have one of `assign`, `plan` and `put_off`, with the number of a pool",
                self.id, self.task
            )),
        }
    }

    /// Why, as far as the word is known.
    pub(super) fn reason(&self) -> Reason {
        let known = |word: &str| Reason::ALL.into_iter().find(|reason| reason.name() == word);
        self.reason.as_deref().and_then(known).unwrap_or(Reason::Policy)
    }
}
