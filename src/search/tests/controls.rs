//! The controls.

use super::problems::known;
use super::search::Mapping;
use crate::search::{ArchiveSize, Method, Search, Settings, WeightedSum, hypervolume};

/// Of a small problem the weighted sum finds the mapping of the least sum that an exhaustive search finds.
#[test]
fn a_weighted_sum_finds_its_minimum() {
    let mapping = Mapping { tasks: 6, most: 3 };
    let exact = mapping.exhaustive();
    for weights in [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [3.0, 1.0]] {
        let sum = WeightedSum::new(&weights, &[(0.0, 12.0), (10.0, 30.0)]).unwrap();
        // The minimum of a weighted sum is a point that none dominates, or equals one in what has a weight.
        let least = exact.points().iter().map(|point| sum.of(point)).fold(f64::INFINITY, f64::min);
        let settings = Settings { population: 40, generations: 40, ..Settings::default() };
        let found =
            Search::new(&mapping, Method::WeightedSum(sum.clone()), settings, &[]).unwrap().run().unwrap();
        assert_eq!(found.evaluations, settings.budget());
        let (population, points) = (&found.population, found.population.points());
        assert!((sum.of(points.get(0).unwrap()) - least).abs() < 1e-12);
        assert!(population.violations()[0] == 0.0);
        // The population is in order of its sums.
        let sums: Vec<f64> = points.iter().map(|point| sum.of(point)).collect();
        assert!(sums.is_sorted());
    }
}

/// With the same budget, NSGA-II covers what random search does not come near to.
#[test]
fn nsga2_is_better_than_its_controls() {
    let known = known("ZDT1");
    let settings = Settings { generations: 60, archive: ArchiveSize::Unbounded, ..Settings::default() };
    let sum = WeightedSum::new(&[1.0, 1.0], &[(0.0, 1.0), (0.0, 1.0)]).unwrap();
    let [nsga2, weighted, random] = [Method::Nsga2, Method::WeightedSum(sum), Method::Random].map(|method| {
        let found = Search::new(&known.problem, method, settings, &[]).unwrap().run().unwrap();
        assert_eq!(found.evaluations, 6_000);
        hypervolume(found.archive.unwrap().points(), &[1.1, 6.0]).unwrap()
    });
    assert!(nsga2 > weighted && weighted > random, "{nsga2} {weighted} {random}");
}
