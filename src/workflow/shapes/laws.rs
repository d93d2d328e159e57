//! Run times and sizes of tasks by type.

use crate::workload::random::{LogNormal, Portable, Stream};

/// The lognormal law of a quantity, whose median grows with the size `n` of a workflow: `at_one` × n^`exponent`.
pub(super) struct Law {
    pub at_one: f64,
    pub exponent: f64,
    pub sigma: f64,
}

impl Law {
    pub(super) const fn new(at_one: f64, exponent: f64, sigma: f64) -> Self {
        Self { at_one, exponent, sigma }
    }

    fn draw(&self, n: f64, stream: &mut Stream) -> f64 {
        let unit = LogNormal::new(Portable(0.0), Portable(self.sigma)).expect("a finite sigma");
        self.at_one * libm::pow(n, self.exponent) * stream.draw(unit)
    }
}

/// The laws of a type of task: its run time in seconds and the bytes that it writes, in all.
pub(super) struct TypeLaws {
    pub kind: &'static str,
    pub runtime: Law,
    pub written: Law,
}

/// Draws run times and sizes, each type from streams of its own.
pub(super) struct Draws {
    n: f64,
    types: Vec<(&'static TypeLaws, Stream, Stream)>,
}

impl Draws {
    /// Draws for a workflow of size `n`; `stream` gives the stream of a purpose.
    pub(super) fn new(n: usize, laws: &'static [TypeLaws], stream: &dyn Fn(&str) -> Stream) -> Self {
        let of = |laws: &'static TypeLaws| {
            (laws, stream(&format!("runtime {}", laws.kind)), stream(&format!("written {}", laws.kind)))
        };
        Self { n: n as f64, types: laws.iter().map(of).collect() }
    }

    /// A run time, to the millisecond, and the bytes written of a task of type `kind`.
    ///
    /// # Panics
    /// If there are no laws of the type.
    pub(super) fn next(&mut self, kind: &str) -> (f64, f64) {
        let (laws, runtimes, sizes) =
            self.types.iter_mut().find(|(laws, ..)| laws.kind == kind).expect("a type of the shape");
        let runtime = libm::round(laws.runtime.draw(self.n, runtimes) * 1e3) / 1e3;
        (runtime, libm::round(laws.written.draw(self.n, sizes)))
    }
}
