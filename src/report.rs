//! Files and tables.
