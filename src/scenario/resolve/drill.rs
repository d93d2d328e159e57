//! What a drill expects, each with its place, and whether the sites that it names are there.

use super::Checker;
use crate::scenario::drill::{Drill, Expected};
use crate::scenario::expectation::Figure;
use crate::scenario::keys::DrillKeys;
use crate::scenario::names::{listed, near};
use crate::scenario::tree::{Node, Path};

impl Checker<'_> {
    /// The drill of the scenario.
    pub(in crate::scenario) fn drill(&mut self, keys: &DrillKeys) -> Drill {
        let path = Path::default().key("drill");
        if keys.about.trim().is_empty() {
            self.wrong(&path.key("about"), "say in a sentence what happened to whom");
        }
        if keys.expect.is_empty() {
            self.wrong(&path.key("expect"), "a drill expects something, such as `completed == submitted`");
        }
        let sites = self.document.root.get("site").and_then(Node::list).unwrap_or_default();
        let name = |site: &Node| Some(site.table()?.get("name")?.node.text()?.to_owned());
        let sites: Vec<String> = sites.iter().filter_map(name).collect();
        let mut expects = Vec::new();
        for (at, expectation) in keys.expect.iter().enumerate() {
            let path = path.key("expect").item(at);
            for figure in expectation.figures() {
                if let Figure::Count(count) = figure
                    && let Some(site) = count.site.as_ref().filter(|site| !sites.contains(site))
                {
                    let names = || sites.iter().map(String::as_str);
                    let message = format!(
                        "there is no site `{site}`{}; there are {}",
                        near(site, names()),
                        listed(names())
                    );
                    self.wrong(&path, message);
                }
            }
            let place = self.document.problem(&path, "");
            expects.push(Expected { expectation: expectation.clone(), place });
        }
        Drill { about: keys.about.trim().to_owned(), expects }
    }
}
