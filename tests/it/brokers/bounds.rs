//! Finding the earliest pool by bounds against looking at each.

use gridemu::broker::{Asked, Beliefs, Bounds, GridView, Reason, Waited};
use gridemu::units::{Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

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

    /// Some waits were measured in some of the pools, some of them too long ago.
    #[test]
    fn the_earliest_pool_is_found_where_waits_are_forecast(
        mut scene in scenes_of(1..80, 1..30),
        waits in vec((any::<Index>(), 1..200_u32, 0..100_000_u64, 0..2_000_u64, any::<bool>()), 0..200),
    ) {
        let mut beliefs = Beliefs::new(scene.pools.len());
        for (pool, procs, run, wait, lately) in waits {
            let at = pool.index(scene.pools.len());
            let waited = Waited { procs, run: Span::from_secs(run), wait: Span::from_secs(wait) };
            let until = if lately { scene.now } else { Time::ZERO };
            beliefs.waited(at, waited, until, &mut scene.pools[at].forecasts);
        }
        let mut bounds = Bounds::new(scene.pools.len());
        prop_assert_eq!(assigned(&scene, Some(&mut bounds)), assigned(&scene, None));
    }
}
