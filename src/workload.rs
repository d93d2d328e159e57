//! Sources of jobs: generators, shapers and what a workload contains.
//!
//! A [`Source`] yields jobs in order of submission, one at a time, so that memory follows the jobs in the system and
//! not the length of the log. Generators and shapers (estimates, load) are sources too, each with its own random
//! streams. File formats are read and written in [`crate::formats`].

mod census;
mod coupled;
pub mod cwf;
mod feedback;
mod generator;
pub mod huang;
pub mod lublin;
mod merged;
pub mod poisson;
pub mod random;
mod shape;
mod source;
mod spec;
pub mod tsafrir;

pub use census::{
    Census, ClassShare, CommandContents, CommandKind, Contents, Dedicated, HourReference, Hours, Quantity,
    Sizes,
};
pub use coupled::{Coupled, CoupledSpec, MOST_PARTS};
pub use feedback::Feedback;
pub use generator::{Drawn, Generated, Generator};
pub use merged::Merged;
pub use shape::{
    BudgetRule, Carrying, Data, DeadlineRule, Estimated, Estimates, Factor, First, Left, LimitBasis,
    LimitFactor, LimitRules, Limited, Malleable, MalleableSpec, Resizable, Scaled, Scaling, Shape,
    ShapeError, Shaped, SpeedupForm,
};
pub use source::{Jobs, Mark, Source, SourceError};
pub use spec::{Field, Key, Reading, Setting, Spec, Word};
