//! Why a job waited, for people and as JSON.

use serde::Serialize;

use super::figures::{count, duration};
use crate::local::{Blocker, Reason};

/// Columns of the text.
const WIDTH: usize = 100;
/// Most of those who held a job that are told of a stretch.
const MOST_HELD: usize = 6;
/// Most steps of a profile that are drawn.
const MOST_STEPS: usize = 12;
/// Characters of the longest bar of a profile.
const BAR: f64 = 40.0;

/// A job's wait, explained.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The job in words.
    pub job: String,
    /// When it was submitted, in seconds as all times here.
    pub submit_s: f64,
    /// When it started first; `None` if it never did.
    pub start_s: Option<f64>,
    /// When it ended.
    pub end_s: f64,
    /// How it ended, and for a rejected job why.
    pub outcome: String,
    /// Processors that it asks for.
    pub requested: u32,
    /// The stretches of its wait, or the one that was asked about.
    pub stretches: Vec<Stretch>,
    /// What it was doing at the instant asked about, if it did not wait.
    pub instead: Option<String>,
    /// How often its policy was asked.
    pub looks: u64,
    /// What to know before trusting this.
    pub notes: Vec<String>,
}

/// A stretch of a wait with one reason.
#[derive(Clone, Debug, Serialize)]
pub struct Stretch {
    /// Since when.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
    /// Where: a site with its policy, the broker, the dispatcher.
    pub place: String,
    /// The reason, if a site's policy gives it.
    pub reason: Option<Reason>,
    /// The rule at the beginning of the stretch.
    pub rule: String,
    /// The rule at its end, if it is told otherwise.
    pub rule_at_end: Option<String>,
    /// Processors that the job needs there.
    pub needs: u32,
    /// Processors free for it at the beginning.
    pub free: u32,
    /// The shadow time at the beginning.
    pub shadow_s: Option<f64>,
    /// Processors spare then.
    pub spare: Option<u32>,
    /// When it was to start, as planned at the beginning.
    pub planned_s: Option<f64>,
    /// Who held it.
    pub held_by: Vec<Held>,
    /// Free processors as planned at the beginning: since when, and how many.
    pub profile: Vec<(f64, i32)>,
    /// How often the policy was asked.
    pub looks: u64,
}

/// Who held a job.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    /// The job, or the name of the reservation.
    pub who: String,
    /// As it was told first.
    #[serde(skip)]
    pub blocker: Blocker,
    /// In words.
    pub how: String,
    /// For how long it was in the way, in seconds.
    pub for_s: f64,
}

impl Held {
    /// A blocker, told first.
    pub fn new(blocker: Blocker) -> Self {
        let (who, how) = match &blocker {
            Blocker::Running { who, procs, until } => {
                (who.to_string(), format!("runs on {} until {} s at the latest", processors(*procs), until))
            }
            Blocker::Waiting { who, procs, estimate, start } => {
                let start = start.map_or_else(String::new, |start| format!(", to start at {start} s"));
                (
                    who.to_string(),
                    format!("waits for {}, {estimate} s by its estimate{start}", processors(*procs)),
                )
            }
            Blocker::Booking { name, from, to, procs } => {
                (format!("reservation `{name}`"), format!("{} from {from} s to {to} s", processors(*procs)))
            }
            Blocker::Away { procs } => {
                ("machines".to_owned(), format!("{} are not there, or kept", processors(*procs)))
            }
        };
        Self { who, blocker, how, for_s: 0.0 }
    }
}

fn processors(count: u32) -> String {
    if count == 1 { "1 processor".to_owned() } else { format!("{count} processors") }
}

/// Seconds, exact to what is needed: whole ones without decimals.
fn secs(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Why a job waited: its stretches, the profile at the beginning of its wait at a site, who held it.
pub fn explained_text(facts: &Explained) -> String {
    let mut out = format!(
        "{}: asks for {}, submitted at {} s",
        facts.job,
        processors(facts.requested),
        secs(facts.submit_s)
    );
    match facts.start_s {
        Some(start) => {
            let wait = start - facts.submit_s;
            out += &format!(", started at {} s", secs(start));
            out += &if wait > 0.0 {
                let (exact, rounded) = (format!("{} s", secs(wait)), duration(wait));
                if exact == rounded {
                    format!(" after {exact}")
                } else {
                    format!(" after {exact} ({rounded})")
                }
            } else {
                ", at once".to_owned()
            };
        }
        None => out += &format!(", never started, {} at {} s", facts.outcome, secs(facts.end_s)),
    }
    out += "\n";
    if let Some(instead) = &facts.instead {
        out += &format!("\n{instead}\n");
    }
    let mut drawn = false;
    for stretch in &facts.stretches {
        out += &told(stretch);
        if !drawn && stretch.profile.len() > 1 {
            drawn = true;
            out += &profile(stretch);
        }
    }
    for note in &facts.notes {
        out += &format!("\nnote: {note}");
    }
    if !facts.notes.is_empty() {
        out += "\n";
    }
    out
}

fn told(stretch: &Stretch) -> String {
    let reason = stretch.reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let mut out = if stretch.to_s > stretch.from_s {
        let length = stretch.to_s - stretch.from_s;
        let long = if length < 60.0 { String::new() } else { format!(" ({})", duration(length)) };
        let (from, to) = (secs(stretch.from_s), secs(stretch.to_s));
        format!("\nfrom {from} s to {to} s{long}, {}{reason}\n", stretch.place)
    } else {
        format!("\nat {} s, {}{reason}\n", secs(stretch.from_s), stretch.place)
    };
    out += &wrapped("  ", &stretch.rule);
    // What differs in nothing but its numbers is not told twice.
    let plain = |rule: &str| rule.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect::<String>();
    if let Some(rule) = stretch.rule_at_end.as_ref().filter(|rule| plain(rule) != plain(&stretch.rule)) {
        out += &wrapped("  in the end: ", rule);
    }
    for held in stretch.held_by.iter().take(MOST_HELD) {
        let long = if held.for_s > 0.0 {
            format!("; in the way for {}", duration(held.for_s))
        } else {
            String::new()
        };
        out += &wrapped("  - ", &format!("{} {}{long}", held.who, held.how));
    }
    if let Some(more) = stretch.held_by.len().checked_sub(MOST_HELD).filter(|more| *more > 0) {
        out += &format!("  - and {} more\n", count(more as u64));
    }
    out
}

/// Text at most [`WIDTH`] wide, the first line behind `lead` and the others under its text.
fn wrapped(lead: &str, text: &str) -> String {
    let indent = " ".repeat(lead.chars().count());
    let (mut out, mut line) = (String::new(), lead.to_owned());
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out += &line;
            out.push('\n');
            line.clone_from(&indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    out + &line + "\n"
}

/// Free processors over time.
fn profile(stretch: &Stretch) -> String {
    let mut out =
        format!("  free processors as planned at {} s ({} needed):\n", secs(stretch.from_s), stretch.needs);
    let most =
        stretch.profile.iter().map(|(_, free)| *free).max().unwrap_or(0).max(stretch.needs as i32).max(1);
    let left_out = stretch.profile.len().saturating_sub(MOST_STEPS);
    let kept_front = MOST_STEPS - MOST_STEPS / 3;
    for (at, (since, free)) in stretch.profile.iter().enumerate() {
        if left_out > 0 && at == kept_front {
            out += &format!("  {:>16}   and {} steps more\n", "...", count(left_out as u64));
        }
        if left_out > 0 && at >= kept_front && at < kept_front + left_out {
            continue;
        }
        let length = libm::round(f64::from((*free).max(0)) / f64::from(most) * BAR) as usize;
        let marks = [
            (stretch.shadow_s, "shadow time"),
            (stretch.planned_s.filter(|planned| Some(*planned) != stretch.shadow_s), "its start as planned"),
        ];
        let mark: Vec<&str> =
            marks.iter().filter(|(time, _)| *time == Some(*since)).map(|(_, word)| *word).collect();
        let mark = if mark.is_empty() { String::new() } else { format!(" <- {}", mark.join(", ")) };
        let line = format!("  {:>14} s {free:>7} {}{mark}", secs(*since), "#".repeat(length));
        out += line.trim_end();
        out.push('\n');
    }
    out
}
