//! Machines of a site, and reservations of them.

use crate::scenario::kind::forms::PowerKey;
use crate::scenario::kind::key::keys;
use crate::scenario::kind::words::{All, Or};
use crate::units::{Power, Price, Span};

keys! {
    /// Machines of one class: a partition of the site. They are numbered from 0.
    MachineKeys, "a table of machines" {
        /// Name, unique in the site: letters, digits, `-` and `_`.
        class: String;
        /// Number of machines.
        count: u32 = 1;
        /// Processors (cores) per machine.
        cores: u32 = 1;
        /// MIPS of a core; its speed is this over `reference_mips`.
        mips: Option<f64>;
        /// Speed of a core, instead of `mips`: a job of a minute takes 30 s at speed 2.
        speed: Option<f64> = mips.is_none().then_some(1.0) => "1";
        /// Power of an idle machine, all cores together: `"40 W"`; or of a core, `"10 W/core"`. Power is stored in whole milliwatts per core.
        idle: PowerKey = PowerKey::Machine(Power::ZERO);
        /// Power of a machine with all cores busy, or of a busy core.
        busy: PowerKey = idle => "that of `idle`";
        /// What users pay for a core: `"0.18/core-h"`.
        price: Price = Price::default();
        /// Number of machines (the last ones) that are not there at the beginning; they can join by an event.
        absent: Or<All, u32> = Or::Value(0);
        /// Processors are allocated in multiples of this number.
        allocation_unit: u32 = 1, was "quantum";
    }
}

keys! {
    /// A block of processors that is kept from the queue for a while.
    ReservationKeys, "a table of a reservation" {
        /// Name.
        name: Option<String> => "`reservation-1`, `reservation-2`, ...";
        /// Class of machines.
        class: Option<String> => "the first";
        /// Number of processors.
        procs: u32;
        /// First instant.
        from: Span;
        /// First instant after it.
        to: Span;
    }
}
