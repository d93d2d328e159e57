//! Tests of the conversation, with oracles that are functions.
