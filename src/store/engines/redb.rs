//! redb 4: one file, transactions, a stable file format.

use std::fmt;
use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use crate::store::engine::{Engine, EngineError};

const PAIRS: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("pairs");
const FILE: &str = "pairs.redb";

pub(in crate::store) struct Redb {
    db: Database,
    /// The transaction with all changes since the last flush.
    open: Option<WriteTransaction>,
}

/// Opens the database in this folder.
pub(super) fn open(folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
    let db = redb::Builder::new().set_cache_size(8 << 20).create(folder.join(FILE)).map_err(message)?;
    Ok(Box::new(Redb::new(db)))
}

impl Redb {
    pub(in crate::store) const fn new(db: Database) -> Self {
        Self { db, open: None }
    }

    fn begin(&mut self) -> Result<&WriteTransaction, EngineError> {
        if self.open.is_none() {
            self.open = Some(self.db.begin_write().map_err(message)?);
        }
        self.open.as_ref().ok_or_else(|| EngineError::Other("no transaction".to_owned()))
    }

    /// Calls `look` with the present table, flushed or not; `None` if there is no table yet.
    fn look<T>(
        &self,
        look: impl FnOnce(&dyn Pairs) -> Result<T, redb::StorageError>,
    ) -> Result<Option<T>, EngineError> {
        let found = match &self.open {
            Some(open) => match open.open_table(PAIRS) {
                Ok(table) => look(&table),
                Err(error) => return Err(message(error)),
            },
            None => match self.db.begin_read().map_err(message)?.open_table(PAIRS) {
                Ok(table) => look(&table),
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
                Err(error) => return Err(message(error)),
            },
        };
        found.map(Some).map_err(message)
    }
}

/// Reading from a table, in a transaction that writes or in one that reads.
trait Pairs {
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, redb::StorageError>;
    fn keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, redb::StorageError>;
}

impl<T: ReadableTable<&'static [u8], &'static [u8]>> Pairs for T {
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, redb::StorageError> {
        Ok(self.get(key)?.map(|value| value.value().to_vec()))
    }

    fn keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, redb::StorageError> {
        let mut keys = Vec::new();
        for pair in self.range(prefix..)? {
            let (key, _) = pair?;
            if !key.value().starts_with(prefix) {
                break;
            }
            keys.push(key.value().to_vec());
        }
        Ok(keys)
    }
}

impl Engine for Redb {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), EngineError> {
        let mut table = self.begin()?.open_table(PAIRS).map_err(message)?;
        table.insert(key, value).map(drop).map_err(message)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        Ok(self.look(|pairs| pairs.value(key))?.flatten())
    }

    fn keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, EngineError> {
        Ok(self.look(|pairs| pairs.keys(prefix))?.unwrap_or_default())
    }

    fn flush(&mut self) -> Result<(), EngineError> {
        // Durability::Immediate is redb's default: the commit is on the disk when it returns.
        self.open.take().map_or(Ok(()), |open| open.commit().map_err(message))
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

impl fmt::Debug for Redb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redb").field("open", &self.open.is_some()).finish_non_exhaustive()
    }
}

fn message(error: impl Into<redb::Error>) -> EngineError {
    match error.into() {
        redb::Error::Io(error) => EngineError::Io(error),
        redb::Error::Corrupted(what) => EngineError::Damaged(what),
        other => EngineError::Other(other.to_string()),
    }
}
