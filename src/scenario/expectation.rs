//! What a drill expects of a run, such as `completed == submitted` or `makespan <= 2 h`: two expressions over figures of the run,
//! and how they must compare.
//!
//! ```text
//! expectation = sum relation sum              relation = == | != | <= | < | >= | >
//! sum         = product {(+ | -) product}     product  = factor {(* | /) factor}
//! factor      = number | length of time | percentage | measure | count | ( sum ) | - factor
//! count       = jobs_at("site") | ended() | events("kind")     with  at="site", after="3 h", before="4 h"
//! ```
//!
//! Times are seconds and percentages shares, as in `summary.json`. What a measure is, the run says: this module reads and computes.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::names::{listed, near};
use crate::model::EventKind;
use crate::units::{Span, Time};

/// An expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    text: String,
    left: Sum,
    relation: Relation,
    right: Sum,
}

/// A figure of a run that an expectation names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Figure {
    /// A measure, by its id.
    Measure(String),
    /// Something that is counted in the tables of the run.
    Count(Count),
}

/// Something that is counted in the tables of a run, at a site or anywhere, in a half-open stretch of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// What is counted.
    pub of: Counted,
    /// The site; `None` for all.
    pub site: Option<String>,
    /// The first instant.
    pub after: Time,
    /// The first instant that does not count any more.
    pub before: Time,
}

/// What is counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Jobs of which an attempt began.
    JobsAt,
    /// Jobs that completed.
    Ended,
    /// Events of a kind.
    Events(EventKind),
}

/// An expectation that is not written as it must be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ExpectationError(String);

#[derive(Clone, Debug, PartialEq)]
enum Sum {
    Number(f64),
    Figure(Figure),
    Both(Box<Self>, Operator, Box<Self>),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    AtMost,
    Below,
    AtLeast,
    Above,
}

/// How deep parentheses and signs may be nested.
const DEEPEST: u32 = 50;

impl Expectation {
    /// Whether it holds with these values of figures; `None` if one of them has no value, or something is divided by 0.
    pub fn holds(&self, value: &dyn Fn(&Figure) -> Option<f64>) -> Option<bool> {
        let [left, right] = [&self.left, &self.right].map(|sum| sum.value(value));
        let (left, right) = (left?, right?);
        Some(match self.relation {
            Relation::Equal => left == right,
            Relation::NotEqual => left != right,
            Relation::AtMost => left <= right,
            Relation::Below => left < right,
            Relation::AtLeast => left >= right,
            Relation::Above => left > right,
        })
    }

    /// The figures that it names, each once, in their order.
    pub fn figures(&self) -> Vec<&Figure> {
        let mut figures = Vec::new();
        self.left.figures(&mut figures);
        self.right.figures(&mut figures);
        figures
    }
}

impl Sum {
    fn value(&self, of: &dyn Fn(&Figure) -> Option<f64>) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Figure(figure) => of(figure),
            Self::Both(one, operator, other) => {
                let (one, other) = (one.value(of)?, other.value(of)?);
                let value = match operator {
                    Operator::Plus => one + other,
                    Operator::Minus => one - other,
                    Operator::Times => one * other,
                    Operator::Over => one / other,
                };
                value.is_finite().then_some(value)
            }
        }
    }

    fn figures<'a>(&'a self, found: &mut Vec<&'a Figure>) {
        match self {
            Self::Number(_) => {}
            Self::Figure(figure) if found.contains(&figure) => {}
            Self::Figure(figure) => found.push(figure),
            Self::Both(one, _, other) => {
                one.figures(found);
                other.figures(found);
            }
        }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Figure {
    /// The figure as it is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measure(id) => f.write_str(id),
            Self::Count(count) => count.fmt(f),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let site = self.site.as_ref();
        let (name, mut arguments) = match self.of {
            Counted::JobsAt => (JOBS_AT, site.map(|site| format!("\"{site}\"")).into_iter().collect()),
            Counted::Ended => (ENDED, site.map(|site| format!("at=\"{site}\"")).into_iter().collect()),
            Counted::Events(kind) => {
                let kind = format!("\"{}\"", kind.name());
                let site = site.map(|site| format!("at=\"{site}\""));
                (EVENTS, [kind].into_iter().chain(site).collect::<Vec<_>>())
            }
        };
        let ends = [("after", self.after, Time::ZERO), ("before", self.before, Time::NEVER)];
        for (key, at, default) in ends {
            arguments
                .extend((at != default).then(|| format!("{key}=\"{}\"", at.since(Time::ZERO).written())));
        }
        write!(f, "{name}({})", arguments.join(", "))
    }
}

const JOBS_AT: &str = "jobs_at";
const ENDED: &str = "ended";
const EVENTS: &str = "events";

impl FromStr for Expectation {
    type Err = ExpectationError;

    fn from_str(text: &str) -> Result<Self, ExpectationError> {
        let tokens = tokens(text)?;
        let mut reader = Reader { tokens: &tokens, at: 0, depth: 0 };
        let left = reader.sum()?;
        let relation = match reader.next() {
            Some(Token::Relation(relation)) => *relation,
            Some(Token::Sign("=")) => return wrong("`=` is written `==`"),
            Some(token) => return wrong(format!("`{}` is no relation: {RELATIONS}", token.text())),
            None => return wrong(format!("this compares nothing: {RELATIONS}")),
        };
        let right = reader.sum()?;
        match reader.next() {
            None => Ok(Self { text: text.trim().to_owned(), left, relation, right }),
            Some(Token::Relation(_)) => {
                wrong("an expectation has one relation: write two expectations, each in its quotes")
            }
            Some(token) => wrong(format!("`{}` does not belong there", token.text())),
        }
    }
}

const RELATIONS: &str =
    "write `==`, `!=`, `<=`, `<`, `>=` or `>` between two figures, as in `completed == submitted`";

fn wrong<T>(message: impl Into<String>) -> Result<T, ExpectationError> {
    Err(ExpectationError(message.into()))
}

/// A part of an expectation as written.
#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Number(&'a str),
    Word(&'a str),
    Quoted(&'a str),
    Relation(Relation),
    Sign(&'a str),
}

impl Token<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Number(text) | Self::Word(text) | Self::Quoted(text) | Self::Sign(text) => text,
            Self::Relation(relation) => relation.sign(),
        }
    }
}

impl Relation {
    const ALL: [(&'static str, Self); 6] = [
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("<", Self::Below),
        (">", Self::Above),
    ];

    fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(_, relation)| *relation == self).map_or("", |(sign, _)| sign)
    }
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, ExpectationError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let until = |end: &dyn Fn(char) -> bool| rest.find(end).unwrap_or(rest.len());
        let (token, length) = if let Some((sign, relation)) =
            Relation::ALL.into_iter().find(|(sign, _)| rest.starts_with(sign))
        {
            (Token::Relation(relation), sign.len())
        } else if first.is_ascii_digit() {
            let length = until(&|c| !(c.is_ascii_digit() || matches!(c, '.' | '_')));
            (Token::Number(&rest[..length]), length)
        } else if first.is_alphabetic() || first == '_' {
            let length = until(&|c| !(c.is_alphanumeric() || matches!(c, '.' | '_')));
            (Token::Word(&rest[..length]), length)
        } else if matches!(first, '"' | '\'') {
            let Some(length) = rest[1..].find(first) else {
                return wrong(format!("a quote has no end: {rest}"));
            };
            (Token::Quoted(&rest[1..=length]), length + 2)
        } else if "+-*/(),=%".contains(first) {
            (Token::Sign(&rest[..1]), 1)
        } else {
            return wrong(format!("`{first}` does not belong into an expectation"));
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

struct Reader<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    depth: u32,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<&'t Token<'t>> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<&'t Token<'t>> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// Takes a sign, if it comes next.
    fn take(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Sign(next)) if *next == sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn chain(
        &mut self,
        operators: [(&str, Operator); 2],
        part: fn(&mut Self) -> Result<Sum, ExpectationError>,
    ) -> Result<Sum, ExpectationError> {
        let mut sum = part(self)?;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.take(sign)) {
            sum = Sum::Both(Box::new(sum), *operator, Box::new(part(self)?));
        }
        Ok(sum)
    }

    fn sum(&mut self) -> Result<Sum, ExpectationError> {
        self.chain([("+", Operator::Plus), ("-", Operator::Minus)], Self::product)
    }

    fn product(&mut self) -> Result<Sum, ExpectationError> {
        self.chain([("*", Operator::Times), ("/", Operator::Over)], Self::factor)
    }

    fn factor(&mut self) -> Result<Sum, ExpectationError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return wrong(format!("this is nested more than {DEEPEST} deep"));
        }
        let factor = match self.next() {
            Some(Token::Number(text)) => self.number(text).map(Sum::Number),
            Some(Token::Quoted(text)) => quantity(text).map(Sum::Number),
            Some(Token::Word(name)) if matches!(self.peek(), Some(Token::Sign("("))) => {
                self.count(name).map(|count| Sum::Figure(Figure::Count(count)))
            }
            Some(Token::Word(name)) => Ok(Sum::Figure(Figure::Measure((*name).to_owned()))),
            Some(Token::Sign("-")) => {
                let of = Box::new(self.factor()?);
                Ok(Sum::Both(Box::new(Sum::Number(0.0)), Operator::Minus, of))
            }
            Some(Token::Sign("(")) => {
                let sum = self.sum()?;
                if self.take(")") { Ok(sum) } else { wrong("a parenthesis has no end") }
            }
            Some(token) => wrong(format!("`{}` is no figure", token.text())),
            None => wrong("a figure is missing at the end"),
        };
        self.depth -= 1;
        factor
    }

    /// A number, with the unit that follows it.
    fn number(&mut self, text: &str) -> Result<f64, ExpectationError> {
        if self.take("%") {
            return quantity(&format!("{text} %"));
        }
        match self.peek() {
            Some(Token::Word(unit)) => {
                self.at += 1;
                quantity(&format!("{text} {unit}"))
            }
            _ => quantity(text),
        }
    }

    fn count(&mut self, name: &str) -> Result<Count, ExpectationError> {
        let counts = [JOBS_AT, ENDED, EVENTS];
        if !counts.contains(&name) {
            let near = near(name, counts);
            return wrong(format!("there is no count `{name}`{near}; there are {}", listed(counts)));
        }
        self.at += 1;
        let (mut site, mut kind) = (None, None);
        let (mut after, mut before) = (Time::ZERO, Time::NEVER);
        while !self.take(")") {
            match (self.next(), self.peek()) {
                (Some(Token::Quoted(text)), _) => match name {
                    JOBS_AT if site.is_none() => site = Some((*text).to_owned()),
                    EVENTS if kind.is_none() => kind = Some(event(text)?),
                    _ => return wrong(format!("`{text}` in `{name}` has no key: write `at=\"{text}\"`")),
                },
                (Some(Token::Word(key)), Some(Token::Sign("="))) => {
                    self.at += 1;
                    let Some(Token::Quoted(text)) = self.next() else {
                        return wrong(format!("`{key}` needs a value in quotes"));
                    };
                    match *key {
                        "at" if site.is_none() => site = Some((*text).to_owned()),
                        "after" => after = instant(text)?,
                        "before" => before = instant(text)?,
                        _ => {
                            let keys = ["at", "after", "before"];
                            let near = near(key, keys);
                            let message = format!(
                                "`{name}` has no `{key}` there{near}; it takes {}, each once",
                                listed(keys)
                            );
                            return wrong(message);
                        }
                    }
                }
                (Some(token), _) => {
                    return wrong(format!("`{}` does not belong into `{name}(...)`", token.text()));
                }
                (None, _) => return wrong(format!("`{name}(` has no end")),
            }
            if !self.take(",") && !matches!(self.peek(), Some(Token::Sign(")"))) {
                return wrong(format!("`{name}(` has no end"));
            }
        }
        if before <= after {
            return wrong(format!("`{name}` counts nothing: its `before` is not later than its `after`"));
        }
        let of = match (name, kind) {
            (JOBS_AT, _) if site.is_none() => {
                return wrong("`jobs_at` needs a site, as in `jobs_at(\"delft\")`");
            }
            (JOBS_AT, _) => Counted::JobsAt,
            (ENDED, _) => Counted::Ended,
            (_, Some(kind)) => Counted::Events(kind),
            (_, None) => return wrong("`events` needs a kind of event, as in `events(\"refused\")`"),
        };
        Ok(Count { of, site, after, before })
    }
}

/// A number, a length of time in seconds, or a percentage as a share.
fn quantity(text: &str) -> Result<f64, ExpectationError> {
    let text = text.trim();
    let number = |text: &str| text.trim().replace('_', "").parse::<f64>().ok().filter(|n| n.is_finite());
    let value = match text.strip_suffix('%') {
        Some(percentage) => number(percentage).map(|number| number / 100.0),
        None => number(text).or_else(|| text.parse::<Span>().ok().map(Span::as_secs_f64)),
    };
    value.ok_or_else(|| {
        let message = "is not a number, a length of time such as `2 h`, or a percentage such as `30 %`";
        ExpectationError(format!("`{text}` {message}"))
    })
}

fn instant(text: &str) -> Result<Time, ExpectationError> {
    let span = text.parse::<Span>().map_err(|error| ExpectationError(error.to_string()))?;
    Ok(Time::ZERO + span)
}

fn event(text: &str) -> Result<EventKind, ExpectationError> {
    EventKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
        let near = near(text, EventKind::ALL.map(EventKind::name));
        ExpectationError(format!("there is no kind of event `{text}`{near}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(figure: &Figure) -> Option<f64> {
        match figure {
            Figure::Measure(id) => match id.as_str() {
                "completed" => Some(380.0),
                "submitted" => Some(400.0),
                "makespan" => Some(7_200.0),
                "wasted" => Some(0.3),
                _ => None,
            },
            Figure::Count(count) if count.site.as_deref() == Some("hole") => Some(7.0),
            Figure::Count(_) => Some(0.0),
        }
    }

    fn read(text: &str) -> Expectation {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn expectations_are_computed() {
        for (text, holds) in [
            ("completed == submitted", false),
            ("completed != submitted", true),
            ("submitted - completed <= 5 % * submitted", true),
            ("submitted - completed < \"5 %\" * submitted", false),
            ("makespan <= 2 h", true),
            ("makespan <= \"119 min\"", false),
            ("makespan < 7_200.5", true),
            ("wasted<=30%", true),
            ("2 + 3 * 4 == 14", true),
            ("(2 + 3) * 4 == 20", true),
            ("8 / 2 / 2 == 2", true),
            ("10 - 2 - 3 == 5", true),
            ("-1 < 0", true),
            ("jobs_at(\"hole\", after=\"3 h\") > 0", true),
            ("jobs_at('elsewhere') > 0", false),
            ("events('refused', at='hole', before='1 d') == 7", true),
            ("ended(after='1 h', before='2 h') >= 1", false),
        ] {
            assert_eq!(read(text).holds(&value), Some(holds), "{text}");
            assert_eq!(read(text).to_string(), text);
        }
        assert_eq!(read("mean_wait < 3").holds(&value), None, "it has no value");
        assert_eq!(read("completed / 0 < 3").holds(&value), None);
    }

    #[test]
    fn figures_are_listed_once_and_written_again() {
        let expectation = read(
            "jobs_at('hole', after='3 h') + completed > completed * events('given-up', at='hole', before='90 min')",
        );
        let figures: Vec<String> = expectation.figures().iter().map(ToString::to_string).collect();
        let written = [
            "jobs_at(\"hole\", after=\"3 h\")",
            "completed",
            "events(\"given-up\", at=\"hole\", before=\"1.5 h\")",
        ];
        assert_eq!(figures, written);
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, problem) in [
            ("completed", "this compares nothing"),
            ("", "a figure is missing at the end"),
            ("completed = submitted", "`=` is written `==`"),
            ("completed == ", "a figure is missing at the end"),
            ("completed submitted", "`submitted` is no relation"),
            ("1 < completed < 2", "write two expectations"),
            ("completed == 3 4", "`4` does not belong there"),
            ("makespan <= 3 parsecs", "`3 parsecs` is not a number, a length of time"),
            ("makespan <= \"soon\"", "`soon` is not a number"),
            ("makespan <= 1.2.3", "`1.2.3` is not a number"),
            ("makespan <= (2", "a parenthesis has no end"),
            ("makespan <= \"2 h", "a quote has no end"),
            ("makespan <= 2 & 3", "`&` does not belong into an expectation"),
            ("job_at('a') > 0", "there is no count `job_at` (did you mean `jobs_at`?)"),
            ("jobs_at() > 0", "`jobs_at` needs a site"),
            ("jobs_at('a', 'b') > 0", "write `at=\"b\"`"),
            ("jobs_at('a', at='b') > 0", "`jobs_at` has no `at` there"),
            ("jobs_at('a', until='b') > 0", "`jobs_at` has no `until` there"),
            ("jobs_at('a', after=3) > 0", "`after` needs a value in quotes"),
            ("jobs_at('a', after='3 x') > 0", "`3 x` is not"),
            ("jobs_at('a', after='3 h', before='3 h') > 0", "counts nothing"),
            ("jobs_at('a' > 0", "`jobs_at(` has no end"),
            ("jobs_at('a'", "`jobs_at(` has no end"),
            ("events() > 0", "`events` needs a kind"),
            ("events('refuse') > 0", "there is no kind of event `refuse` (did you mean `refused`?)"),
            ("* > 0", "`*` is no figure"),
        ] {
            let error = text.parse::<Expectation>().expect_err(text).to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
        let deep = "(".repeat(10_000) + "1" + &")".repeat(10_000) + " < 2";
        assert!(deep.parse::<Expectation>().is_err());
    }
}
