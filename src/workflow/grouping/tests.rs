use proptest::prelude::*;

use super::contents::bytes_of;
use super::*;
use crate::units::{Bytes, Span};
use crate::workflow::tests::drafts;
use crate::workflow::{Draft, TaskDraft};

fn by(written: &str) -> Box<dyn Group> {
    GroupingRegistry::standard().build(&written.parse().unwrap()).unwrap()
}

fn grouped(workflow: &Workflow, written: &str) -> Grouping {
    Grouping::of(workflow, &*by(written)).unwrap()
}

fn tasks(grouping: &Grouping) -> Vec<Vec<u32>> {
    grouping.groups().iter().map(|group| group.tasks.iter().map(|task| task.0).collect()).collect()
}

/// A fork of seven tasks of two types, each of which another follows, and a join.
fn fork() -> Workflow {
    let mut draft = Draft::named("fork");
    draft.file("in", 8.0);
    draft.task(TaskDraft::new("split", 1.0).reads("in"));
    for at in 1..8 {
        let kind = if at < 6 { "a" } else { "b" };
        draft.file(format!("{at}"), 10.0);
        draft.file(format!("{at}'"), 1.0);
        draft.task(
            TaskDraft::new(format!("{kind}_{at}"), f64::from(at)).after("split").writes(format!("{at}")),
        );
    }
    for at in 1..8 {
        let task = TaskDraft::new(format!("c_{at}"), 1.0).reads(format!("{at}")).reads("in");
        draft.task(task.writes(format!("{at}'")));
    }
    let join = (1..8).fold(TaskDraft::new("join", 1.0), |join, at| join.reads(format!("{at}'")));
    draft.task(join);
    draft.build().unwrap()
}

#[test]
fn horizontal_groups_have_a_level_and_a_type_and_about_one_size() {
    let workflow = fork();
    let by_size = grouped(&workflow, "horizontal[size=3]");
    let c: [Vec<u32>; 3] = [vec![8, 9, 10], vec![11, 12], vec![13, 14]];
    assert_eq!(tasks(&by_size)[..4], [vec![0], vec![1, 2, 3], vec![4, 5], vec![6, 7]]);
    assert_eq!(tasks(&by_size)[4..7], c);
    let by_number = grouped(&workflow, "horizontal[clusters=3]");
    assert_eq!(tasks(&by_number)[1..6], [vec![1, 2], vec![3, 4], vec![5], vec![6], vec![7]]);
    assert_eq!(tasks(&by_number)[6..9], c);
    assert_eq!(grouped(&workflow, "horizontal").workflow().len(), 5);
    // One job of 1 + 2 + 3 s, whose three files the next group reads, and nothing else.
    let quotient = by_size.workflow();
    let group = quotient.task(TaskId(1));
    assert_eq!((&*group.name, &*group.kind, group.runtime.as_secs_f64()), ("a_1+2", "a", 6.0));
    assert_eq!((group.inputs.len(), group.outputs.len()), (0, 3));
    assert_eq!(quotient.successors(TaskId(1)).collect::<Vec<_>>(), [(TaskId(4), Bytes::new(30))]);
    assert_eq!(quotient.levels(), [0, 1, 1, 1, 2, 2, 2, 3]);
    for wrong in
        ["horizontal[size=0]", "horizontal[clusters=x]", "horizontal[size=2,clusters=2]", "none[size=1]"]
    {
        let error = GroupingRegistry::standard().build(&wrong.parse().unwrap()).unwrap_err();
        assert!(error.to_string().contains("size") || error.to_string().contains("clusters"), "{error}");
    }
}

#[test]
fn vertical_groups_are_chains() {
    let workflow = fork();
    let grouping = grouped(&workflow, "vertical");
    let all = tasks(&grouping);
    assert_eq!(all.len(), 9);
    assert_eq!(all[1..3], [vec![1, 8], vec![2, 9]]);
    let group = grouping.workflow().task(TaskId(7));
    assert_eq!((&*group.name, &*group.kind, group.runtime.as_secs_f64()), ("b_7+1", "b+c", 8.0));
    // Its own file stays inside; it reads `in` for the second task, and the join reads what that writes.
    assert_eq!((group.inputs.len(), group.outputs.len()), (1, 1));
    assert_eq!(grouping.groups()[7].internal.len(), 1);
    let pipeline =
        "pipeline[tasks=5]".parse::<crate::workflow::shapes::ShapeSpec>().unwrap().workflow(1).unwrap();
    let one = grouped(&pipeline, "vertical");
    assert_eq!(tasks(&one), [vec![0, 1, 2, 3, 4]]);
    assert_eq!((one.workflow().edges().len(), one.workflow().files().len()), (0, 1));
}

#[test]
fn the_type_of_a_group_names_eight_types_at_most() {
    let mut draft = Draft::named("chain");
    let mut last: Option<String> = None;
    for at in 0..12 {
        let name = format!("t{at}");
        let task = TaskDraft { kind: format!("k{}", at / 2 * 2), ..TaskDraft::new(&*name, 1.0) };
        draft.task(last.iter().fold(task, |task, last| task.after(last)));
        last = Some(name);
    }
    let kinds = |draft: &Draft| {
        let grouping = grouped(&draft.clone().build().unwrap(), "vertical");
        grouping.workflow().tasks().map(|task| task.kind.clone()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&draft), ["k0+k2+k4+k6+k8+k10"]);
    (0..).zip(&mut draft.tasks).for_each(|(at, task)| task.kind = format!("k{at}"));
    assert_eq!(kinds(&draft), ["k0+k1+k2+k3+k4+k5+k6+k7+4 more"]);
}

#[test]
fn groups_that_wait_for_each_other_are_refused() {
    #[derive(Debug)]
    struct Own(Vec<u32>);
    impl Group for Own {
        fn labels(&self, _: &Workflow) -> Vec<u32> {
            self.0.clone()
        }
    }
    let pipeline =
        "pipeline[tasks=3]".parse::<crate::workflow::shapes::ShapeSpec>().unwrap().workflow(1).unwrap();
    let told = Grouping::of(&pipeline, &Own(vec![7, 9, 7])).unwrap_err().problem;
    assert!(told.contains("wait for each other in a cycle") && told.contains("step_00000002"), "{told}");
    let told = Grouping::of(&pipeline, &Own(vec![1])).unwrap_err().problem;
    assert!(told.contains("1 labels for 3 tasks"), "{told}");
}

#[test]
fn contents_say_what_a_grouping_makes() {
    let workflow = fork();
    let contents = GroupingContents::of(
        "vertical".to_owned(),
        &workflow,
        &grouped(&workflow, "vertical"),
        crate::workflow::tests::BYTE_A_SECOND,
    );
    assert_eq!((contents.tasks.count, contents.tasks.max, contents.single), (9, 2.0, 2));
    assert_eq!((contents.internal_files, contents.internal_bytes), (7, 70));
    assert_eq!((contents.grouped.tasks, contents.grouped.levels), (9, 3));
    assert_eq!(contents.grouped.critical_path_s, 10.0);
}

/// The bytes of the files of `tasks`' list that `which` gives.
fn sum(workflow: &Workflow, which: impl Fn(&Task) -> &Vec<FileId>) -> u64 {
    workflow.tasks().map(|task| bytes_of(workflow, which(task).iter().copied())).sum()
}

/// At reference speed two tasks at most run at once. On the other class `b` still runs when `a` is followed by two more.
#[test]
fn on_every_class_a_group_has_the_same_processors() {
    let mut draft = Draft::named("side by side");
    for (name, after, here, there) in
        [("a", "", 10.0, 10.0), ("b", "", 5.0, 100.0), ("c", "a", 10.0, 10.0), ("d", "a", 10.0, 10.0)]
    {
        let mut task = TaskDraft::new(name, here);
        task.by_class.insert("slow".to_owned(), there);
        draft.task(if after.is_empty() { task } else { task.after(after) });
    }
    let workflow = draft.build().unwrap();
    let grouping = grouped(&workflow, "pilot");
    assert_eq!(grouping.groups()[0].procs, 2);
    let slow: Vec<(u64, u64)> = grouping
        .members(&workflow, 0)
        .iter()
        .map(|member| {
            (member.by_class["slow"].0.micros() / 1_000_000, member.by_class["slow"].1.micros() / 1_000_000)
        })
        .collect();
    assert_eq!(slow, [(0, 10), (0, 100), (10, 20), (20, 30)]);
    assert_eq!(grouping.workflow().task(TaskId(0)).by_class["slow"], Span::from_secs(100));
}

proptest! {
    #[test]
    fn every_grouping_keeps_order_and_sums(draft in drafts(), which in 0_usize..8) {
        let workflow = draft.build().unwrap();
        let written = [
            "none", "vertical", "horizontal[size=2]", "horizontal[clusters=2]", "paul[fine=8 s]", "paul[fine=1 h,storage=kind 1]",
            "level[procs=3]", "pilot[procs=2]",
        ];
        let grouping = grouped(&workflow, written[which]);
        let quotient = grouping.workflow();
        // Each task in one group, after its predecessors there.
        let mut place = vec![None; workflow.len()];
        for (number, group) in grouping.groups().iter().enumerate() {
            prop_assert!(!group.tasks.is_empty());
            for (at, task) in group.tasks.iter().enumerate() {
                prop_assert_eq!(place[task.index()].replace((number, at)), None);
                prop_assert_eq!(grouping.group_of(*task), number);
            }
        }
        // The edges of the groups are those between tasks of different groups.
        let mut between = std::collections::BTreeSet::new();
        for (from, to, _) in workflow.edges() {
            let (from, to) = (place[from.index()].unwrap(), place[to.index()].unwrap());
            if from.0 == to.0 {
                prop_assert!(from.1 < to.1);
            } else {
                between.insert((from.0 as u32, to.0 as u32));
            }
        }
        let edges = quotient.edges().map(|(from, to, _)| (from.0, to.0)).collect();
        prop_assert_eq!(between, edges);
        // The quotient is a workflow like any other.
        let again = quotient.draft().build().unwrap();
        prop_assert_eq!(again.draft(), quotient.draft());
        // Sums: run times, unless tasks run side by side; bytes of files, written and internal; what a group reads it reads once.
        let runtime = |workflow: &Workflow| workflow.tasks().map(|task| task.runtime).sum::<Span>();
        if which < 6 {
            prop_assert_eq!(runtime(&workflow), runtime(quotient));
        }
        let internal = grouping.groups().iter().flat_map(|group| &group.internal).copied();
        let internal = bytes_of(&workflow, internal);
        let size = |workflow: &Workflow| workflow.files().iter().map(|file| file.size.count()).sum::<u64>();
        prop_assert_eq!(size(&workflow), size(quotient) + internal);
        prop_assert_eq!(sum(&workflow, |task| &task.outputs), sum(quotient, |task| &task.outputs) + internal);
        prop_assert!(sum(&workflow, |task| &task.inputs) >= sum(quotient, |task| &task.inputs));
        for (number, group) in grouping.groups().iter().enumerate() {
            let read: std::collections::BTreeSet<&str> = group
                .tasks
                .iter()
                .flat_map(|task| &workflow.task(*task).inputs)
                .map(|file| workflow.file(*file))
                .filter(|file| file.producer.is_none_or(|from| grouping.group_of(from) != number))
                .map(|file| &*file.name)
                .collect();
            let found = &quotient.task(TaskId(number as u32)).inputs;
            prop_assert_eq!(read, found.iter().map(|file| &*quotient.file(*file).name).collect());
        }
    }

    #[test]
    fn inside_a_group_tasks_run_in_turn_on_its_processors(draft in drafts(), procs in 1_u32..6) {
        let workflow = draft.build().unwrap();
        for written in [format!("pilot[procs={procs}]"), format!("level[procs={procs}]"), "level".to_owned(), "paul[fine=1 h]".to_owned()] {
            let grouping = grouped(&workflow, &written);
            for (number, group) in (0..).zip(grouping.groups()) {
                let members: Vec<_> = group.tasks.iter().zip(&group.runs).collect();
                let of = |task: &TaskId| *members.iter().find(|(other, _)| *other == task).unwrap().1;
                // The processors that are in use at the start of each task, where tasks without length are in use for no time.
                let used = |at: Span| -> u32 {
                    let running = members.iter().filter(|(_, (start, end))| *start <= at && at < *end);
                    running.map(|(task, _)| workflow.task(**task).procs).sum()
                };
                let most = group.tasks.iter().map(|task| workflow.task(*task).procs).max().unwrap();
                let allowed = if written.starts_with("paul") { most } else if written == "level" { u32::MAX } else { most.max(procs) };
                prop_assert!(group.procs <= allowed);
                for (task, (start, end)) in &members {
                    prop_assert_eq!(*end, *start + workflow.task(**task).runtime);
                    prop_assert!(used(*start) <= group.procs);
                    let before = workflow.predecessors(**task).filter(|(from, _)| grouping.group_of(*from) == number as usize);
                    let ready = before.map(|(from, _)| of(&from).1).max().unwrap_or_default();
                    prop_assert!(ready <= *start);
                    // Nobody waits without a reason: for a predecessor, for one before it in order, or for processors.
                    let first = members.iter().take_while(|(other, _)| other != task).map(|(_, (start, _))| *start).max();
                    if !written.starts_with("paul") && *start > ready.max(first.unwrap_or_default()) {
                        prop_assert!(used(*start - Span::TICK) + workflow.task(**task).procs > allowed);
                    }
                }
                let ends = members.iter().map(|(_, (_, end))| *end).max().unwrap();
                prop_assert_eq!(grouping.workflow().task(TaskId(number)).runtime, ends);
            }
        }
    }

    #[test]
    fn a_second_time_changes_nothing(draft in drafts(), which in 0_usize..3) {
        // Not so with `horizontal[size=n]`, which groups groups, nor with `paul`: two neighbours that a third node kept apart may merge once
        // that is in one of them.
        let workflow = draft.build().unwrap();
        let written = ["none", "vertical", "horizontal[clusters=2]"][which];
        let once = grouped(&workflow, written);
        prop_assert_eq!(grouped(once.workflow(), written).groups().len(), once.groups().len());
    }
}
