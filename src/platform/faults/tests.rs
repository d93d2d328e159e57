use super::*;
use crate::model::{FaultSpec, Heartbeat, Named};

fn at(secs: u64) -> Time {
    Time::from_secs(secs)
}

fn line(heartbeat: Option<(u64, u64)>, faults: &[(FaultKind, u64, u64)]) -> SiteFaults {
    let span = Span::from_secs;
    let fault = |&(kind, from, until): &(FaultKind, u64, u64)| FaultSpec {
        kind,
        sites: Vec::new(),
        from: at(from),
        until: at(until),
    };
    let broker = BrokerSpec {
        monitoring_interval: span(60),
        heartbeat: heartbeat.map(|(timeout, lease)| Heartbeat { timeout: span(timeout), lease: span(lease) }),
        faults: faults.iter().map(fault).collect(),
        ..BrokerSpec::new(Named::bare("mct"))
    };
    SiteFaults::new(7, SiteId(0), "ada", span(2), &broker).expect("it has faults")
}

/// A partition from 100 s to 1,000 s: what is sent before and arrives in it waits, and all keep their order.
#[test]
fn a_partition_holds_messages_and_keeps_their_order() {
    let line = line(None, &[(FaultKind::Partition, 100, 1_000)]);
    let arrival = |secs| line.arrival(MessageKind::Ends, "", at(secs));
    assert_eq!([97, 99, 100, 999, 1_000].map(arrival), [99, 1_000, 1_002, 1_002, 1_002].map(at));
    assert!(line.turns().is_empty(), "nobody misses a site without a heartbeat");
}

/// Reports come at each full minute and take 2 s. The last before the partition is heard at 62 s, the first after it at 1,002 s.
#[test]
fn a_site_is_missed_and_lost_by_its_last_report() {
    use FaultTurn::{Heard, Lost, Unheard};
    let partition = [(FaultKind::Partition, 100, 1_000)];
    let turns = |timeout, lease| line(Some((timeout, lease)), &partition).turns().to_vec();
    assert_eq!(turns(180, 600), [(at(242), Unheard), (at(662), Lost), (at(1_002), Heard)]);
    assert_eq!(turns(180, 0), [(at(242), Lost), (at(242), Unheard), (at(1_002), Heard)]);
    assert_eq!(turns(180, 2_400), [(at(242), Unheard), (at(1_002), Heard)], "the lease lasts longer");
    assert_eq!(turns(1_200, 600), [], "it is heard in time");
}

/// The site is back at 500 s and says at once that it has begun anew, whoever has missed it.
#[test]
fn a_site_that_was_silent_loses_its_assignments_when_it_is_heard_again() {
    use FaultTurn::{Back, Heard, Lost, Silent, Unheard};
    let silent = [(FaultKind::Silent, 100, 500)];
    let anew = [(at(100), Silent), (at(500), Back), (at(502), Lost)];
    assert_eq!(line(None, &silent).turns(), anew);
    let missed = line(Some((180, 300)), &silent);
    let turns = [
        (at(100), Silent),
        (at(242), Unheard),
        (at(362), Lost),
        (at(500), Back),
        (at(502), Lost),
        (at(502), Heard),
    ];
    assert_eq!(missed.turns(), turns);
    assert!(missed.is_in_vain(1, 1, at(200)), "nobody is there");
    assert!(!missed.is_in_vain(1, 1, at(502)) && !missed.is_in_vain(1, 1, at(97)));
    assert!(missed.loses(at(97), at(362)) && !missed.loses(at(362), at(501)));
}

/// A fault that lasts for an age is not gone through report by report.
#[test]
fn long_faults_are_worked_out_at_once() {
    use FaultTurn::{Heard, Lost, Unheard};
    let age = 60 * 1_000_000_000_u64;
    let turns = line(Some((180, 600)), &[(FaultKind::Partition, 100, age)]).turns().to_vec();
    assert_eq!(turns, [(at(242), Unheard), (at(662), Lost), (at(age + 2), Heard)]);
    let silent = line(Some((180, 600)), &[(FaultKind::Silent, 100, age)]);
    assert_eq!(silent.turns().len(), 6);
}

/// The draws of a message depend on the fault, the site and the message alone.
#[test]
fn draws_are_of_the_message() {
    let law = |written: &str| written.parse().unwrap();
    let late = FaultKind::Late {
        of: [MessageKind::Ends].into_iter().collect(),
        delay: law("exponential[mean=5 min]"),
    };
    let twice = FaultKind::Twice {
        of: [MessageKind::Ends].into_iter().collect(),
        delay: law("exponential[mean=5 min]"),
    };
    let delays = |faults: &[FaultKind], name: &str| {
        let faults: Vec<_> = faults.iter().map(|kind| (*kind, 100, 1_000)).collect();
        line(None, &faults).delays(MessageKind::Ends, name, at(200))
    };
    let (one, other) = (delays(&[late], "a"), delays(&[late], "b"));
    assert_ne!(one, other);
    assert_eq!(delays(&[FaultKind::Refuse, late], "a"), one);
    let both = delays(&[twice, late], "a");
    assert_eq!((both.len(), both[0]), (2, one[0]));
    assert!(both[1] > both[0]);
    let others = line(None, &[(late, 100, 1_000)]).delays(MessageKind::Commands, "a", at(200));
    assert_eq!(others[..], [Span::from_secs(2)]);
}
