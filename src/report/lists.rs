//! Lists without repetitions, in the order of first appearance.

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
