//! What the fuzz targets try: the functions of the integration tests.

#[path = "../../tests/it/fuzzed/targets.rs"]
pub mod targets;
