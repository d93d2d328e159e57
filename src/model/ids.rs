//! Identifiers. Each names one kind of thing and indexes nothing else.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// The id as an index into its table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

id! {
    /// A job's number as its workload gives it (field 1 of an SWF log). Unique within a workload.
    JobId(u64)
}
id! {
    /// The place of a live job in its partition's table. Dense, so that policies can use it as an index, and
    /// **reused** once the job has left: never keep one beyond [`crate::local::Change::Ended`].
    JobKey(u32)
}
id! {
    /// A site, by its place in the scenario.
    SiteId(u32)
}

impl SiteId {
    /// The place of a job that is at no site, but with the broker or the dispatcher.
    pub const GRID: Self = Self(u32::MAX);
}

id! {
    /// A partition, by its place in its site.
    PartitionId(u32)
}

/// A pool, to which the broker can assign a job: a partition of a site.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PoolId {
    /// The site.
    pub site: SiteId,
    /// Its partition.
    pub partition: PartitionId,
}
