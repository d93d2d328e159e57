use super::*;

#[test]
fn shapes_have_the_tasks_that_they_say() {
    let made = |written: &str| written.parse::<ShapeSpec>().unwrap().workflow(7).unwrap();
    for (written, tasks, levels) in [
        ("bag[tasks=7]", 7, vec![7]),
        ("pipeline[tasks=5]", 5, vec![1, 1, 1, 1, 1]),
        ("fork-join[tasks=12,width=4]", 12, vec![1, 4, 1, 5, 1]),
        ("fork-join[tasks=13,width=4]", 13, vec![1, 4, 1, 4, 1, 1, 1]),
        ("montage[tasks=58]", 58, vec![12, 18, 3, 3, 12, 3, 3, 4]),
        ("epigenomics[tasks=41]", 41, vec![1, 9, 9, 9, 9, 1, 1, 1, 1]),
    ] {
        let workflow = made(written);
        assert_eq!(workflow.len(), tasks, "{written}");
        assert_eq!(workflow.level_sizes(), levels, "{written}");
    }
    for tasks in [31, 100, 1000] {
        let workflow = made(&format!("montage[tasks={tasks}]"));
        assert!((tasks - 25..=tasks).contains(&workflow.len()), "{}", workflow.len());
        let workflow = made(&format!("epigenomics[tasks={tasks}]"));
        assert!((tasks - 3..=tasks).contains(&workflow.len()), "{}", workflow.len());
    }
    let layered = made("layered[tasks=500,width=20,degree=4]");
    assert_eq!(layered.len(), 500);
    assert!(layered.ids().all(|task| layered.predecessors(task).count() <= 4));
    assert!(layered.width() < 40);
}

#[test]
fn shapes_are_the_same_for_the_same_seed() {
    let draft = |written: &str, seed| written.parse::<ShapeSpec>().unwrap().workflow(seed).unwrap().draft();
    for shape in ["layered", "montage", "epigenomics"] {
        assert_eq!(draft(shape, 1), draft(shape, 1));
        assert_ne!(draft(shape, 1), draft(shape, 2));
        let own = format!("{shape}[seed=3]");
        assert_eq!(draft(&own, 1), draft(&own, 2));
        let spec: ShapeSpec = own.parse().unwrap();
        assert_eq!(spec.to_string().parse(), Ok(spec));
    }
    let first = &draft("montage[tasks=58]", 1).tasks[0];
    assert_eq!((&*first.name, first.runtime), ("mProject_00000001", 12.507));
}

/// Of three equally likely types two are one: its share is 2/3, within four standard errors of 3,000 tasks. What else is drawn does not depend on them.
#[test]
fn types_are_drawn_by_their_shares() {
    let spec: ShapeSpec = "layered[tasks=3000,types=compute/compute/store-2]".parse().unwrap();
    assert_eq!(spec.to_string().parse(), Ok(spec.clone()));
    let draft = spec.workflow(5).unwrap().draft();
    let computing = draft.tasks.iter().filter(|task| task.kind == "compute").count();
    assert!(draft.tasks.iter().all(|task| ["compute", "store-2"].contains(&&*task.kind)));
    assert!(
        (computing as f64 / 3000.0 - 2.0 / 3.0).abs() < 4.0 * (2.0_f64 / 9.0 / 3000.0).sqrt(),
        "{computing}"
    );
    let plain = "layered[tasks=3000]".parse::<ShapeSpec>().unwrap().workflow(5).unwrap().draft();
    assert!(plain.tasks.iter().all(|task| task.kind == "task"));
    assert!(plain.tasks.iter().zip(&draft.tasks).all(|(one, other)| one.inputs.len() == other.inputs.len()));
    // A name says nothing of types that nobody chose.
    assert!(!"pipeline".parse::<ShapeSpec>().unwrap().to_string().contains("types"));
}

#[test]
fn wrong_shapes_are_refused() {
    for (written, told) in [
        ("star", "star"),
        ("montage[tasks=30]", "a number of tasks from 31 to 10000000"),
        ("montage[width=3]", "width"),
        ("layered[degree=0]", "a number from 1"),
        ("pipeline[runtime=-1 s]", "a run time such as"),
        ("pipeline[data=much]", "an amount of data"),
        ("bag[width=3]", "width"),
        ("bag[types=a//b]", "a type of task such as"),
        ("fork-join[types=a]", "types"),
    ] {
        let error = written.parse::<ShapeSpec>().unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}
