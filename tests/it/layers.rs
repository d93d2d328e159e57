//! The order of the modules of `src`: a module uses only those above it in [`ORDER`], and no cycle of `use` lines passes through
//! files of different folders.
//!
//! The test reads the sources: `use` lines and paths that begin with `crate::`, each followed through re-exports to the file that
//! defines its item. Test modules may use any module.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules, ground floor first; those of one line may use what stands left of them.
const ORDER: [&[&str]; 12] = [
    &["units", "model"],
    &["workload", "workflow", "formats"],
    &["platform"],
    &["search", "forecast", "sharing", "agreement"],
    &["local", "broker"],
    &["entity", "grid", "runtime", "store"],
    &["metrics", "output", "verify"],
    &["scenario"],
    &["experiment"],
    &["study"],
    &["report"],
    &["cli"],
];

/// The sources, each by the path of its module.
struct Sources {
    files: BTreeMap<Vec<String>, Source>,
}

struct Source {
    path: PathBuf,
    /// Paths that it uses, from the root of the crate.
    uses: BTreeSet<Vec<String>>,
    /// What it gives on under another path: name (`*` for everything) and where it comes from.
    gives_on: Vec<(String, Vec<String>)>,
    /// What it defines itself.
    defines: BTreeSet<String>,
}

impl Sources {
    fn read(root: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let module = module_of(path.strip_prefix(root).unwrap());
                    let is_test = module.iter().any(|part| part == "tests");
                    if !is_test && module != ["main"] {
                        let source = Source::read(&path, &module);
                        files.insert(module, source);
                    }
                }
            }
        }
        Self { files }
    }

    /// The module whose file defines what `path` names; `None` if it is of another crate.
    fn definer(&self, path: &[String], depth: usize) -> Option<&[String]> {
        let known = (1..=path.len()).rev().find(|length| self.files.contains_key(&path[..*length]))?;
        let (module, source) = self.files.get_key_value(&path[..known])?;
        let Some(item) = path.get(known) else { return Some(module) };
        if depth > 0 && !source.defines.contains(item) {
            let given = source.gives_on.iter().filter(|(name, _)| name == item || name == "*");
            for (name, from) in given {
                let mut from = from.clone();
                if name == "*" {
                    from.push(item.clone());
                }
                from.extend_from_slice(&path[known + 1..]);
                if let Some(found) = self.definer(&from, depth - 1)
                    && (name != "*" || self.files[found].defines.contains(item))
                {
                    return Some(found);
                }
            }
        }
        Some(module)
    }

    /// The modules that each module uses.
    fn graph(&self) -> BTreeMap<&[String], BTreeSet<&[String]>> {
        let edges = self.files.iter().map(|(module, source)| {
            let used = source.uses.iter().filter_map(|path| self.definer(path, 8));
            (&module[..], used.filter(|used| *used != &module[..]).collect())
        });
        edges.collect()
    }

    /// The folder that a module's file belongs to: its own, if it has one.
    fn folder<'a>(&self, module: &'a [String]) -> &'a [String] {
        let has_own = self.files.keys().any(|other| other.len() > module.len() && other.starts_with(module));
        if has_own { module } else { &module[..module.len().saturating_sub(1)] }
    }
}

impl Source {
    fn read(path: &Path, module: &[String]) -> Self {
        let text = without_comments_and_tests(&fs::read_to_string(path).unwrap());
        let mut source = Self {
            path: path.to_owned(),
            uses: BTreeSet::new(),
            gives_on: Vec::new(),
            defines: BTreeSet::new(),
        };
        let mut rest = String::new();
        for statement in text.split_inclusive(';') {
            let begin = statement.rfind("use ").filter(|at| is_use(&statement[..*at]));
            let Some(begin) = begin else {
                rest.push_str(statement);
                continue;
            };
            rest.push_str(&statement[..begin]);
            let last = statement[..begin].lines().last().unwrap_or_default();
            for (leaf, name) in leaves(statement[begin + 4..].trim_end_matches(';')) {
                let Some(path) = absolute(&leaf, module) else { continue };
                if last.trim_start().starts_with("pub") {
                    source.gives_on.push((name, path));
                } else {
                    source.uses.insert(path.into_iter().filter(|part| part != "*").collect());
                }
            }
        }
        for word in rest.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
            if word.starts_with("crate::") || word.starts_with("super::") {
                let leaf: Vec<String> = parts(word);
                source.uses.extend(absolute(&leaf, module));
            }
        }
        let words: Vec<&str> = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        for pair in words.windows(2) {
            if ["struct", "enum", "fn", "trait", "type", "const", "static", "mod"].contains(&pair[0]) {
                source.defines.insert(pair[1].to_owned());
            }
        }
        source
    }
}

fn module_of(path: &Path) -> Vec<String> {
    let module: Vec<String> =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module == ["lib"] { Vec::new() } else { module }
}

/// The text without comments, and without the modules of tests at its end.
fn without_comments_and_tests(text: &str) -> String {
    let mut kept = String::new();
    for line in text.lines() {
        if line == "#[cfg(test)]" && text.contains("#[cfg(test)]\nmod ") && text.contains("mod tests {") {
            break;
        }
        let code = line.find("//").map_or(line, |at| &line[..at]);
        // Who may see an item is no use of one.
        kept.push_str(&code.replace("pub(in crate", "pub(in "));
        kept.push('\n');
    }
    kept
}

/// Whether what stands before a `use` lets it be one.
fn is_use(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    line.is_empty() || line.starts_with("pub")
}

/// The paths of a tree of a `use` line, each with the name that it has here.
fn leaves(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut path = parts(path);
        if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
            path.pop();
        }
        let name =
            if alias.is_empty() { path.last().cloned().unwrap_or_default() } else { alias.trim().to_owned() };
        return vec![(path, name)];
    };
    let head = parts(&tree[..open]);
    let inner = &tree[open + 1..tree.rfind('}').unwrap()];
    let (mut depth, mut begin, mut found) = (0, 0, Vec::new());
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let piece = &inner[begin..at];
                begin = at + 1;
                for (path, name) in leaves(piece).into_iter().filter(|(path, _)| !path.is_empty()) {
                    let own = path.as_slice() == ["self"];
                    let whole: Vec<String> =
                        head.iter().cloned().chain(path.into_iter().filter(|_| !own)).collect();
                    let name = if own { head.last().cloned().unwrap_or_default() } else { name };
                    found.push((whole, name));
                }
            }
            _ => {}
        }
    }
    found
}

fn parts(path: &str) -> Vec<String> {
    path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The path from the root of the crate; `None` if it is of another crate.
fn absolute(path: &[String], module: &[String]) -> Option<Vec<String>> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let (base, rest) = match path.first()?.as_str() {
        "crate" => (&[][..], &path[1..]),
        "self" => (module, &path[1..]),
        "super" => (module.get(..module.len().checked_sub(ups)?)?, &path[ups..]),
        // A child of this module, as `pub use view::View` names it; another crate has no such file.
        _ => (module, path),
    };
    Some(base.iter().chain(rest).cloned().collect())
}

fn sources() -> Sources {
    Sources::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

#[test]
fn a_module_uses_only_those_above_it() {
    let sources = sources();
    let order: Vec<&str> = ORDER.concat();
    let rank = |module: &[String]| {
        let top = module.first()?;
        Some(
            order
                .iter()
                .position(|name| name == top)
                .unwrap_or_else(|| panic!("`{top}` has no place in the order")),
        )
    };
    let mut wrong = Vec::new();
    for (module, used) in sources.graph() {
        let Some(own) = rank(module) else { continue };
        for used in used.into_iter().filter(|used| rank(used).is_some_and(|other| other > own)) {
            wrong.push(format!("{} uses {}", sources.files[module].path.display(), used.join("::")));
        }
    }
    assert!(wrong.is_empty(), "modules that use one below them:\n{}", wrong.join("\n"));
}

#[test]
fn no_circle_goes_through_files_of_different_folders() {
    let sources = sources();
    let graph = sources.graph();
    let circles = circles(&graph);
    let across: Vec<String> = circles
        .iter()
        .filter(|circle| {
            circle.iter().map(|module| sources.folder(module)).collect::<BTreeSet<_>>().len() > 1
        })
        .map(|circle| {
            let lines = circle.iter().map(|module| {
                let to: Vec<String> =
                    graph[module].iter().filter(|to| circle.contains(*to)).map(|to| to.join("::")).collect();
                format!("  {} -> {}", module.join("::"), to.join(", "))
            });
            lines.collect::<Vec<_>>().join("\n")
        })
        .collect();
    assert!(across.is_empty(), "circles:\n{}", across.join("\n\n"));
}

/// The strongly connected components of more than one module (Tarjan).
fn circles<'a>(graph: &BTreeMap<&'a [String], BTreeSet<&'a [String]>>) -> Vec<BTreeSet<&'a [String]>> {
    #[derive(Default)]
    struct Search<'a> {
        index: BTreeMap<&'a [String], usize>,
        low: BTreeMap<&'a [String], usize>,
        stack: Vec<&'a [String]>,
        found: Vec<BTreeSet<&'a [String]>>,
    }
    fn visit<'a>(
        at: &'a [String],
        graph: &BTreeMap<&'a [String], BTreeSet<&'a [String]>>,
        search: &mut Search<'a>,
    ) {
        let index = search.index.len();
        search.index.insert(at, index);
        search.low.insert(at, index);
        search.stack.push(at);
        for to in &graph[at] {
            if !search.index.contains_key(to) {
                visit(to, graph, search);
                let low = search.low[at].min(search.low[to]);
                search.low.insert(at, low);
            } else if search.stack.contains(to) {
                let low = search.low[at].min(search.index[to]);
                search.low.insert(at, low);
            }
        }
        if search.low[at] == index {
            let begin = search.stack.iter().position(|on| *on == at).unwrap();
            let circle: BTreeSet<_> = search.stack.split_off(begin).into_iter().collect();
            if circle.len() > 1 {
                search.found.push(circle);
            }
        }
    }
    let mut search = Search::default();
    for at in graph.keys() {
        if !search.index.contains_key(at) {
            visit(at, graph, &mut search);
        }
    }
    search.found
}
