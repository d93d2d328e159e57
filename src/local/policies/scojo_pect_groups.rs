//! SCOJO-PECT with group optimisation, by name.

pub(super) use super::scojo_pect::groups_info as info;
