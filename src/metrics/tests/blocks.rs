//! Measures that are saved in parts and restored.

use std::collections::BTreeMap;
use std::convert::Infallible;

use proptest::prelude::*;

use crate::metrics::tests::samples::{any_records, job};
use crate::metrics::*;
use crate::model::{Record, SiteSpec};

fn nothing(budget: u64) -> GridMeasures {
    let sites = ["windsor", "delft"].map(|name| SiteSpec::plain(name, 50, "easy".parse().unwrap()));
    let definitions = Definitions::new(Definitions::TAU, "kettimuthu-16".parse().unwrap(), 1_000);
    let mut measures = GridMeasures::new(definitions.clone(), Window::ALL, &sites);
    measures.groups = Groups::with_budget(definitions, Window::ALL, 2, budget);
    measures.watching(RecoveryRule::default(), 100)
}

/// The skeleton after a round trip through bytes.
fn stored(skeleton: &Skeleton<GridMeasures>) -> (Skeleton<GridMeasures>, usize) {
    let bytes = postcard::to_allocvec(skeleton).unwrap();
    (postcard::from_bytes(&bytes).unwrap(), bytes.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The slow twin is never saved.
    #[test]
    fn saved_and_put_back_anywhere(
        records in any_records().prop_filter("something", |records| !records.is_empty()),
        cuts in prop::collection::vec((0_usize..9_000, any::<bool>()), 0..5),
        budget in prop::sample::select(&[0_u64, 2_500, u64::MAX][..]),
    ) {
        // Few different records, repeated so often that blocks fill.
        let records: Vec<_> = records.iter().cycle().take(9_000).collect();
        let mut cuts = cuts;
        cuts.sort_unstable();
        let (mut whole, mut parts) = (nothing(budget), nothing(budget));
        records.iter().for_each(|record| whole.add(record));
        let (mut kept, mut given, mut from) = (BTreeMap::new(), Blocks::default(), 0);
        for (cut, killed) in cuts {
            records[from..cut].iter().for_each(|record| parts.add(record));
            from = cut;
            let before = parts.clone();
            let (skeleton, new) = Skeleton::of(&mut parts, &mut given);
            prop_assert_eq!(&parts, &before, "saving changes nothing");
            kept.extend(new.into_iter().map(|block| (block.id, block.bytes)));
            let (_, again) = Skeleton::of(&mut parts, &mut given);
            prop_assert_eq!(again, [], "each is given once");
            if killed {
                let (skeleton, _) = stored(&skeleton);
                let find = |id| Ok::<_, Infallible>(kept[&id].clone());
                (parts, given) = skeleton.put_back(find).unwrap();
                prop_assert_eq!(&parts, &before);
            }
        }
        records[from..].iter().for_each(|record| parts.add(record));
        prop_assert_eq!(&parts, &whole);
    }
}

fn after(jobs: u64) -> (GridMeasures, Skeleton<GridMeasures>, Vec<Block>) {
    let mut measures = nothing(u64::MAX);
    (0..jobs).for_each(|at| measures.add(&Record::Job(job(at, 10 * at, at % 977, 1 + at % 89, 1))));
    let (skeleton, blocks) = Skeleton::of(&mut measures, &mut Blocks::default());
    (measures, skeleton, blocks)
}

#[test]
fn what_is_saved_each_time_does_not_grow_with_the_jobs_that_have_ended() {
    // 64 more full blocks in each of four or more vectors, at 16 bytes a block.
    let [few, many] = [1, 65].map(|blocks| stored(&after(blocks * 1_024).1).1);
    assert!(many < few + 64 * 7 * 20, "{few} and {many} bytes");
}

#[test]
fn a_block_that_is_not_what_it_was_is_told() {
    let (measures, skeleton, blocks) = after(3_000);
    let of: BTreeMap<_, _> = blocks.iter().map(|block| (block.id, &block.bytes)).collect();
    assert!(skeleton.blocks().all(|id| of.contains_key(&id)));
    let intact = |id: BlockId| of.get(&id).map(|bytes| bytes.to_vec()).ok_or("nowhere");
    assert_eq!(skeleton.clone().put_back(intact).unwrap().0, measures);

    let victim = blocks[blocks.len() / 2].id;
    let missing = |id| if id == victim { Err("nowhere") } else { intact(id) };
    assert!(matches!(skeleton.clone().put_back(missing), Err(BlockError::Read("nowhere"))));
    let cut = |id| intact(id).map(|bytes| if id == victim { bytes[8..].to_vec() } else { bytes });
    let error = skeleton.clone().put_back(cut).unwrap_err();
    assert_eq!(error.to_string(), format!("block {victim} of the measures is damaged"));
    let flipped = |id| {
        intact(id).map(|mut bytes| {
            bytes[77] ^= u8::from(id == victim);
            bytes
        })
    };
    assert!(matches!(skeleton.put_back(flipped), Err(BlockError::Damaged(id)) if id == victim));
}
