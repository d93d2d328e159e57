use proptest::prelude::*;

use super::shapes::ShapeSpec;
use super::*;
use crate::units::Bandwidth;

/// One byte a second.
pub(crate) const BYTE_A_SECOND: Bandwidth = Bandwidth::from_bits(8);

/// The example of Topcuoglu et al. (2002), figure 2: run times on three processors, and edges with what they carry.
pub(crate) fn topcuoglu() -> Draft {
    const RUNTIMES: [[u32; 3]; 10] = [
        [14, 16, 9],
        [13, 19, 18],
        [11, 13, 19],
        [13, 8, 17],
        [12, 13, 10],
        [13, 16, 9],
        [7, 15, 11],
        [5, 11, 14],
        [18, 12, 20],
        [21, 7, 16],
    ];
    const EDGES: [(usize, usize, u32); 15] = [
        (1, 2, 18),
        (1, 3, 12),
        (1, 4, 9),
        (1, 5, 11),
        (1, 6, 14),
        (2, 8, 19),
        (2, 9, 16),
        (3, 7, 23),
        (4, 8, 27),
        (4, 9, 23),
        (5, 9, 13),
        (6, 8, 15),
        (7, 10, 17),
        (8, 10, 11),
        (9, 10, 13),
    ];
    let mut draft = Draft::named("topcuoglu");
    for (task, times) in (1..).zip(RUNTIMES) {
        let classes = ["P1", "P2", "P3"].into_iter().zip(times);
        let mut drafted = TaskDraft::new(format!("T{task}"), 1.0);
        drafted.by_class = classes.map(|(class, secs)| (class.to_owned(), f64::from(secs))).collect();
        for (from, to, bytes) in EDGES {
            let file = format!("{from}-{to}");
            if from == task {
                draft.file(&*file, f64::from(bytes));
                drafted = drafted.writes(file);
            } else if to == task {
                drafted = drafted.reads(file);
            }
        }
        draft.task(drafted);
    }
    draft
}

fn rounded(ranks: &[f64]) -> Vec<f64> {
    ranks.iter().map(|rank| (rank * 1000.0).round() / 1000.0).collect()
}

#[test]
fn the_example_of_topcuoglu() {
    let workflow = topcuoglu().build().unwrap();
    let costs = Costs::mean_over_classes(&workflow, Some(BYTE_A_SECOND));
    let up = workflow.upward_ranks(&costs);
    assert_eq!(rounded(&up), [108.0, 77.0, 80.0, 80.0, 69.0, 63.333, 42.667, 35.667, 44.333, 14.667]);
    let down = workflow.downward_ranks(&costs);
    assert_eq!(rounded(&down), [0.0, 31.0, 25.0, 22.0, 24.0, 27.0, 62.333, 66.667, 63.667, 93.333]);
    let (length, path) = workflow.critical_path(&costs);
    assert_eq!(rounded(&[length]), [108.0]);
    assert_eq!(path, [0, 1, 8, 9].map(TaskId));
    // Without data: T1, T2, T9, T10, 13 + 16.667 + 16.667 + 14.667.
    let alone = workflow.critical_path(&Costs::mean_over_classes(&workflow, None));
    assert_eq!((rounded(&[alone.0]), alone.1), (vec![61.0], path));
    assert_eq!(workflow.levels(), [0, 1, 1, 1, 1, 1, 2, 2, 2, 3]);
    assert_eq!((workflow.level_sizes(), workflow.width()), (vec![1, 5, 3, 1], 5));
    // 241 bytes over 15 edges; 133.333 s over 10 tasks.
    assert_eq!(rounded(&[workflow.ccr(&costs).unwrap()]), [1.205]);
}

#[test]
fn levels_count_the_longest_way_and_edges_that_follow_are_kept() {
    let mut draft = Draft::named("diamond");
    draft.task(TaskDraft::new("a", 1.0));
    draft.task(TaskDraft::new("b", 2.0).after("a"));
    draft.task(TaskDraft::new("c", 2.0).after("a"));
    draft.task(TaskDraft::new("d", 0.0).after("b").after("c").after("a"));
    let workflow = draft.build().unwrap();
    assert_eq!(workflow.levels(), [0, 1, 1, 2]);
    assert_eq!(workflow.edges().len(), 5);
    let before: Vec<u32> = workflow.predecessors(TaskId(3)).map(|(task, _)| task.0).collect();
    assert_eq!(before, [0, 1, 2]);
    // Of the two ways of the same length, that of the lower number.
    let path = workflow.critical_path(&Costs::at_reference(&workflow, None));
    assert_eq!(path, (3.0, [0, 1, 3].map(TaskId).to_vec()));
    assert_eq!(workflow.ccr(&Costs::at_reference(&workflow, None)), Some(0.0));
}

#[test]
fn of_equally_long_ways_the_critical_path_has_the_lowest_numbers() {
    // 0.1 + (0.2 + 0.3) and 0.3 + (0.2 + 0.1) are the same time, but not the same sum of floating-point numbers.
    let mut draft = Draft::named("ties");
    for (task, secs, after) in
        [("a", 0.1, ""), ("b", 0.2, "a"), ("c", 0.3, "b"), ("d", 0.3, ""), ("e", 0.2, "d"), ("f", 0.1, "e")]
    {
        let task = TaskDraft::new(task, secs);
        draft.task(if after.is_empty() { task } else { task.after(after) });
    }
    let workflow = draft.build().unwrap();
    let (_, path) = workflow.critical_path(&Costs::at_reference(&workflow, None));
    assert_eq!(path, [TaskId(0), TaskId(1), TaskId(2)]);
}

#[test]
fn a_file_makes_an_edge_and_one_without_a_producer_is_stage_in() {
    let mut draft = Draft::named("files");
    draft.file("in", 5.0);
    draft.file("x", 7.0);
    draft.file("y", 11.0);
    draft.task(TaskDraft::new("late", 1.0).reads("x").reads("y").reads("x").reads("in"));
    draft.task(TaskDraft::new("early", 1.0).reads("in").writes("x").writes("y"));
    let workflow = draft.build().unwrap();
    let edges: Vec<_> = workflow.edges().collect();
    assert_eq!(edges, [(TaskId(1), TaskId(0), crate::units::Bytes::new(18))]);
    assert_eq!(workflow.order(), [TaskId(1), TaskId(0)]);
    let [stage_in, x, _] = workflow.files() else { panic!() };
    assert_eq!((stage_in.producer, &stage_in.consumers[..]), (None, &[TaskId(0), TaskId(1)][..]));
    assert_eq!((x.producer, &x.consumers[..]), (Some(TaskId(1)), &[TaskId(0)][..]));
    assert_eq!(workflow.task(TaskId(0)).inputs, [1, 2, 0].map(FileId));
}

#[test]
fn what_is_no_workflow_is_refused() {
    let one = || TaskDraft::new("a", 1.0);
    let draft = |tasks: Vec<TaskDraft>, files: &[(&str, f64)]| Draft {
        name: String::new(),
        tasks,
        files: files.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect(),
    };
    let three = ["a", "b", "c"].map(|name| TaskDraft::new(name, 1.0));
    let [a, b, c] = three.clone();
    let cases = [
        (draft(vec![], &[]), Part::Workflow, "the workflow has no tasks"),
        (draft(vec![one(), one()], &[]), Part::Task(1), "two tasks have the name `a`"),
        (draft(vec![TaskDraft::new("", 1.0)], &[]), Part::Task(0), "has an empty name"),
        (
            draft(vec![one(), TaskDraft::new("a\nb", 1.0)], &[]),
            Part::Task(1),
            "the name of a task has a control character: \"a\\nb\"",
        ),
        (
            draft(vec![TaskDraft { kind: "\t".into(), ..one() }], &[]),
            Part::Task(0),
            "the name of the type of a task has a control character",
        ),
        (
            Draft { name: "\u{7f}".into(), ..draft(vec![one()], &[]) },
            Part::Name,
            "the name of the workflow has a control character",
        ),
        (
            draft(vec![one().reads("f").reads("\r")], &[]),
            Part::Input(0, 1),
            "the name of a file has a control",
        ),
        (draft(vec![one().writes("\r")], &[]), Part::Output(0, 0), "the name of a file has a control"),
        (draft(vec![one()], &[("\0", 1.0)]), Part::File(0), "the name of a file has a control character"),
        (draft(vec![TaskDraft::new("a", 1e300)], &[]), Part::Runtime(0), "`a` is 1e300 s, not from 0 to"),
        (
            draft(vec![one().after("x")], &[]),
            Part::Parent(0, 0),
            "the task `a` has the parent `x`, which is no task",
        ),
        (
            draft(vec![TaskDraft { children: vec!["a".into(), "x".into()], ..b.clone() }, one()], &[]),
            Part::Child(0, 1),
            "the task `b` has the child `x`, which is no task",
        ),
        (draft(vec![one().reads("f")], &[]), Part::Input(0, 0), "the file `f` of the task `a` has no size"),
        (draft(vec![one().writes("f")], &[]), Part::Output(0, 0), "the file `f` of the task `a` has no size"),
        (
            draft(vec![one()], &[("f", -1.0)]),
            Part::File(0),
            "the size of the file `f` is -1 bytes, not from 0 to",
        ),
        (draft(vec![one()], &[("f", 1e16)]), Part::File(0), "not from 0 to 1000000000000000 bytes"),
        (draft(vec![one()], &[("f", f64::NAN)]), Part::File(0), "is NaN bytes"),
        (draft(vec![one()], &[("f", 1.0), ("f", 1.0)]), Part::File(1), "two files have the name `f`"),
        (
            draft(vec![TaskDraft::new("a", -3.5)], &[]),
            Part::Runtime(0),
            "the run time of the task `a` is -3.5 s, not from 0 to 10000000000 s",
        ),
        (draft(vec![TaskDraft::new("a", f64::INFINITY)], &[]), Part::Runtime(0), "is inf s"),
        (
            draft(vec![TaskDraft { by_class: [("P".to_owned(), -1.0)].into(), ..one() }], &[]),
            Part::Runtime(0),
            "on `P` is -1 s",
        ),
        (draft(vec![TaskDraft { procs: 0.0, ..one() }], &[]), Part::Procs(0), "has 0 processors, not from 1"),
        (
            draft(vec![TaskDraft { memory: Some(-1.0), ..one() }], &[]),
            Part::Memory(0),
            "the memory of the task `a`",
        ),
        (
            draft(vec![one().writes("f"), b.clone().writes("f")], &[("f", 1.0)]),
            Part::Output(1, 0),
            "`a` and `b` both write the file `f`",
        ),
        (
            draft(vec![one().reads("f").writes("f")], &[("f", 1.0)]),
            Part::Input(0, 0),
            "`a` both reads and writes",
        ),
        (draft(vec![one().after("a")], &[]), Part::Task(0), "the task `a` waits for itself"),
        (
            draft(vec![a.after("c"), b.after("a"), c.after("b"), TaskDraft::new("d", 1.0).after("c")], &[]),
            Part::Task(0),
            "3 tasks wait for each other in a cycle: `",
        ),
    ];
    for (draft, part, told) in cases {
        let error = draft.clone().build().expect_err(told);
        assert!(error.problem.contains(told), "{}: {told}", error.problem);
        assert!(error.part == part || told.contains("in a cycle"), "{:?}: {told}", error.part);
    }
    // A cycle through a file is named by its tasks, and by no other.
    let [a, b, c] = three;
    let files = [("x", 1.0), ("y", 1.0)];
    let cycle = draft(vec![c.reads("x"), a.reads("y").writes("x"), b.reads("x").writes("y")], &files);
    let told = cycle.build().unwrap_err().problem;
    assert!(
        told == "2 tasks wait for each other in a cycle: `a` -> `b` -> `a`"
            || told.ends_with("`b` -> `a` -> `b`"),
        "{told}"
    );
}

#[test]
fn a_long_chain_needs_no_deep_stack() {
    let mut draft = Draft::named("chain");
    for at in 0..100_000 {
        let task = TaskDraft::new(format!("t{at}"), 1.0);
        draft.task(if at == 0 { task } else { task.after(format!("t{}", at - 1)) });
    }
    let workflow = draft.clone().build().unwrap();
    assert_eq!(workflow.critical_path(&Costs::at_reference(&workflow, None)).0, 100_000.0);
    draft.tasks[0].parents.push("t99999".to_owned());
    let told = draft.build().unwrap_err().problem;
    assert!(told.starts_with("100000 tasks wait for each other") && told.len() < 400, "{told}");
}

#[test]
fn scaling_changes_what_it_says() {
    let workflow = topcuoglu().build().unwrap();
    let costs = |workflow: &Workflow| Costs::mean_over_classes(workflow, Some(BYTE_A_SECOND));
    let longer = workflow.scale_runtime(4.0).unwrap();
    assert_eq!(rounded(&[longer.ccr(&costs(&longer)).unwrap()]), [0.301]);
    let larger = workflow.scale_data(2.0).unwrap();
    assert_eq!(rounded(&[larger.ccr(&costs(&larger)).unwrap()]), [2.41]);
    assert_eq!(larger.scale_data(0.5).unwrap().draft(), workflow.draft());
    let wide = workflow.with_ccr(1000.0, BYTE_A_SECOND).unwrap();
    let ccr = wide.ccr(&Costs::at_reference(&wide, Some(BYTE_A_SECOND))).unwrap();
    assert!((ccr - 1000.0).abs() < 0.1, "{ccr}");
    assert!(
        workflow.scale_data(-1.0).unwrap_err().problem.contains("the size of the file `1-2` is -18 bytes")
    );
    assert!(workflow.scale_runtime(1e12).unwrap_err().problem.contains("the run time of the task `T1`"));
    let bare = "pipeline[tasks=1]".parse::<ShapeSpec>().unwrap().workflow(1).unwrap();
    assert!(bare.with_ccr(1.0, BYTE_A_SECOND).unwrap_err().problem.contains("no factor gives"));
}

#[test]
fn types_are_read_from_names() {
    for (name, kind) in [
        ("mProject_ID0000001", "mProject"),
        ("mProject_00000001", "mProject"),
        ("baseline_cycles_ID7", "baseline_cycles"),
        ("bowtie2", "bowtie2"),
        ("x_", "x_"),
        ("_1", "_1"),
        ("12", "12"),
    ] {
        assert_eq!(TaskDraft::type_of(name), kind);
    }
}

#[test]
fn contents_are_those_of_the_workflow() {
    let contents = WorkflowContents::of(&topcuoglu().build().unwrap(), BYTE_A_SECOND);
    assert_eq!((contents.tasks, contents.edges, contents.levels, contents.width), (10, 15, 4, 5));
    assert_eq!(contents.runtime_s, 10.0);
    assert_eq!(contents.critical_path, ["T1", "T2", "T8", "T10"]);
    // 4 s of tasks, and 9 + 27 + 11 bytes by T4 and T8, one a second; by T3 and T7 it is 12 + 23 + 17.
    assert_eq!((contents.critical_path_s, contents.critical_path_with_data_s), (4.0, 56.0));
    assert_eq!(
        contents.data,
        DataContents { files: 15, stage_in_bytes: 0, between_bytes: 241, out_bytes: 0 }
    );
    assert_eq!(contents.types.len(), 10);
    assert_eq!(contents.types[1].levels, (1, 1));
    assert_eq!(contents.types[0].written_bytes.max, 64.0);
    assert_eq!(contents.parallelism(), Some(2.5));
}

#[test]
fn contents_of_more_bytes_than_can_be_counted() {
    let mut draft = Draft::named("many");
    let mut task = TaskDraft::new("reads".to_owned(), 1.0);
    for at in 0..20_000 {
        draft.file(format!("f{at}"), 1e15);
        task.inputs.push(format!("f{at}"));
    }
    draft.task(task);
    let contents = WorkflowContents::of(&draft.build().unwrap(), BYTE_A_SECOND);
    assert_eq!(contents.data.stage_in_bytes, u64::MAX);
    assert_eq!(contents.types[0].read_bytes.max, u64::MAX as f64);
}

/// Drafts of valid workflows, their tasks in any order.
pub(crate) fn drafts() -> impl Strategy<Value = Draft> {
    let task = (
        0_u32..5_000_000,
        1_u32..5,
        prop::option::of(0_u32..9999),
        prop::collection::vec(any::<bool>(), 8),
        0_u32..3,
    );
    let tasks = prop::collection::vec(task, 1..9);
    tasks.prop_flat_map(|tasks| {
        let mut draft = Draft::named("random");
        draft.file("stage-in", 1e9);
        for (at, (micros, procs, memory, after, files)) in tasks.iter().enumerate() {
            let mut task = TaskDraft::new(format!("t_{at}"), f64::from(*micros) / 1e6);
            (task.procs, task.memory) = (f64::from(*procs), memory.map(f64::from));
            if *files == 0 {
                task.kind = format!("kind {}", at % 2);
                task.by_class.insert("fast".to_owned(), f64::from(micros / 2) / 1e6);
                task = task.reads("stage-in");
            }
            for before in (0..at).filter(|before| after[*before]) {
                match draft.tasks[before].outputs.first().cloned() {
                    Some(file) if before % 2 == 0 => task = task.reads(file),
                    _ => task = task.after(format!("t_{before}")),
                }
            }
            for nth in 0..*files {
                let file = format!("{at}/{nth}.dat");
                draft.file(&*file, f64::from(*micros) * 1000.0);
                task = task.writes(file);
            }
            draft.task(task);
        }
        let Draft { name, tasks, files } = draft;
        Just(tasks).prop_shuffle().prop_map(move |tasks| Draft {
            name: name.clone(),
            tasks,
            files: files.clone(),
        })
    })
}

/// The lengths in seconds, with data, of all ways from `task` on.
fn ways(workflow: &Workflow, task: TaskId) -> Vec<f64> {
    let own = workflow.task(task).runtime.as_secs_f64();
    let mut found = vec![own];
    for (next, carried) in workflow.successors(task) {
        let rest = ways(workflow, next);
        found.extend(rest.into_iter().map(|secs| own + (carried.count() as f64 + secs)));
    }
    found
}

/// The most edges of a way from one task to another; `None` if there is no way.
fn most_tasks_between(workflow: &Workflow, from: TaskId, task: TaskId) -> Option<u32> {
    if from == task {
        return Some(0);
    }
    let next = workflow.successors(from);
    next.filter_map(|(next, _)| most_tasks_between(workflow, next, task)).max().map(|tasks| tasks + 1)
}

proptest! {
    #[test]
    fn facts_are_those_of_the_definition(draft in drafts()) {
        let workflow = draft.build().unwrap();
        let costs = Costs::at_reference(&workflow, Some(BYTE_A_SECOND));
        let (up, down, levels) = (workflow.upward_ranks(&costs), workflow.downward_ranks(&costs), workflow.levels());
        let all: Vec<_> = workflow.ids().map(|task| ways(&workflow, task)).collect();
        for task in workflow.ids() {
            let longest = all[task.index()].iter().copied().fold(0.0, f64::max);
            prop_assert!((up[task.index()] - longest).abs() <= longest * 1e-12);
            // The level is the most tasks before this one on any way.
            let before = workflow.ids().filter_map(|from| most_tasks_between(&workflow, from, task));
            prop_assert_eq!(levels[task.index()], before.max().unwrap());
        }
        let (length, path) = workflow.critical_path(&costs);
        let longest = all.iter().flatten().copied().fold(0.0, f64::max);
        prop_assert!((length - longest).abs() <= longest * 1e-12);
        for pair in path.windows(2) {
            prop_assert!(workflow.successors(pair[0]).any(|(to, _)| to == pair[1]));
        }
        for task in path {
            prop_assert!((up[task.index()] + down[task.index()] - length).abs() <= length * 1e-9);
        }
        // Each task after its predecessors, each once.
        let mut place = vec![usize::MAX; workflow.len()];
        workflow.order().iter().enumerate().for_each(|(at, task)| place[task.index()] = at);
        prop_assert!(workflow.edges().all(|(from, to, _)| place[from.index()] < place[to.index()]));
        prop_assert!(place.iter().all(|at| *at < workflow.len()));
    }

    #[test]
    fn a_workflow_gives_its_draft_back(draft in drafts()) {
        let once = draft.build().unwrap();
        prop_assert_eq!(once.draft().build().unwrap().draft(), once.draft());
    }
}
