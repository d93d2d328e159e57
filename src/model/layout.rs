//! The version of a saved layout.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The first field of a saved value: the version of its layout, which is raised with each change of it. Another version is
/// refused, and never misread.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout<const VERSION: u32>;

impl<const VERSION: u32> Serialize for Layout<VERSION> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        VERSION.serialize(to)
    }
}

impl<'de, const VERSION: u32> Deserialize<'de> for Layout<VERSION> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let found = u32::deserialize(from)?;
        let refuse =
            || Error::custom(format!("it has layout {found}, this version of gridemu reads {VERSION}"));
        if found == VERSION { Ok(Self) } else { Err(refuse()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_layout_is_refused() {
        let saved = postcard::to_allocvec(&(Layout::<2>, 7_u8)).unwrap();
        assert_eq!(postcard::from_bytes::<(Layout<2>, u8)>(&saved).unwrap(), (Layout, 7));
        assert!(postcard::from_bytes::<(Layout<3>, u8)>(&saved).is_err());
        let error = serde_json::from_str::<Layout<3>>("2").unwrap_err();
        assert!(error.to_string().starts_with("it has layout 2, this version of gridemu reads 3"), "{error}");
    }
}
