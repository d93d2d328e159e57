//! Files that read back, disks that fill, tables that look right.

mod disks;
mod files;
mod grid;
mod read;
mod resumed;
mod shown;
mod traced;
