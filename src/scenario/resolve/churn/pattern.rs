//! Names with signs that stand for others.

/// Whether a name is of this form: `*` stands for any signs, `?` for one.
pub(super) fn fits(form: &str, name: &str) -> bool {
    let (form, name): (Vec<char>, Vec<char>) = (form.chars().collect(), name.chars().collect());
    let (mut at, mut sign, mut star) = (0, 0, None);
    while sign < name.len() {
        match form.get(at) {
            Some('*') => {
                star = Some((at, sign));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[sign] => (at, sign) = (at + 1, sign + 1),
            _ => match star {
                // The last star takes one sign more.
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    (at, sign) = (place + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    form[at..].iter().all(|sign| *sign == '*')
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stand_for_any_signs() {
        for (form, name) in [
            ("*", ""),
            ("a*", "abc"),
            ("*/c1/*", "G1/c1/n1"),
            ("n?", "n7"),
            ("a*b*c", "axxbybc"),
            ("é?", "éü"),
        ] {
            assert!(fits(form, name), "{form} {name}");
        }
        for (form, name) in [("", "a"), ("a", ""), ("a*", "ba"), ("n?", "n12"), ("n?", "n"), ("a*b", "abc")] {
            assert!(!fits(form, name), "{form} {name}");
        }
    }
}
