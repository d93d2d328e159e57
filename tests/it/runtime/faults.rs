//! What goes wrong is named: who, and when.
