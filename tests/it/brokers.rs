//! Broker policies: cases worked by hand, slow twins over random pictures, and what holds for all of them.

mod all;
mod by_hand;
mod pictures;
mod twins;
