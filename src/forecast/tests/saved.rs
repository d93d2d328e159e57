//! Forecasters that are saved and restored.

use proptest::prelude::*;

use super::series::noise;
use super::*;
use crate::forecast::Forecast;
use crate::search::tests::cases;

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_forecaster_that_is_saved_goes_on_with_the_same_bits(
        values in prop::collection::vec(-1e3..1e3, 0..200),
        kept in 0.0..=1.0,
    ) {
        let before = (values.len() as f64 * kept) as usize;
        for criterion in criteria() {
            let mut straight = after(criterion, &values[..before]);
            let saved = postcard::to_stdvec(&straight).unwrap();
            let mut restored: Forecaster = postcard::from_bytes(&saved).unwrap();
            prop_assert_eq!(&restored, &straight);
            for value in &values[before..] {
                straight.observe(*value).unwrap();
                restored.observe(*value).unwrap();
                let (one, other) = (straight.forecast().unwrap(), restored.forecast().unwrap());
                prop_assert_eq!(one.value.to_bits(), other.value.to_bits());
                prop_assert_eq!(one, other);
            }
            prop_assert_eq!(postcard::to_stdvec(&straight).unwrap(), postcard::to_stdvec(&restored).unwrap());
        }
    }
}

#[test]
fn what_is_kept_does_not_grow() {
    let size = |criterion, values: &[f64]| postcard::to_stdvec(&after(criterion, values)).unwrap().len();
    let values = noise(5_000, 0.0);
    let recent = Criterion::RecentSquared(Criterion::RECENT);
    for (criterion, most) in [(Criterion::Squared, 2_000), (recent, 15_500)] {
        let (short, long) = (size(criterion, &values[..60]), size(criterion, &values));
        // The number of values takes a byte more.
        assert!(long <= short + 1 && long < most, "{short} {long}");
    }
}

#[test]
fn a_forecast_is_saved_with_the_name_of_its_predictor() {
    let forecast = after(Criterion::Squared, &[1.0, 2.0, 2.0]).forecast().unwrap();
    let json = serde_json::to_string(&forecast).unwrap();
    assert!(json.contains(r#""by":"last""#), "{json}");
    assert_eq!(serde_json::from_str::<Forecast>(&json).unwrap(), forecast);
    assert_eq!(postcard::from_bytes::<Forecast>(&postcard::to_stdvec(&forecast).unwrap()).unwrap(), forecast);
    let error = serde_json::from_str::<Predictor>(r#""best""#).unwrap_err();
    assert!(error.to_string().contains("there is no predictor `best`"), "{error}");
}
