//! The interface between the store and a database.

use std::fmt::Debug;
use std::io;

use thiserror::Error;

/// An ordered map from bytes to bytes on the disk.
///
/// The store needs nothing else, so another database is one file in `engines`. What has been put or removed is durable only
/// once [`flush`](Engine::flush) has returned.
pub trait Engine: Debug + Send {
    /// Sets the value of a key.
    ///
    /// # Errors
    /// [`EngineError`] of the database.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), EngineError>;

    /// The value of a key, if it has one.
    ///
    /// # Errors
    /// [`EngineError`] of the database.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError>;

    /// The keys that begin with `prefix`, in the order of their bytes.
    ///
    /// # Errors
    /// [`EngineError`] of the database.
    fn keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, EngineError>;

    /// Syncs all data. When it returns, the data survive a kill and a loss of power.
    ///
    /// # Errors
    /// [`EngineError`] of the database; the state of all data since the last flush is unknown then.
    fn flush(&mut self) -> Result<(), EngineError>;

    /// Closes the database. When it returns, nothing writes to its files any more.
    ///
    /// # Errors
    /// [`EngineError`] if the files are not released in time.
    fn close(self: Box<Self>) -> Result<(), EngineError>;
}

/// An error of a database.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// An error of the file system.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The files do not contain what the database wrote.
    #[error("{0}")]
    Damaged(String),
    /// This build lacks the database: it is a feature of the same name.
    #[error("this gridemu is built without the feature `{0}`")]
    NotBuiltIn(&'static str),
    /// The database panicked with this message.
    #[error("the database gave up: {0}")]
    Panicked(String),
    /// Any other error.
    #[error("{0}")]
    Other(String),
}
