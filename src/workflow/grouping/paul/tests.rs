use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::workflow::grouping::{Grouping, GroupingRegistry};
use crate::workflow::tests::drafts;
use crate::workflow::{Draft, TaskDraft};

fn named(tasks: &[(&str, f64, &[&str])]) -> Draft {
    let mut draft = Draft::named("by hand");
    for (name, secs, after) in tasks {
        let task = TaskDraft::new(*name, *secs);
        draft.task(after.iter().fold(task, |task, before| task.after(*before)));
    }
    draft
}

fn paul(written: &str) -> Box<dyn Group> {
    GroupingRegistry::standard().build(&written.parse().unwrap()).unwrap()
}

/// The groups as names of tasks.
fn groups(workflow: &Workflow, by: &dyn Group) -> Vec<String> {
    let grouping = Grouping::of(workflow, by).unwrap();
    let name = |task: &TaskId| workflow.task(*task).name.clone();
    grouping.groups().iter().map(|group| group.tasks.iter().map(name).collect()).collect()
}

/// Fourteen tasks between S (5 s) and T (2 s), five ways apart; x and y are storage tasks.
///
/// ```text
///     a 1 ─┐                      ┌──────────┐
/// S ─ b 2 ─┴ d 3 ─ T    S ─ c 8 ─ T    S ─ u 1 ─ w 2 ─ v 1 ─ T
/// S ─ l 3 ─ m 1 ─ r 4 ─ T    S ─ x ─ y ─ T
/// ```
fn by_hand() -> Workflow {
    let mut draft = named(&[
        ("S", 5.0, &[]),
        ("a", 1.0, &["S"]),
        ("b", 2.0, &["S"]),
        ("c", 8.0, &["S"]),
        ("d", 3.0, &["a", "b"]),
        ("u", 1.0, &["S"]),
        ("v", 1.0, &["u", "w"]),
        ("w", 2.0, &["u"]),
        ("m", 1.0, &["l"]),
        ("l", 3.0, &["S"]),
        ("r", 4.0, &["m"]),
        ("x", 1.0, &[]),
        ("y", 1.0, &[]),
        ("T", 2.0, &["c", "d", "v", "r"]),
    ]);
    for (file, bytes, writer, reader) in [("p", 3.0, 0, 11), ("q", 3.0, 11, 12), ("o", 1.0, 12, 13)] {
        draft.file(file, bytes);
        draft.tasks[writer].outputs.push(file.to_owned());
        draft.tasks[reader].inputs.push(file.to_owned());
    }
    draft.build().unwrap()
}

/// Fine-grained is less than 4 s of work, or less than 10 bytes of a storage task. `crit(S)` is 5 + 8 + 2 = 15 s; in bytes, along S, x, y
/// and T, 3 + 6 + 4 + 1 = 14.
///
/// - S: 5 s, not fine-grained.
/// - a (1): with S it would be 6 s before c (8) and T (2), crit 16, more than 15. With d: 4 s after b, which ends at 5 + 2, and before T,
///   crit 7 + 4 + 2 = 13. So a and d merge; 4 s are not fine-grained.
/// - b (2): with S crit 7 + 8 + 2 = 17. With ad, after S alone: 5 + 6 + 2 = 13. They merge.
/// - c: 8 s. d is processed.
/// - u (1): with S crit 16. With v a cycle: u, w, v. With w: 5 + 3 + 1 + 2 = 11. They merge; 3 s are fine-grained. Again with S: crit
///   18. With v, no cycle now: 5 + 4 + 2 = 11. They merge.
/// - v, w: processed.
/// - m (1): with l 5 + 4 + 4 + 2 = 15; with r 5 + 3 + 5 + 2 = 15. Both are as long as crit(S), which is allowed; r has the lower number
///   of neither: l is task 9, r task 10. So m and l merge; 4 s.
/// - l: processed. r: 4 s.
/// - x (6 bytes): S is no storage task. With y: 3 + 10 + 1 = 14, as long as crit(S). They merge; 10 bytes.
/// - T (2): with c 10 s after r, which ends at 5 + 4 + 4: crit 23; with abd 8 s after c, which ends at 13: 21; with uvw 13 + 6 = 19; with r
///   19. y is a storage task. Nothing is left.
#[test]
fn a_workflow_worked_by_hand() {
    let workflow = by_hand();
    let by = paul("paul[fine=4 s,fine-data=10 B,storage=copy|x|y]");
    assert_eq!(groups(&workflow, &*by), ["S", "abd", "c", "uwv", "lm", "r", "xy", "T"]);
    let grouping = Grouping::of(&workflow, &*by).unwrap();
    let names: Vec<_> =
        grouping.workflow().tasks().map(|task| (&*task.name, task.runtime.as_secs_f64())).collect();
    assert_eq!(names[1..4], [("a+2", 6.0), ("c", 8.0), ("u+2", 4.0)]);
    // q stays between x and y.
    assert_eq!(grouping.groups()[6].internal.len(), 1);
    assert_eq!(grouping.workflow().files().len(), 2);
}

#[test]
fn thresholds_and_sorts_decide() {
    let workflow = by_hand();
    let count = |written: &str| groups(&workflow, &*paul(written)).len();
    // Nothing is fine-grained.
    assert_eq!(count("paul[fine=0]"), 14);
    assert_eq!(count("paul[fine=1 s,fine-data=4 B,storage=x|y]"), 14);
    // x and y are computational: x merges with y, 5 + 2 + 2 = 9.
    let all = groups(&workflow, &*paul("paul[fine=4 s]"));
    assert!(all.contains(&"xy".to_owned()), "{all:?}");
    // The default is a minute: a merges with whatever keeps to 15 s.
    let longest =
        |workflow: &Workflow| workflow.critical_path(&crate::workflow::Costs::at_reference(workflow, None)).0;
    let grouping = Grouping::of(&workflow, &*paul("paul")).unwrap();
    assert!(grouping.workflow().len() < 8);
    assert_eq!(longest(grouping.workflow()), longest(&workflow));
    for (wrong, told) in [
        ("paul[fine=fast]", "fine"),
        ("paul[fine-data=1 s]", "fine-data"),
        ("paul[level=1]", "level"),
        ("poul", "paul"),
    ] {
        let error = GroupingRegistry::standard().build(&wrong.parse().unwrap()).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
}

/// Algorithm 1 word for word: groups as sets of tasks, and the graph between them made anew for each temporary merge.
struct Slow<'a> {
    workflow: &'a Workflow,
    /// The group of each task: its lowest task.
    label: Vec<usize>,
    size: Vec<[u128; 2]>,
}

impl Slow<'_> {
    fn edges(&self, label: &[usize]) -> BTreeSet<(usize, usize)> {
        let edges = self.workflow.edges().map(|(from, to, _)| (label[from.index()], label[to.index()]));
        edges.filter(|(from, to)| from != to).collect()
    }

    /// The longest way from `node` along `edges`, or `None` if one is without end.
    fn longest(
        &self,
        edges: &BTreeSet<(usize, usize)>,
        sizes: &BTreeMap<usize, u128>,
        node: usize,
        depth: usize,
    ) -> Option<u128> {
        if depth > sizes.len() {
            return None;
        }
        let mut longest = 0;
        for (_, next) in edges.iter().filter(|(from, _)| *from == node) {
            longest = longest.max(self.longest(edges, sizes, *next, depth + 1)?);
        }
        Some(longest + sizes[&node])
    }

    fn sizes(&self, label: &[usize], measure: usize) -> BTreeMap<usize, u128> {
        let mut sizes = BTreeMap::new();
        label
            .iter()
            .zip(&self.size)
            .for_each(|(group, size)| *sizes.entry(*group).or_default() += size[measure]);
        sizes
    }

    /// `crit` of a group; `None` if there is a cycle anywhere.
    fn crit(&self, label: &[usize], measure: usize, group: usize) -> Option<u128> {
        let (edges, sizes) = (self.edges(label), self.sizes(label, measure));
        let back = edges.iter().map(|(from, to)| (*to, *from)).collect();
        for group in sizes.keys() {
            self.longest(&edges, &sizes, *group, 0)?;
        }
        Some(self.longest(&edges, &sizes, group, 0)? + self.longest(&back, &sizes, group, 0)? - sizes[&group])
    }

    fn merged(&self, a: usize, b: usize) -> Vec<usize> {
        self.label.iter().map(|group| if *group == a || *group == b { a.min(b) } else { *group }).collect()
    }
}

fn slow(workflow: &Workflow, paul: &Paul) -> Vec<usize> {
    let size = workflow.tasks().map(|task| [work(task), data(workflow, task)]).collect();
    let mut run = Slow { workflow, label: (0..workflow.len()).collect(), size };
    let measure = |task: usize| usize::from(paul.storage.contains(&workflow.task(TaskId(task as u32)).kind));
    let fine = [u128::from(paul.fine.micros()), u128::from(paul.fine_data.count())];
    let entry =
        |measure| (0..workflow.len()).filter_map(|task| run.crit(&run.label, measure, task)).max().unwrap();
    let entry = [entry(WORK), entry(DATA)];
    let mut processed = BTreeSet::new();
    for task in 0..workflow.len() {
        if processed.contains(&task) {
            continue;
        }
        let (mut a, kind) = (task, measure(task));
        while run.sizes(&run.label, kind)[&a] < fine[kind] {
            let mut best = None;
            for (from, to) in run.edges(&run.label) {
                let b = if from == a { to } else { from };
                if (from != a && to != a) || measure(b) != kind {
                    continue;
                }
                let crit = run.crit(&run.merged(a, b), kind, a.min(b)).filter(|crit| *crit <= entry[kind]);
                if let Some(crit) = crit
                    && best.is_none_or(|best| (crit, b) < best)
                {
                    best = Some((crit, b));
                }
            }
            let Some((_, b)) = best else { break };
            run.label = run.merged(a, b);
            a = a.min(b);
        }
        processed.extend((0..workflow.len()).filter(|other| run.label[*other] == a));
    }
    run.label
}

proptest! {
    #[test]
    fn agrees_with_the_algorithm_word_for_word(draft in drafts(), fine in 0_u64..40, data in 0_u64..20, storage: bool) {
        let workflow = draft.build().unwrap();
        let paul = Paul {
            fine: Span::from_secs(fine),
            fine_data: Bytes::new(data * 1_000_000_000),
            storage: if storage { vec!["kind 1".to_owned()] } else { vec![] },
        };
        let (fast, slow) = (paul.labels(&workflow), slow(&workflow, &paul));
        for (one, other) in (0..fast.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
            prop_assert_eq!(fast[one] == fast[other], slow[one] == slow[other], "{:?}", slow);
        }
    }
}
