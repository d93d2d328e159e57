//! What connects the portal and the sites.

use crate::scenario::kind::key::keys;
use crate::scenario::kind::words::{Or, Unlimited};
use crate::units::{Bandwidth, Span};

keys! {
    /// What connects the portal and the sites.
    NetworkKeys, "a table of the network" {
        /// Time of a message between any two places (sites or the portal). If there are links and this is not given, only
        /// places with a link are connected.
        latency: Option<Span> = link.iter().flatten().all(Vec::is_empty).then_some(Span::ZERO)
            => "0 s; none if there are links";
        /// Shared by the transfers between two places.
        bandwidth: Or<Unlimited, Bandwidth> = Or::Word(Unlimited);
        /// A pair of places with other values.
        link: Option<Vec<LinkKeys>> = None => "none";
    }
}

keys! {
    /// A connection of two places.
    LinkKeys, "a table of a link" {
        /// The two places: names of sites, or `"portal"`.
        between: Vec<String>;
        /// Time of a message.
        latency: Option<Span> => "that of the network";
        /// Shared by the transfers.
        bandwidth: Or<Unlimited, Bandwidth> = Or::Word(Unlimited) => "that of the network";
    }
}
