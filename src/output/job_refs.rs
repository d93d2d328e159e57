//! Names of the jobs of a folder's tables.

use std::sync::Arc;

use crate::model::{JobId, JobRef, Origin, SiteId};

/// Names the jobs of tables, which have the names of sites: a site is numbered when it is first met.
#[derive(Debug, Default)]
pub struct JobRefs(Vec<Arc<str>>);

impl JobRefs {
    /// The name of a job that is at, or ended at, a site.
    pub fn name(&mut self, origin: Origin, job: u64, site: &Arc<str>) -> JobRef {
        let at = match origin {
            Origin::Grid => None,
            Origin::Local => Some(self.0.iter().position(|known| known == site).unwrap_or_else(|| {
                self.0.push(Arc::clone(site));
                self.0.len() - 1
            })),
        };
        JobRef::new(origin, at.map_or(SiteId::GRID, |at| SiteId(at as u32)), JobId(job))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_at_two_sites_names_two_jobs() {
        let mut refs = JobRefs::default();
        let [windsor, delft] = ["windsor", "delft"].map(Arc::from);
        let local = [&windsor, &delft, &windsor].map(|site| refs.name(Origin::Local, 17, site));
        assert!(local[0] == local[2] && local[0] != local[1]);
        let grid = [&windsor, &delft].map(|site| refs.name(Origin::Grid, 17, site));
        assert!(grid[0] == grid[1] && !local.contains(&grid[0]));
    }
}
