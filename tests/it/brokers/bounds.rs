//! Finding the earliest pool by bounds against looking at each.

use gridemu::broker::{Asked, Bounds, GridView, Reason};
use proptest::prelude::*;

use super::scenes::{Scene, scenes_of};

/// The pool of each job in order, each assigned where it completes first, by bounds or without.
fn assigned(scene: &Scene, bounds: Option<&mut Bounds>) -> Vec<Option<usize>> {
    let (mut pools, tasks) = (scene.pools.clone(), scene.tasks(0));
    let mut view = GridView::new(scene.now, &mut pools, &tasks, Asked::All, scene.count_in_flight);
    if let Some(bounds) = bounds {
        view = view.with_bounds(bounds);
    }
    let all: Vec<_> = view.ready().collect();
    let place = |task| {
        let earliest = view.earliest(task);
        earliest.into_iter().for_each(|pool| view.assign(task, pool, Reason::Earliest));
        earliest
    };
    all.into_iter().map(place).collect()
}

proptest! {
    #[test]
    fn the_earliest_pool_is_found(scene in scenes_of(0..80, 1..30)) {
        let mut bounds = Bounds::new(scene.pools.len());
        prop_assert_eq!(assigned(&scene, Some(&mut bounds)), assigned(&scene, None));
    }
}
