//! What the store asks of a database.

use std::fmt::Debug;
use std::io;

use thiserror::Error;

/// An ordered map from bytes to bytes on the disk.
///
/// This is all that the store needs, so that another database is one file in `engines`. What has been put or
/// removed is only promised to be there later once [`flush`](Engine::flush) has returned.
pub trait Engine: Debug + Send {
    /// Sets the value of a key.
    ///
    /// # Errors
    /// [`EngineError`] as the database says.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), EngineError>;

    /// The value of a key, if it has one.
    ///
    /// # Errors
    /// [`EngineError`] as the database says.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError>;

    /// Takes a key away; nothing happens if it is not there.
    ///
    /// # Errors
    /// [`EngineError`] as the database says.
    fn remove(&mut self, key: &[u8]) -> Result<(), EngineError>;

    /// The keys that begin with `prefix`, in the order of their bytes.
    ///
    /// # Errors
    /// [`EngineError`] as the database says.
    fn keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, EngineError>;

    /// Hands everything to the disk. When it returns, the data survive a kill and a loss of power.
    ///
    /// # Errors
    /// [`EngineError`] as the database says; then nothing is known of what was not flushed before.
    fn flush(&mut self) -> Result<(), EngineError>;

    /// Closes the database. When it returns, nobody writes to its files any more.
    ///
    /// # Errors
    /// [`EngineError`] if the files are not let go of in time.
    fn close(self: Box<Self>) -> Result<(), EngineError>;
}

/// What a database can say went wrong.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The file system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The files do not hold what the database wrote there.
    #[error("{0}")]
    Damaged(String),
    /// The database panicked; its message.
    #[error("the database gave up: {0}")]
    Panicked(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}
