//! A graph in rows: what waits for what.

use super::legend::{self, Entry, Swatch};
use super::marks::{Dash, Shape};
use super::plot::{NORMAL, SMALL};
use super::sheet::{Anchor, Sheet, UNIT, polyline, tenths, text_width};
use super::{Chart, Ink, Numbers, Paint, WIDTH};

/// A node: a task, or all tasks of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DagNode {
    /// Its name, which is drawn where there is room.
    pub name: String,
    /// Tooltip.
    pub title: String,
    /// Colour and mark.
    pub ink: Ink,
    /// Its row, from 0 at the top.
    pub row: u32,
    /// How many tasks it stands for.
    pub tasks: u64,
    /// Whether it is on the critical path.
    pub marked: bool,
    /// Whether it is on the path that determined the end.
    pub ended: bool,
}

/// An edge between nodes, by their places.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DagEdge {
    /// Where it begins.
    pub from: usize,
    /// Where it ends. Where that is not in a later row, the edge is drawn as an arc.
    pub to: usize,
    /// How many edges between tasks it stands for.
    pub edges: u64,
    /// Whether it is on the critical path.
    pub marked: bool,
    /// Whether it is on the path that determined the end.
    pub ended: bool,
}

/// A graph in rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DagChart {
    /// Title of the chart.
    pub title: String,
    /// The nodes.
    pub nodes: Vec<DagNode>,
    /// The edges.
    pub edges: Vec<DagEdge>,
    /// What the colours mean.
    pub kinds: Vec<(String, Ink)>,
    /// What the critical path is.
    pub path: String,
    /// What the path that determined the end is, of a workflow that has run.
    pub end_path: Option<String>,
}

/// Height of a row in pixels: what all rows together should have, and the bounds.
const HEIGHT: u32 = 1600;
const ROW: (u32, u32) = (16, 84);
/// Radius of a node in pixels, the least and the most.
const RADIUS: (i32, i32) = (2, 8);
/// How often the order within rows is improved.
const SWEEPS: usize = 12;

impl DagChart {
    fn rows(&self) -> usize {
        self.nodes.iter().map(|node| node.row as usize + 1).max().unwrap_or(0)
    }

    /// The nodes of each row from left to right. A node goes to the mean place of its neighbours in the rows before, or behind, in turns
    /// (the barycentre heuristic of Sugiyama, Tagawa and Toda 1981), so that few edges cross.
    fn order(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.rows()];
        (0..self.nodes.len()).for_each(|node| rows[self.nodes[node].row as usize].push(node));
        let mut neighbours = [vec![Vec::new(); self.nodes.len()], vec![Vec::new(); self.nodes.len()]];
        for edge in &self.edges {
            if self.nodes[edge.from].row < self.nodes[edge.to].row {
                neighbours[0][edge.to].push(edge.from);
                neighbours[1][edge.from].push(edge.to);
            }
        }
        let mut place = vec![0.0; self.nodes.len()];
        let settle = |row: &[usize], place: &mut Vec<f64>| {
            row.iter().enumerate().for_each(|(at, node)| place[*node] = (at as f64 + 0.5) / row.len() as f64);
        };
        rows.iter().for_each(|row| settle(row, &mut place));
        for sweep in 0..SWEEPS {
            let side = &neighbours[sweep % 2];
            let number = rows.len();
            for at in 0..number {
                let row = &mut rows[if sweep % 2 == 0 { at } else { number - 1 - at }];
                let mean = |node: &usize| match &side[*node][..] {
                    [] => place[*node],
                    near => near.iter().map(|other| place[*other]).sum::<f64>() / near.len() as f64,
                };
                let mut keyed: Vec<(f64, usize)> = row.iter().map(|node| (mean(node), *node)).collect();
                keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
                *row = keyed.into_iter().map(|(_, node)| node).collect();
                settle(row, &mut place);
            }
        }
        rows
    }

    fn legend(&self) -> Vec<Entry> {
        let kinds = self.kinds.iter().map(|(name, ink)| (name.clone(), *ink, Swatch::Mark));
        let (ink, swatch) = match &self.end_path {
            None => (Ink::Wasted, Swatch::Line),
            Some(_) => (Ink::Text, Swatch::Dashed(Dash::EVEN)),
        };
        let ended = self.end_path.iter().map(|path| (path.clone(), Ink::Wasted, Swatch::Line));
        kinds.chain(ended).chain([(self.path.clone(), ink, swatch)]).collect()
    }
}

/// Where everything is, in units.
struct Placed {
    at: Vec<(i32, i32)>,
    radius: Vec<i32>,
    /// The room of each node from its left to its right.
    slot: Vec<i32>,
}

impl Chart for DagChart {
    fn svg(&self, paint: Paint) -> String {
        let rows = self.order();
        let high = (HEIGHT / rows.len().max(1) as u32).clamp(ROW.0, ROW.1);
        let (width, height) = paint.size((WIDTH, high * rows.len() as u32 + 24));
        let entries = self.legend();
        let inner = width as i32 - 2 * 16;
        let top = legend::height(&entries, inner) + 8;
        let sheet = Sheet::new(width, height + top as u32, paint, &self.title);
        legend::draw(&sheet, &entries, 16, 4, inner);
        let step = (height as i32 - 24) * UNIT / rows.len().max(1) as i32;
        let mut placed = Placed {
            at: vec![(0, 0); self.nodes.len()],
            radius: vec![0; self.nodes.len()],
            slot: vec![0; self.nodes.len()],
        };
        for (number, row) in rows.iter().enumerate() {
            let slot = inner * UNIT / row.len().max(1) as i32;
            let radius = (slot / 2 - UNIT).min(step / 4).clamp(RADIUS.0 * UNIT, RADIUS.1 * UNIT);
            for (at, node) in row.iter().enumerate() {
                let x = 16 * UNIT + at as i32 * slot + slot / 2;
                placed.at[*node] = (x, top * UNIT + number as i32 * step + step / 2);
                (placed.radius[*node], placed.slot[*node]) = (radius, slot);
            }
        }
        self.draw_edges(&sheet, &placed, width as i32 * UNIT);
        self.draw_nodes(&sheet, &placed, step);
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        let mut numbers = Numbers::new(["node", "successor", "row", "tasks", "edges", "on the path"]);
        if self.end_path.is_some() {
            numbers.head.push("determined the end".to_owned());
        }
        let marked = |marked: bool| if marked { "yes" } else { "no" }.to_owned();
        let ended = |ended: bool| self.end_path.is_some().then(|| marked(ended));
        for node in &self.nodes {
            let [row, tasks] = [u64::from(node.row), node.tasks].map(|number| number.to_string());
            let cells = [node.name.clone(), String::new(), row, tasks, String::new(), marked(node.marked)];
            numbers.rows.push(cells.into_iter().chain(ended(node.ended)).collect());
        }
        for edge in &self.edges {
            let [from, to] = [edge.from, edge.to].map(|node| self.nodes[node].name.clone());
            let (none, edges) = (String::new(), edge.edges.to_string());
            let cells = [from, to, none.clone(), none, edges, marked(edge.marked)];
            numbers.rows.push(cells.into_iter().chain(ended(edge.ended)).collect());
        }
        numbers
    }
}

impl DagChart {
    fn draw_edges(&self, sheet: &Sheet, placed: &Placed, width: i32) {
        let most = self.edges.iter().map(|edge| edge.edges).max().unwrap_or(1) as f64;
        let alpha = if self.edges.len() > 500 { 0.35 } else { 0.6 };
        // Edges that are on no path, then the path that determined the end, then the critical path, dashed if the other is there.
        for layer in 0..3 {
            let is_drawn = |edge: &&DagEdge| match layer {
                0 => !edge.marked && !edge.ended,
                1 => edge.ended,
                _ => edge.marked,
            };
            for edge in self.edges.iter().filter(is_drawn) {
                let ((x, y), (to_x, to_y)) = (placed.at[edge.from], placed.at[edge.to]);
                let later = self.nodes[edge.from].row < self.nodes[edge.to].row;
                let data = if edge.from == edge.to {
                    // A loop on the right side.
                    let [reach, half] = [2 * placed.radius[edge.from] + 12 * UNIT, placed.radius[edge.from]];
                    curve(
                        (x, y - half / 2),
                        (x + reach, y - 2 * half),
                        (x + reach, y + 2 * half),
                        (x, y + half / 2),
                    )
                } else if later && self.covers_a_node(edge, placed) {
                    // Around what is between them, on the left, since names are on the right.
                    let (bend, left) = ((to_y - y) / 4, |x: i32, bend: i32| (x - bend).max(4 * UNIT));
                    curve((x, y), (left(x, bend), y + bend), (left(to_x, bend), to_y - bend), (to_x, to_y))
                } else if later {
                    polyline([(x, y), (to_x, to_y)])
                } else {
                    let reach = (x.max(to_x) + 60 * UNIT).min(width - 4 * UNIT);
                    curve((x, y), (reach, y), (reach, to_y), (to_x, to_y))
                };
                // From 0.6 pixels for one edge to 3 for the most.
                let share = if most > 1.0 { libm::log(edge.edges as f64) / libm::log(most) } else { 0.0 };
                let wide = libm::round(6.0 + 24.0 * share) / 10.0;
                let below = self.end_path.is_some();
                sheet.dash((!later || layer == 2 && below).then_some(Dash::EVEN));
                match layer {
                    0 => sheet.stroke(&data, Ink::Axis, alpha, wide),
                    1 => sheet.stroke(&data, Ink::Wasted, 1.0, 3.6),
                    _ if below => sheet.stroke(&data, Ink::Text, 1.0, 1.4),
                    _ => sheet.stroke(&data, Ink::Wasted, 1.0, 2.2),
                }
                sheet.dash(None);
            }
        }
    }

    /// Whether a straight line would go over a node of a row between.
    fn covers_a_node(&self, edge: &DagEdge, placed: &Placed) -> bool {
        let (from, to) = (placed.at[edge.from], placed.at[edge.to]);
        let between = self.nodes[edge.from].row + 1..self.nodes[edge.to].row;
        let is_under = |node: usize| {
            let (x, y) = placed.at[node];
            let line =
                from.0 + (f64::from(to.0 - from.0) * f64::from(y - from.1) / f64::from(to.1 - from.1)) as i32;
            (line - x).abs() < placed.radius[node] + 2 * UNIT
        };
        !between.is_empty()
            && (0..self.nodes.len()).any(|node| between.contains(&self.nodes[node].row) && is_under(node))
    }

    fn draw_nodes(&self, sheet: &Sheet, placed: &Placed, step: i32) {
        for (node, at) in self.nodes.iter().zip(0..) {
            let radius = placed.radius[at];
            let ring = |wide: i32, ink: Ink| {
                sheet.shape(placed.at[at], radius + wide, ink, Shape::Circle, true, None)
            };
            match &self.end_path {
                None if node.marked => ring(3 * UNIT, Ink::Wasted),
                None => {}
                Some(_) => {
                    if node.ended {
                        ring(4 * UNIT, Ink::Wasted);
                    }
                    if node.marked {
                        ring(2 * UNIT, Ink::Text);
                    }
                }
            }
            sheet.mark(placed.at[at], radius, node.ink, true, Some(&node.title));
        }
        // A name beside its node, or below it, where it fits between its neighbours and above the next row.
        for (node, at) in self.nodes.iter().zip(0..) {
            let ((x, y), radius, slot) = (placed.at[at], placed.radius[at], placed.slot[at]);
            let wide = text_width(&node.name, NORMAL);
            let below = radius + 14 * UNIT;
            if radius + 12 * UNIT + wide <= slot / 2 {
                sheet.haloed(
                    &node.name,
                    (x + radius + 8 * UNIT, y + 4 * UNIT),
                    NORMAL,
                    Ink::Text,
                    Anchor::Start,
                );
            } else if text_width(&node.name, SMALL) + 6 * UNIT <= slot && below + 10 * UNIT <= step {
                sheet.haloed(&node.name, (x, y + below), SMALL, Ink::Text, Anchor::Middle);
            }
        }
    }
}

/// A cubic curve as path data.
fn curve(from: (i32, i32), one: (i32, i32), other: (i32, i32), to: (i32, i32)) -> String {
    let point = |(x, y): (i32, i32)| format!("{} {}", tenths(x), tenths(y));
    format!("M{}C{} {} {}", point(from), point(one), point(other), point(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(rows: &[u32], edges: &[(usize, usize)]) -> DagChart {
        let node = |(at, row): (usize, &u32)| DagNode {
            name: format!("n{at}"),
            title: format!("node {at}"),
            ink: Ink::Series(0),
            row: *row,
            tasks: 1,
            marked: at == 0,
            ended: false,
        };
        let edge = |(from, to): &(usize, usize)| DagEdge {
            from: *from,
            to: *to,
            edges: 3,
            marked: false,
            ended: false,
        };
        DagChart {
            title: "a < b".to_owned(),
            nodes: rows.iter().enumerate().map(node).collect(),
            edges: edges.iter().map(edge).collect(),
            kinds: vec![("n".to_owned(), Ink::Series(0))],
            path: "critical path".to_owned(),
            end_path: None,
        }
    }

    #[test]
    fn edges_do_not_cross_where_they_need_not() {
        // Three chains whose middle nodes are given in the opposite order.
        let three = chart(&[0, 0, 0, 1, 1, 1, 2, 2, 2], &[(0, 5), (1, 4), (2, 3), (5, 7), (4, 6), (3, 8)]);
        let rows = three.order();
        let place = |node: usize| rows.iter().find_map(|row| row.iter().position(|at| *at == node)).unwrap();
        for (chain, other) in [([0, 5, 7], [1, 4, 6]), ([0, 5, 7], [2, 3, 8]), ([1, 4, 6], [2, 3, 8])] {
            let before: Vec<bool> = (0..3).map(|row| place(chain[row]) < place(other[row])).collect();
            assert!(before.iter().all(|one| *one == before[0]), "{rows:?}");
        }
    }

    #[test]
    fn each_node_and_edge_is_there_once_and_so_are_their_numbers() {
        // A loop, and an edge back.
        let chart = chart(&[0, 1, 1], &[(0, 1), (0, 2), (1, 1), (2, 0)]);
        let svg = chart.svg(Paint::File(crate::report::charts::Theme::Light));
        assert!(roxmltree::Document::parse(&svg).is_ok(), "{svg}");
        for node in 0..3 {
            assert_eq!(svg.matches(&format!("<title>node {node}</title>")).count(), 1);
        }
        // Two curves.
        assert_eq!(svg.matches('C').count(), 2);
        assert!(svg.contains("stroke-dasharray"));
        let csv = chart.numbers().csv();
        assert_eq!(csv.lines().count(), 8);
        assert!(csv.contains("n0,,0,1,,yes\n") && csv.contains("n1,n1,,,3,no\n"), "{csv}");
        // Nothing to draw is drawn, too.
        assert!(roxmltree::Document::parse(&self::chart(&[], &[]).svg(Paint::Page)).is_ok());
    }
}
