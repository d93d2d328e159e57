//! What cannot be searched is an error with a name.

use std::f64::consts::PI;

use super::flat;
use crate::search::{
    Archive, ArchiveSize, Method, Points, Problem, Search, SearchError, Settings, WeightedSum, fronts,
    hypervolume,
};
use crate::workload::random::Stream;

/// A problem whose values are as its fields say.
#[derive(Debug)]
struct Odd {
    objectives: usize,
    value: f64,
    violation: f64,
}

const FINE: Odd = Odd { objectives: 2, value: 0.0, violation: 0.0 };

impl Problem for Odd {
    type Genome = ();
    type Scratch = ();

    fn objectives(&self) -> usize {
        self.objectives
    }

    fn scratch(&self) {}

    fn random(&self, _: &mut Stream) {}

    fn cross(&self, (): &mut (), (): &mut (), _: &mut Stream) {}

    fn mutate(&self, (): &mut (), _: &mut Stream) {}

    fn evaluate(&self, (): &(), (): &mut (), objectives: &mut [f64]) -> f64 {
        objectives.fill(self.value);
        self.violation
    }
}

fn error(problem: &Odd, settings: Settings) -> String {
    Search::new(problem, Method::Nsga2, settings, &[]).and_then(Search::run).unwrap_err().to_string()
}

#[test]
fn settings() {
    let small = Settings { population: 4, generations: 2, ..Settings::default() };
    assert!(Search::new(&FINE, Method::Nsga2, small, &[(); 4]).unwrap().run().is_ok());
    for population in [0, 1, 7, 200_000] {
        assert_eq!(
            error(&FINE, Settings { population, ..small }),
            format!("a population of {population}: it must be an even number from 2 to 100000")
        );
    }
    assert_eq!(
        error(&FINE, Settings { generations: 0, ..small }),
        "0 generations: the first one is the random one, so there must be at least 1"
    );
    assert_eq!(
        error(&FINE, Settings { crossover: 1.5, ..small }),
        "the probability of crossover is 1.5, not from 0 to 1"
    );
    assert_eq!(
        error(&FINE, Settings { mutation: f64::NAN, ..small }),
        "the probability of mutation is NaN, not from 0 to 1"
    );
    assert_eq!(
        error(&FINE, Settings { archive: ArchiveSize::Bounded(0), ..small }),
        "an archive of 0 points: it must hold at least 1"
    );
    assert_eq!(error(&Odd { objectives: 0, ..FINE }, small), "no objectives: there must be at least 1");
    assert_eq!(
        Search::new(&FINE, Method::Nsga2, small, &[(); 5]).unwrap_err().to_string(),
        "5 genomes were given for a first population of 4"
    );
}

#[test]
fn evaluations() {
    let small = Settings { population: 4, generations: 2, ..Settings::default() };
    for value in [f64::NAN, f64::INFINITY] {
        assert_eq!(
            error(&Odd { value, ..FINE }, small),
            format!("objective 0 of child 0 of generation 0 is {value}, not a finite number")
        );
    }
    for violation in [f64::NAN, f64::INFINITY, -1.0] {
        assert_eq!(
            error(&Odd { violation, ..FINE }, small),
            format!("the violation of constraints of point 0 is {violation}, not a finite number from 0 on")
        );
    }
    // A negative zero is no violation.
    assert!(Search::new(&Odd { violation: -0.0, ..FINE }, Method::Nsga2, small, &[]).is_ok());
}

#[test]
fn weights() {
    let unit = [(0.0, 1.0), (0.0, 1.0)];
    let error =
        |weights: &[f64], references: &[(f64, f64)]| WeightedSum::new(weights, references).unwrap_err();
    assert_eq!(error(&[], &[]), SearchError::NoObjectives);
    assert_eq!(error(&[0.0, 0.0], &unit), SearchError::NoWeight);
    assert_eq!(error(&[1.0, -1.0], &unit), SearchError::Weight { objective: 1, value: -1.0 });
    assert!(matches!(error(&[f64::NAN, 1.0], &unit), SearchError::Weight { objective: 0, .. }));
    assert_eq!(error(&[1.0], &unit).to_string(), "the list of references has 2 objectives, not 1");
    assert_eq!(
        error(&[1.0, 1.0], &[(0.0, 1.0), (2.0, 2.0)]),
        SearchError::Range { objective: 1, best: 2.0, worst: 2.0 }
    );
    assert!(matches!(
        error(&[1.0, 1.0], &[(f64::NAN, 1.0), (0.0, 1.0)]),
        SearchError::Range { objective: 0, .. }
    ));
    assert!(matches!(
        error(&[1.0, 1.0], &[(-1e308, 1e308), (0.0, 1.0)]),
        SearchError::Range { objective: 0, .. }
    ));
    let one = WeightedSum::new(&[1.0], &[(0.0, 1.0)]).unwrap();
    let wrong = Search::new(&FINE, Method::WeightedSum(one), Settings::default(), &[]).unwrap_err();
    assert_eq!(wrong.to_string(), "the weighted sum has 1 objectives, not 2");
    // Values far beyond the references, where sums are infinite or no numbers, are searched as well.
    for (value, weights) in [(1e308, [1.0, 0.0]), (1e308, [0.0, 1.0]), (-1e308, [1.0, 1.0])] {
        let sum = WeightedSum::new(&weights, &[(0.0, 1e-9), (-1e-9, 0.0)]).unwrap();
        let small = Settings { generations: 3, ..Settings::default() };
        let found =
            Search::new(&Odd { value, ..FINE }, Method::WeightedSum(sum.clone()), small, &[]).unwrap().run();
        assert!(found.is_ok() && sum.of(&[value, value]).is_infinite());
    }
    // Only shares matter, even of the greatest weights.
    let sum = WeightedSum::new(&[1e308, 1e308], &[(0.0, 2.0), (1.0, 3.0)]).unwrap();
    assert_eq!(sum.of(&[1.0, 3.0]), 0.75);
}

#[test]
fn sets_of_points() {
    assert_eq!(Points::new(&[], 0), Err(SearchError::NoObjectives));
    assert_eq!(Points::new(&[1.0, 2.0, 3.0], 2), Err(SearchError::Ragged { values: 3, objectives: 2 }));
    assert_eq!(
        Points::new(&[1.0, 2.0, 3.0, f64::INFINITY], 2),
        Err(SearchError::Value { point: 1, objective: 1, value: f64::INFINITY })
    );
    let values = flat(&[[1.0, PI], [2.0, 1.0]]);
    let points = Points::new(&values, 2).unwrap();
    assert_eq!(
        (points.len(), points.is_empty(), points.get(1), points.get(2)),
        (2, false, Some(&values[2..]), None)
    );
    assert_eq!(fronts(points, &[0.0]), Err(SearchError::Violations { violations: 1, points: 2 }));
    assert_eq!(fronts(points, &[0.0, -1.0]), Err(SearchError::Violation { point: 1, value: -1.0 }));
    assert_eq!(
        hypervolume(points, &[1.0]),
        Err(SearchError::Objectives { what: "the reference", found: 1, wanted: 2 })
    );
    assert!(matches!(hypervolume(points, &[1.0, f64::NAN]), Err(SearchError::Value { objective: 1, .. })));
    let mut archive = Archive::unbounded(2).unwrap();
    assert_eq!(
        archive.insert(&(), &[1.0]),
        Err(SearchError::Objectives { what: "the point", found: 1, wanted: 2 })
    );
    assert!(archive.insert(&(), &[1.0, f64::NAN]).is_err() && archive.is_empty());
    assert_eq!(Archive::<()>::unbounded(0), Err(SearchError::NoObjectives));
}
