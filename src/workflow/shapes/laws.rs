//! Run times and sizes of tasks by type.

use crate::workload::random::{LogNormal, Portable, Stream};

/// The lognormal law of a quantity: the median `at_one` × n^`exponent` of workflows of size n, times a factor of the workflow (σ `between`),
/// times one of the task (σ `within`).
pub(super) struct Law {
    at_one: f64,
    exponent: f64,
    between: f64,
    within: f64,
}

impl Law {
    pub(super) const fn new(at_one: f64, exponent: f64, between: f64, within: f64) -> Self {
        Self { at_one, exponent, between, within }
    }
}

fn factor(sigma: f64, stream: &mut Stream) -> f64 {
    stream.draw(LogNormal::new(Portable(0.0), Portable(sigma)).expect("a finite sigma"))
}

/// A quantity of the tasks of one workflow.
struct Quantity {
    median: f64,
    within: f64,
    stream: Stream,
}

impl Quantity {
    fn new(law: &Law, n: f64, mut stream: Stream) -> Self {
        let median = law.at_one * libm::pow(n, law.exponent) * factor(law.between, &mut stream);
        Self { median, within: law.within, stream }
    }

    fn draw(&mut self) -> f64 {
        self.median * factor(self.within, &mut self.stream)
    }
}

/// The laws of a type of task: its run time in seconds and the bytes that it writes, in all.
pub(super) struct TypeLaws {
    pub kind: &'static str,
    pub runtime: Law,
    pub written: Law,
}

/// Draws run times and sizes, each of each type from a stream of its own.
pub(super) struct Draws {
    /// Type, run time, bytes written.
    types: Vec<(&'static str, Quantity, Quantity)>,
}

impl Draws {
    /// Draws for a workflow of size `n`; `stream` gives the stream of a purpose.
    pub(super) fn new(n: usize, laws: &'static [TypeLaws], stream: &dyn Fn(&str) -> Stream) -> Self {
        let quantity = |law: &Law, what: &str, kind: &str| {
            Quantity::new(law, n as f64, stream(&format!("{what} {kind}")))
        };
        let of = |laws: &TypeLaws| {
            let TypeLaws { kind, runtime, written } = laws;
            (laws.kind, quantity(runtime, "runtime", kind), quantity(written, "written", kind))
        };
        Self { types: laws.iter().map(of).collect() }
    }

    /// A run time, to the millisecond, and the bytes written of a task of type `kind`.
    ///
    /// # Panics
    /// If there are no laws of the type.
    pub(super) fn next(&mut self, kind: &str) -> (f64, f64) {
        let (_, runtime, written) =
            self.types.iter_mut().find(|(known, ..)| *known == kind).expect("a type of the shape");
        (libm::round(runtime.draw() * 1e3) / 1e3, libm::round(written.draw()))
    }
}
