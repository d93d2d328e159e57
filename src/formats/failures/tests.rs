use std::io::Cursor;

use proptest::prelude::*;

use super::*;

const HEADER: &str = "# event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason\n";
const LANL: &str = "System,nodes,nodenum,nodenumz,Prob Started,Prob Fixed,Down Time,Facilities,Hardware,Human Error,Network,Undetermined,Software,Same Event\n";

fn read_text(text: &str, options: &FailureOptions) -> Result<Failures, FileError> {
    read("a.tab", Box::new(Cursor::new(text.as_bytes().to_vec())), options)
}

fn plain(text: &str) -> Failures {
    read_text(text, &FailureOptions::default()).unwrap()
}

/// From when to when a node is down, or for ever.
type Seconds = (u64, Option<u64>);

/// The outages of each node by its name, in seconds from the beginning of the trace.
fn outages(of: &Failures) -> Vec<(&str, Vec<Seconds>)> {
    let secs = |span: Span| span.micros() / 1_000_000;
    let own = |node| -> Vec<_> {
        let outages = of.nodes.of(node).iter();
        outages.map(|outage| (secs(outage.from), (outage.to < Span::MAX).then(|| secs(outage.to)))).collect()
    };
    of.nodes.names().iter().zip(0..).map(|(name, node)| (name.as_str(), own(node))).collect()
}

/// Rows of the Failure Trace Archive: node, type, from, to.
fn fta(rows: &[(u32, u8, &str, &str)]) -> String {
    let rows = rows.iter().zip(0..);
    let line = |((node, kind, from, to), at): (&(u32, u8, &str, &str), u32)| {
        format!(
            "    {at}\t    0\t    {node}\t    5\tG1/node{node}\t         {kind}\t   {from}\t   {to}\t       NULL\n"
        )
    };
    HEADER.to_owned() + &rows.map(line).collect::<String>()
}

#[test]
fn nodes_are_down_whenever_the_file_does_not_say_that_they_are_available() {
    let of = plain(&fta(&[
        (10, 0, "100", "110"),
        (10, 1, "110", "150"),
        // A gap, and then an end at the end of the trace.
        (10, 1, "160", "200"),
        // It is there late, and leaves before the end.
        (2, 1, "120", "140.5"),
        (2, 0, "140.5", "150"),
        (2, 1, "150", "180"),
    ]));
    assert_eq!(
        (of.begin, of.end),
        (Timestamp::from_micros(100_000_000), Timestamp::from_micros(200_000_000))
    );
    let down = vec![
        ("G1/node2", vec![(0, Some(20)), (40, Some(50)), (80, None)]),
        ("G1/node10", vec![(0, Some(10)), (50, Some(60))]),
    ];
    assert_eq!(outages(&of), down);
    assert_eq!(of.nodes.of(0)[1].from, Span::from_micros(40_500_000));
    // Down for 20, 9.5 and 20, and for 10 and 10 of 200 seconds.
    assert_eq!(of.facts.availability_ppm, 652_500);
    assert_eq!((of.facts.rows, of.facts.available, of.facts.unavailable), (6, 4, 2));
    assert_eq!(of.facts.warnings(), [""; 0]);
    let line = of.facts.line(&of.nodes, of.begin, of.end);
    assert_eq!(
        line,
        "2 nodes, 6 rows from 1970-01-01T00:01:40Z to 1970-01-01T00:03:20Z, 5 outages, up 65.25 % of the time"
    );
}

#[test]
fn nodes_of_a_file_that_has_outages_alone_are_up_otherwise() {
    let of = plain(&fta(&[(1, 0, "100", "110"), (3, 0, "190", "200"), (1, 0, "150", "160")]));
    assert_eq!(
        outages(&of),
        [("G1/node1", vec![(0, Some(10)), (50, Some(60))]), ("G1/node3", vec![(90, Some(100))])]
    );
}

#[test]
fn what_is_odd_is_counted_with_the_line_of_the_first() {
    let mut text = fta(&[
        (1, 0, "100", "130"),
        (1, 0, "120", "140"),
        (1, 0, "140", "150"),
        (1, 0, "110", "115"),
        (1, 0, "200", "190"),
        (1, 0, "NULL", "190"),
        (1, 0, "300", "300"),
        (1, 2, "300", "310"),
    ]);
    text = text.replace("event_end_reason", "event_end_reason colour mood");
    text = text.replace("   140\t       NULL", "   140\t 6\t x\t y");
    let of = plain(&text);
    assert_eq!(outages(&of), [("G1/node1", vec![(0, Some(50))])]);
    assert_eq!(
        of.facts.warnings(),
        [
            "2 rows begin before the row before them of the same node has ended, the first in line 5: outages that overlap are one",
            "1 row begins before the row before it of the same node begins, the first in line 5: they are put in order",
            "1 row ends before it begins, the first in line 6: they are left out",
            "1 row lacks a time, the first in line 7: they are left out",
            "1 row is of another type than 0 (not available) and 1 (available), the first in line 9: they are left out",
            "the columns `colour`, `mood` mean nothing here",
        ]
    );
    assert_eq!((of.facts.empty, of.facts.causes), (1, vec![("hard shutdown".to_owned(), 1)]));
}

#[test]
fn the_list_of_los_alamos_is_of_systems() {
    let text = LANL.to_owned()
        + "20,4,1,1,6/21/2005 10:54,6/21/2005 11:00,6,,CPU,,,,,No\n\
           20,4,1,1,6/21/2005 10:58,6/21/2005 11:30,6,,,,,,\"DST, or so\",No\n\
           7,1,0,0,6/21/2005 10:54,6/21/2005 11:00,6,,,,,,,No\n\
           20,4,3,3,06/21/05 10:00,6/21/2005 10:00,6,,,,,,,No\n\
           20,4,3,3,6/21/2005 10:00,6/21/2005 10:30,6,Power,,,,,,No\n\
           20,4,0,0,,6/21/2005 10:30,6,,,,,,,No\n";
    let options = FailureOptions { system: Some(20), zone: "America/Denver".parse().unwrap() };
    let of = read_text(&text, &options).unwrap();
    assert_eq!(of.begin, "2005-06-21T16:00Z".parse().unwrap());
    let minutes = |from: u64, to: u64| (from * 60, Some(to * 60));
    let down = [("0", vec![]), ("1", vec![minutes(54, 90)]), ("2", vec![]), ("3", vec![minutes(0, 30)])];
    assert_eq!(outages(&of), down);
    let line = of.facts.line(&of.nodes, of.begin, of.end);
    assert!(line.ends_with("3 nodes never down, 1 row without length; causes: facilities 1, hardware 1, software 1, none named 1") || line.contains("2 nodes never down"), "{line}");
    let error = |system| {
        let error = read_text(&text, &FailureOptions { system, ..FailureOptions::default() }).unwrap_err();
        format!("{error} / {}", error.hint().unwrap_or_default())
    };
    assert_eq!(
        error(None),
        "`a.tab`: it has several systems; the systems are 7 (1 record), 20 (5 records) / say which: `system = 20`"
    );
    assert_eq!(
        error(Some(8)),
        "`a.tab`: there is no system 8; the systems are 7 (1 record), 20 (5 records) / `system` is the number of one of them"
    );
}

#[test]
fn what_is_no_trace_is_refused_by_line() {
    let error = |text: &str| read_text(text, &FailureOptions::default()).unwrap_err().to_string();
    assert_eq!(error(""), "`a.tab`: it is empty");
    assert_eq!(error("a,b\n1,2\n"), "`a.tab`, line 1: it has the columns of no failure trace");
    assert_eq!(error(HEADER), "`a.tab`: it has no rows");
    let text = fta(&[(1, 0, "100", "110"), (1, 0, "x", "120")]);
    assert_eq!(error(&text), "`a.tab`, line 3: `x` is not a time");
    assert_eq!(
        error(&(fta(&[(1, 0, "1", "2")]) + "7\t8\n")),
        "`a.tab`, line 3: the line has 2 columns, too few"
    );
    assert_eq!(
        error(&fta(&[(1, 0, "1", "2")]).replace("  0\t   1\t", "  down\t 1\t")),
        "`a.tab`, line 2: `down` is not a type of event"
    );
    assert_eq!(
        error("event_type event_start_time\n"),
        "`a.tab`, line 1: there is no column `event_stop_time`; the columns are `event_type`, `event_start_time`"
    );
    assert_eq!(
        error(&(LANL.to_owned() + "2,4,1,1,yesterday,6/21/2005 11:00,6,,,,,,,No\n")),
        "`a.tab`, line 2: `yesterday` is not a time"
    );
    let system = FailureOptions { system: Some(2), ..FailureOptions::default() };
    let error = read_text(&fta(&[(1, 0, "1", "2")]), &system).unwrap_err();
    assert_eq!(error.to_string(), "`a.tab`, line 1: a trace of the Failure Trace Archive has no systems");
}

proptest! {
    /// A slow, obvious twin: for each node an array of seconds.
    #[test]
    fn nodes_are_down_second_by_second_as_the_rows_say(
        rows in prop::collection::vec((0_u32..4, 0_u8..2, 0_u64..60, 0_u64..20), 1..40),
    ) {
        let texts: Vec<(u32, u8, String, String)> =
            rows.iter().map(|(node, kind, from, long)| (*node, *kind, from.to_string(), (from + long).to_string())).collect();
        let borrowed: Vec<_> = texts.iter().map(|(node, kind, from, to)| (*node, *kind, from.as_str(), to.as_str())).collect();
        let read = read_text(&fta(&borrowed), &FailureOptions::default());
        let real: Vec<_> = rows.iter().filter(|(.., long)| *long > 0).collect();
        prop_assume!(!real.is_empty());
        let of = read.unwrap();
        let begin = real.iter().map(|(_, _, from, _)| *from).min().unwrap();
        let end = real.iter().map(|(_, _, from, long)| from + long).max().unwrap();
        let says_up = real.iter().any(|(_, kind, ..)| *kind == 1);
        let mut nodes: Vec<u32> = rows.iter().map(|(node, ..)| *node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        prop_assert_eq!(of.nodes.names().len(), nodes.len());
        for (node, at) in nodes.iter().zip(0..) {
            for second in begin..end {
                let told = |wanted: u8| real.iter().any(|(of, kind, from, long)| of == node && *kind == wanted && (*from..from + long).contains(&second));
                let expected = told(0) || says_up && !told(1);
                let instant = Span::from_secs(second - begin);
                let down = of.nodes.down(at, instant, instant + Span::SECOND);
                prop_assert_eq!(down, if expected { Span::SECOND } else { Span::ZERO }, "{} at {}", node, second);
            }
        }
    }
}
