//! Lists without repetitions, in the order of first appearance; and which rows of a table are best.

/// Each of the values once.
pub(super) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// The index of a value in the list. A new value is added to its end.
pub(super) fn index_in<T: PartialEq + Clone>(list: &mut Vec<T>, value: &T) -> usize {
    list.iter().position(|known| known == value).unwrap_or_else(|| {
        list.push(value.clone());
        list.len() - 1
    })
}

/// For each column of a table of numbers the first row with the least; `None` where all rows have the same.
pub(super) fn best_of_each(rows: &[&[f64]]) -> Vec<Option<usize>> {
    let columns = rows.iter().map(|row| row.len()).min().unwrap_or(0);
    let best = |column: usize| {
        let least =
            (0..rows.len()).min_by(|one, other| rows[*one][column].total_cmp(&rows[*other][column]))?;
        rows.iter().any(|row| row[column] != rows[least][column]).then_some(least)
    };
    (0..columns).map(best).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_least_is_best_and_nothing_where_all_are_alike() {
        assert_eq!(
            best_of_each(&[&[3.0, 1.0, 0.0], &[2.0, 1.0, 5.0], &[2.0, 1.0, 0.0]]),
            [Some(1), None, Some(0)]
        );
        assert_eq!(best_of_each(&[]), []);
        assert_eq!(best_of_each(&[&[1.0]]), [None]);
    }
}
