//! What drives entities, tried on toys: whatever the engine, the windows, the promises and the threads, the same records in
//! the same order; and what goes wrong is named.

mod actors;
mod faults;
mod paced;
mod same;
mod toy;
