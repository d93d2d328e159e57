//! Tests of files that are read back and of disks that fill up.

mod disks;
mod files;
mod read;
mod resumed;
mod traced;
