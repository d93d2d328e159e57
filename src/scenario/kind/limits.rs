//! Rules of deadlines and budgets.

use serde_json::{Value as Json, json};
use toml::Value;

use super::Kind;
use crate::scenario::kind::reading::Reading;
use crate::scenario::tree::{self, Node};
use crate::workload::{BudgetRule, DeadlineRule};

impl Kind for DeadlineRule {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        let Some(text) = node.text() else {
            return reading.mismatch(node, "a text such as `\"submit + 4 x estimate\"`");
        };
        text.parse().map_err(|error| reading.wrong(node, format!("{error}"))).ok()
    }

    fn show(&self) -> Option<Value> {
        Some(Value::String(self.to_string()))
    }

    fn schema() -> Json {
        let known = ["submit + 4 x estimate", "submit + 1.5..8 x estimate", "submit + 1 h"];
        json!({ "title": "deadline", "type": "string", "examples": known })
    }
}

impl Kind for BudgetRule {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        let text = match &node.value {
            tree::Value::Integer(text) | tree::Value::Bare(text) | tree::Value::Text(text) => text.clone(),
            tree::Value::Float(number) => number.to_string(),
            _ => return reading.mismatch(node, "a text such as `\"1.2 x cost\"`, or a number"),
        };
        text.parse().map_err(|error| reading.wrong(node, format!("{error}"))).ok()
    }

    fn show(&self) -> Option<Value> {
        Some(Value::String(self.to_string()))
    }

    fn schema() -> Json {
        json!({ "title": "budget", "type": ["string", "number"], "examples": ["1.2 x cost", "0.8..2 x cost", "5"] })
    }
}
