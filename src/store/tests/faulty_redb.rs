//! redb on a disk that fails.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex};

use redb::StorageBackend;

use super::faults::fail_each;
use super::faulty::{Faulty, How};
use crate::store::disk::Disk;
use crate::store::engines::redb::Redb;
use crate::store::{Engine, EngineError};

/// The file of a redb database on a faulty disk.
#[derive(Debug)]
struct Backend {
    disk: Arc<Faulty>,
    file: Mutex<File>,
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.lock().unwrap().metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap();
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.set_len(&self.file.lock().unwrap(), len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.sync(&self.file.lock().unwrap())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap();
        file.seek(SeekFrom::Start(offset))?;
        self.disk.write(&mut file, data)
    }
}

fn redb_on(disk: &Arc<Faulty>, folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
    let file = disk.open(&folder.join("pairs.redb"))?;
    let backend = Backend { disk: Arc::clone(disk), file: Mutex::new(file) };
    let db = redb::Builder::new().create_with_backend(backend);
    match db {
        Ok(db) => Ok(Box::new(Redb::new(db))),
        Err(redb::DatabaseError::Storage(redb::StorageError::Io(error))) => Err(error.into()),
        Err(error) => Err(EngineError::Other(error.to_string())),
    }
}

#[test]
fn every_write_of_redb_can_fail() {
    fail_each(redb_on, &[How::Short], 5);
    fail_each(redb_on, &[How::Io], 17);
}
