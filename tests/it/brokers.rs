//! Broker policies: hand-worked cases, slow reference implementations on random views, and invariants of all policies.

mod all;
mod bounds;
mod by_hand;
mod mappers;
mod mojs;
mod outside;
mod scenes;
mod sweep;
mod twins;

pub(crate) use all::written;
