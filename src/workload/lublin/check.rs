//! Checks that parameters make sense, and that drawing with them terminates.

use super::cycle::mass;
use super::laws::{GAP_CAP, RUNTIME_CAP};
use super::params::{ArrivalParams, JobParams, Kind, PARAMETERS, RuntimeParams, SizeParams};
use super::spec::LublinSpec;
use crate::model::NamedError;
use crate::workload::Spec;

/// The least share of draws within a cap. Draws beyond it are repeated, which takes too long below this share.
const LEAST_ACCEPTED: f64 = 0.01;

impl JobParams {
    /// Checks that the parameters make sense for a machine of `procs` processors and that drawing terminates.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] names the parameter and what would be right.
    pub fn check(&self, kind: Kind, procs: u32) -> Result<(), NamedError> {
        let fail = |key: &str, value: f64, expected: String| {
            Err(LublinSpec::bad(&format!("{}{key}", kind.prefix()), value, &expected))
        };
        for parameter in &PARAMETERS {
            let value = parameter.get(self);
            if !parameter.allowed.holds(value) {
                return fail(parameter.key, value, parameter.allowed.to_string());
            }
        }
        let SizeParams { serial, pow2, ulow, umed, uhi, .. } = self.size;
        // A sum that exceeds 1 only by rounding is accepted.
        if serial + pow2 > 1.0 + 1e-9 {
            return fail(
                "pow2",
                pow2,
                format!("at most 1 with `serial={serial}`: both are shares of all jobs"),
            );
        }
        let most = libm::ceil(libm::log2(f64::from(procs)));
        if uhi > most {
            return fail("uhi", uhi, format!("at most {most}, the log2 of {procs} processors rounded up"));
        }
        if !(ulow <= umed && umed <= uhi) {
            return fail("umed", umed, format!("from `ulow={ulow}` to `uhi={uhi}`"));
        }
        self.arrival.check_draws(fail)?;
        self.runtime.check_draws(procs, fail)
    }
}

impl ArrivalParams {
    /// Rejects parameters with which hardly any draw is below the model's cap, or within a day.
    pub(in crate::workload) fn check_draws<E>(
        &self,
        fail: impl Fn(&str, f64, String) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.gaps().cdf(GAP_CAP) < LEAST_ACCEPTED {
            let expected = format!(
                "low enough with `barr={}` and `arar={}`: fewer than 1 % of the gaps are below the model's e^13 s",
                self.barr, self.arar
            );
            return fail("aarr", self.aarr, expected);
        }
        if mass(self) < LEAST_ACCEPTED {
            let expected = format!(
                "a shape of a daily cycle with `bnum={}`: hardly a job falls within a day of 05:30",
                self.bnum
            );
            return fail("anum", self.anum, expected);
        }
        Ok(())
    }
}

impl RuntimeParams {
    /// Rejects parameters with which hardly any draw for jobs of up to `largest` is below the model's cap.
    pub(in crate::workload) fn check_draws<E>(
        &self,
        largest: u32,
        fail: impl Fn(&str, f64, String) -> Result<(), E>,
    ) -> Result<(), E> {
        let [short, long] = self.stages().map(|stage| stage.cdf(RUNTIME_CAP));
        // The mixture is monotone in the size, so the worst case is at an end.
        for size in [1, largest] {
            let p = self.short_probability(size);
            if p * short + (1.0 - p) * long < LEAST_ACCEPTED {
                let (key, value) = if p > 0.5 { ("a1", self.a1) } else { ("a2", self.a2) };
                let expected = format!(
                    "low enough: fewer than 1 % of the run times of jobs of size {size} are below the model's e^12 s"
                );
                return fail(key, value, expected);
            }
        }
        Ok(())
    }
}
