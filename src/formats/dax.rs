//! DAX, the XML of Pegasus before version 5: `<job id name runtime>`, `<uses file link size>`, `<child ref><parent ref>`.
//!
//! A job needs the attribute `runtime` and a file a `size`, which the workflow generator of Pegasus writes. Profiles, arguments and
//! executables are not read. A DTD, and with it every entity, is refused, as is nesting deeper than any DAX has.

use std::io::Read;

use roxmltree::{Document, Node, ParsingOptions};
use rustc_hash::FxHashMap;

use super::input::too_many;
use super::workflow_file::{ReadWorkflow, Uses, WorkflowFileError, built, whole};
use crate::units::exponential;
use crate::workflow::{Draft, Part, TaskDraft};

/// The deepest nesting that is read; a DAX needs 4.
const DEEPEST: usize = 32;
/// The longest tag that is read, in bytes.
const LONGEST: usize = 65_536;
/// The lowest run time in seconds and the lowest size in bytes that are read, as zero: Pegasus' generator draws from normal distributions,
/// and what it published has both below zero.
const LOWEST_RUNTIME: f64 = -10.0;
const LOWEST_SIZE: f64 = -1e8;

/// Reads a workflow, plain or compressed with gzip; `name` is its name in messages. The name of a task is the `id` of its job, its type the
/// `name`.
///
/// # Errors
/// [`WorkflowFileError`] names the file and the line.
pub fn read(name: &str, input: Box<dyn Read + Send>) -> Result<ReadWorkflow, WorkflowFileError> {
    read_text(name, &whole(name, input)?)
}

/// As [`read`], of the bytes of the plain file.
pub(super) fn read_text(name: &str, text: &[u8]) -> Result<ReadWorkflow, WorkflowFileError> {
    let wrong = |place: Option<usize>, problem: String, hint| {
        WorkflowFileError::new(name, place.map(|line| format!("line {line}")), problem, hint)
    };
    let text = str::from_utf8(text).map_err(|error| {
        let line = 1 + memchr::memchr_iter(b'\n', &text[..error.valid_up_to()]).count();
        wrong(Some(line), "the text is not UTF-8".to_owned(), "save it as UTF-8")
    })?;
    if let Some((line, problem)) = excess(text) {
        return Err(wrong(
            Some(line),
            problem,
            "a DAX has jobs right below `<adag>`, each with a few attributes",
        ));
    }
    let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| match error {
        roxmltree::Error::DtdDetected => wrong(
            None,
            "it has a document type declaration, which may define entities".to_owned(),
            "remove `<!DOCTYPE ...>`; a DAX needs none",
        ),
        error => wrong(Some(error.pos().row as usize), format!("not XML: {error}"), ""),
    })?;
    let (runtimes, sizes) = (BelowZero::default(), BelowZero::default());
    Dax { name, document: &document, draft: Draft::default(), at: Vec::new(), runtimes, sizes }.read()
}

/// The first line at which elements are nested deeper than [`DEEPEST`] or a tag is longer than [`LONGEST`], or the end of a text with far more
/// elements and attributes than its jobs need, found without recursion and before
/// the parser, which may recurse and compares each attribute of a tag with all others.
///
/// It counts what looks like a tag, so text with `<` in a comment may be taken for one; a file that is well nested is never refused, since
/// comments and character data are passed over.
fn excess(text: &str) -> Option<(usize, String)> {
    let (bytes, mut depth, mut at) = (text.as_bytes(), 0_usize, 0);
    let (mut values, mut jobs) = (0, 0);
    let after = |from: usize, end: &str| {
        memchr::memmem::find(&bytes[from..], end.as_bytes()).map(|found| from + found + end.len())
    };
    while let Some(found) = memchr::memchr(b'<', &bytes[at..]) {
        let open = at + found;
        let rest = &bytes[open..];
        let passed = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
            .into_iter()
            .find(|(begin, _)| rest.starts_with(begin.as_bytes()));
        if let Some((begin, end)) = passed {
            match after(open + begin.len(), end) {
                Some(passed) => at = passed,
                None => break,
            }
            continue;
        }
        let Some((close, quoted)) = end_of_tag(bytes, open) else { break };
        // An element, and the text behind it.
        values += 2 + quoted;
        jobs += usize::from(rest.starts_with(b"<job"));
        match (rest.get(1), bytes[close - 1]) {
            (Some(b'/'), _) => depth = depth.saturating_sub(1),
            (_, b'/') => {}
            _ => depth += 1,
        }
        let line = || 1 + memchr::memchr_iter(b'\n', &bytes[..open]).count();
        if depth > DEEPEST {
            return Some((line(), format!("elements are nested deeper than {DEEPEST}")));
        }
        if close - open > LONGEST {
            return Some((line(), format!("a tag has more than {LONGEST} bytes")));
        }
        at = close + 1;
    }
    too_many(values, jobs).map(|problem| (1 + memchr::memchr_iter(b'\n', bytes).count(), problem))
}

/// The `>` of the tag that begins at `open`, and the number of quoted values before it; one within quotes is none.
fn end_of_tag(bytes: &[u8], open: usize) -> Option<(usize, usize)> {
    let (mut at, mut quoted) = (open, 0);
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', &bytes[at..])?;
        match bytes[at] {
            b'>' => return Some((at, quoted)),
            quote => at += 2 + memchr::memchr(quote, &bytes[at + 1..])?,
        }
        quoted += 1;
    }
}

/// Where the parts of a job stand in the text.
#[derive(Default)]
struct Places {
    job: usize,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    parents: Vec<usize>,
}

/// Values below zero that were read as zero.
#[derive(Default)]
struct BelowZero {
    count: usize,
    lowest: f64,
}

impl BelowZero {
    /// `value`, or zero if it is below, but not below `least`.
    fn raised(&mut self, value: f64, least: f64) -> f64 {
        if !(least..0.0).contains(&value) {
            return value;
        }
        self.count += 1;
        self.lowest = self.lowest.min(value);
        0.0
    }

    fn note(&self, what: &str, unit: &str) -> Option<String> {
        let count = crate::units::counted(self.count, what);
        (self.count > 0).then(|| format!("{count} below zero, the lowest {} {unit}: read as 0", self.lowest))
    }
}

struct Dax<'a, 'input> {
    name: &'a str,
    document: &'a Document<'input>,
    draft: Draft,
    at: Vec<Places>,
    runtimes: BelowZero,
    sizes: BelowZero,
}

impl<'a, 'input> Dax<'a, 'input> {
    fn place(&self, offset: usize) -> Option<String> {
        Some(format!("line {}", self.document.text_pos_at(offset).row))
    }

    fn wrong(&self, node: Node, problem: String, hint: &'static str) -> WorkflowFileError {
        WorkflowFileError::new(self.name, self.place(node.range().start), problem, hint)
    }

    fn required(&self, node: Node<'a, 'input>, key: &str) -> Result<&'a str, WorkflowFileError> {
        node.attribute(key).ok_or_else(|| {
            let problem = format!("`<{}>` has no attribute `{key}`", node.tag_name().name());
            self.wrong(node, problem, "")
        })
    }

    fn number(&self, node: Node, key: &str, of: &str, hint: &'static str) -> Result<f64, WorkflowFileError> {
        let Some(written) = node.attribute(key) else {
            return Err(self.wrong(node, format!("{of} has no `{key}`"), hint));
        };
        let number = written.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| self.wrong(node, format!("`{key}` of {of} is `{written}`, not a number"), hint))
    }

    fn read(mut self) -> Result<ReadWorkflow, WorkflowFileError> {
        let root = self.document.root_element();
        if root.tag_name().name() != "adag" {
            let problem = format!("the root element is `<{}>`, not `<adag>`", root.tag_name().name());
            return Err(self.wrong(root, problem, "only DAX is read of the formats in XML"));
        }
        let title = root.attribute("name").filter(|name| !name.is_empty() && *name != "test");
        self.draft.name = title.unwrap_or(self.name).to_owned();
        let mut uses = Uses::default();
        let children = || root.children().filter(Node::is_element);
        for node in children() {
            match node.tag_name().name() {
                "job" => self.job(node, &mut uses)?,
                kind @ ("dax" | "dag") => {
                    let problem = format!("`<{kind}>`, a workflow within the workflow, is not supported");
                    return Err(self.wrong(node, problem, "put its jobs into this file"));
                }
                _ => {}
            }
        }
        let mut by_name: FxHashMap<String, usize> = FxHashMap::default();
        for (at, task) in self.draft.tasks.iter().enumerate() {
            if by_name.insert(task.name.clone(), at).is_some() {
                let problem = format!("two jobs have the id `{}`", task.name);
                let place = self.place(self.at[at].job);
                return Err(WorkflowFileError::new(self.name, place, problem, "give one another id"));
            }
        }
        for child in children().filter(|node| node.tag_name().name() == "child") {
            let id = self.required(child, "ref")?;
            let Some(task) = by_name.get(id) else {
                return Err(self.wrong(
                    child,
                    format!("the child `{id}` is no job"),
                    "use the `id` of a job, or remove it",
                ));
            };
            for parent in child.children().filter(|node| node.tag_name().name() == "parent") {
                let of = self.required(parent, "ref")?.to_owned();
                self.draft.tasks[*task].parents.push(of);
                self.at[*task].parents.push(parent.range().start);
            }
        }
        let below = [self.runtimes.note("run time", "s"), self.sizes.note("size", "bytes")];
        let mut notes: Vec<String> = below.into_iter().flatten().collect();
        notes.extend(uses.resolve(&mut self.draft).map_err(|(at, nth, problem)| {
            WorkflowFileError::new(
                self.name,
                self.place(self.at[at].inputs[nth]),
                problem,
                "name the job that writes it as its parent",
            )
        })?);
        let draft = std::mem::take(&mut self.draft);
        let workflow = built(self.name, draft, |part| {
            let offset = match part {
                Part::Parent(at, nth) => self.at[at].parents[nth],
                // One of several files that are meant has no place of its own.
                Part::Input(at, nth) => self.at[at].inputs.get(nth).copied().unwrap_or(self.at[at].job),
                Part::Output(at, nth) => self.at[at].outputs[nth],
                Part::Task(at) | Part::Runtime(at) => self.at[at].job,
                Part::Name => root.range().start,
                _ => return None,
            };
            self.place(offset)
        })?;
        Ok(ReadWorkflow { workflow, notes })
    }

    /// Reads a job with its files.
    fn job(&mut self, node: Node<'a, 'input>, uses: &mut Uses<'a>) -> Result<(), WorkflowFileError> {
        let id = self.required(node, "id")?;
        let of = format!("the job `{id}`");
        let runtime = self.number(node, "runtime", &of, "give it its run time in seconds")?;
        let runtime = self.runtimes.raised(runtime, LOWEST_RUNTIME);
        let at = self.draft.tasks.len();
        let mut task = TaskDraft::new(id, runtime);
        if let Some(kind) = node.attribute("name") {
            kind.clone_into(&mut task.kind);
        }
        let mut places = Places { job: node.range().start, ..Places::default() };
        for used in node.children().filter(|node| node.tag_name().name() == "uses") {
            // `file` up to DAX 2, `name` in DAX 3.
            let Some(file) = used.attribute("file").or_else(|| used.attribute("name")) else {
                return Err(self.wrong(used, format!("a file of {of} has no name"), "give it `file`"));
            };
            let (names, offsets, writes) =
                match used.attribute("link").unwrap_or_default().to_ascii_lowercase().as_str() {
                    "input" => (&mut task.inputs, &mut places.inputs, false),
                    "output" => (&mut task.outputs, &mut places.outputs, true),
                    "none" => continue,
                    link => {
                        let problem =
                            format!("`link` of the file `{file}` is `{link}`, not `input` or `output`");
                        return Err(self.wrong(
                            used,
                            problem,
                            "give what a job writes another name than what it reads",
                        ));
                    }
                };
            let of = format!("the file `{file}`");
            let bytes = self.number(used, "size", &of, "give it its size in bytes")?;
            let bytes = self.sizes.raised(bytes, LOWEST_SIZE);
            if bytes < 0.0 {
                let problem =
                    format!("`size` of the file `{file}` is {}, which is negative", exponential(bytes));
                return Err(self.wrong(used, problem, ""));
            }
            uses.add(at, file, bytes, writes);
            names.push(file.to_owned());
            offsets.push(used.range().start);
        }
        self.draft.task(task);
        self.at.push(places);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
