//! Resolves the program that decides for the broker.

use std::time::Duration;

use super::Checker;
use crate::broker::outside::NAME;
use crate::model::Named;
use crate::scenario::keys::BrokerKeys;
use crate::scenario::program::ProgramPlan;
use crate::scenario::tree::Path;
use crate::units::Span;

impl Checker<'_> {
    /// The program that decides for the broker; `None` for a policy.
    pub(super) fn program(&mut self, path: &Path, keys: &BrokerKeys) -> Option<ProgramPlan> {
        let policy = &keys.policy.0;
        let Some(command) = &keys.command else {
            let given = [("folder", keys.folder.is_some()), ("timeout", keys.timeout.is_some())];
            for (key, _) in
                given.into_iter().chain([("fallback", keys.fallback.is_some())]).filter(|key| key.1)
            {
                self.wrong(&path.key(key), "it has no effect without a `command`, the program of a broker");
            }
            return None;
        };
        let at = path.key("command");
        if command.first().is_none_or(|program| program.trim().is_empty()) {
            return self.refuse(
                &at,
                "this names no program; write it with its arguments, such as `[\"python3\", \"mct.py\"]`",
            );
        }
        if *policy != Named::bare(NAME) {
            let message = format!(
                "`{policy}` is a policy, and `command` a program in its place; leave one of them out"
            );
            self.wrong(&path.key("policy"), message);
        }
        if keys.timeout == Some(Span::ZERO) {
            self.wrong(&path.key("timeout"), "an answer takes time: give a time above 0");
        }
        let fallback = keys.fallback.as_ref().map(|fallback| fallback.0.clone());
        if let Some(fallback) = &fallback
            && let Err(error) = self.policies.broker.build(fallback, 0)
        {
            self.no_policy(&path.key("fallback"), &error);
        }
        Some(ProgramPlan {
            command: command.clone(),
            folder: keys.folder.clone().unwrap_or_default().into(),
            timeout: keys.timeout.map_or(ProgramPlan::TIMEOUT, |span| Duration::from_micros(span.micros())),
            fallback,
            place: self.document.problem(&at, ""),
        })
    }
}
