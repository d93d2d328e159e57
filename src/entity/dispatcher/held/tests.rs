//! The queues by place against plain lists that are searched.

use proptest::prelude::*;

use super::*;
use crate::model::GridContext;
use crate::units::{Span, Time};

const SITES: usize = 3;

fn job(number: u64) -> Box<Job> {
    let mut job = Job::rigid(number, Time::ZERO, 1, Span::ZERO);
    job.grid = Some(Box::new(GridContext { number, ..GridContext::default() }));
    Box::new(job)
}

#[derive(Clone, Debug)]
enum Act {
    Push(u32, u64),
    Pop(u32),
    Take(u64),
    /// A save and a restore.
    Saved,
}

fn acts() -> impl Strategy<Value = Act> {
    let (site, number) = (|| 0..SITES as u32, || 0..30_u64);
    prop_oneof![
        6 => (site(), number()).prop_map(|(site, number)| Act::Push(site, number)),
        2 => site().prop_map(Act::Pop),
        3 => number().prop_map(Act::Take),
        1 => Just(Act::Saved),
    ]
}

proptest! {
    #[test]
    fn agrees_with_lists_that_are_searched(acts in proptest::collection::vec(acts(), 1..120)) {
        let (mut held, mut lists) = (Held::new(SITES), Queues::default());
        lists.resize(SITES, VecDeque::new());
        for act in acts {
            match act {
                // A job is held once at a time.
                Act::Push(site, wanted) if lists.iter().flatten().all(|job| task(job).0 != wanted) => {
                    held.push(SiteId(site), job(wanted));
                    lists[site as usize].push_back(job(wanted));
                }
                Act::Pop(site) => {
                    prop_assert_eq!(held.pop(SiteId(site)), lists[site as usize].pop_front());
                }
                Act::Push(_, wanted) | Act::Take(wanted) => {
                    let found = lists.iter_mut().find_map(|list| {
                        list.iter().position(|job| task(job).0 == wanted).and_then(|at| list.remove(at))
                    });
                    prop_assert_eq!(held.take(TaskId(wanted)), found);
                }
                Act::Saved => {
                    let again: Held = postcard::from_bytes(&postcard::to_allocvec(&held).unwrap()).unwrap();
                    prop_assert_eq!(&again, &held);
                    held = again;
                }
            }
            for (site, list) in (0..).map(SiteId).zip(&lists) {
                prop_assert_eq!(held.count(site), list.len());
            }
            let sites = (0..).map(SiteId).zip(&lists);
            let all = sites.flat_map(|(site, list)| list.iter().map(move |job| (site, &**job)));
            prop_assert!(held.jobs().eq(all));
            prop_assert_eq!(postcard::to_allocvec(&held).unwrap(), postcard::to_allocvec(&lists).unwrap());
        }
        prop_assert!(held.into_jobs().eq(lists.into_iter().flatten()));
    }
}
