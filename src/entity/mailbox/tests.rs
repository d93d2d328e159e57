//! The order in which messages are handed out, also against a sorted list.

use proptest::prelude::*;

use super::*;
use crate::entity::{Address, Network, ToNetwork, ToSite};
use crate::model::{JobId, NetworkSpec, TaskId};
use crate::units::Bytes;

fn letter<L>(body: L, round: u32, sender: Sender, sequence: u64) -> Message<L> {
    Message { arrival: Stamp { time: Time::from_secs(1), round }, sender, sequence, body }
}

fn cancel(round: u32, sender: Sender, sequence: u64) -> Message<ToSite> {
    letter(ToSite::Cancel(JobId(sequence)), round, sender, sequence)
}

fn transfer(round: u32, sender: Sender, sequence: u64) -> Message {
    let transfer =
        ToNetwork::Transfer { id: sequence, from: 0, to: 1, data: Bytes::ZERO, reply: Address::Dispatcher };
    letter(transfer.into(), round, sender, sequence)
}

#[test]
fn messages_are_handed_out_by_moment_sender_and_number() {
    let mut entity = Network::new(&NetworkSpec::default());
    let broker = Sender::Entity(Address::Broker);
    for message in [
        transfer(1, broker, 0),
        transfer(0, broker, 2),
        transfer(0, Sender::Outside, 5),
        transfer(0, broker, 1),
    ] {
        entity.deliver(message).unwrap();
    }
    assert!(matches!(entity.deliver(transfer(0, broker, 1)), Err(EntityError::Repeated { .. })));
    let now = Stamp::at(Time::from_secs(1));
    let letters = std::iter::from_fn(|| entity.mail().take(now));
    let order: Vec<u64> = letters.map(|message| message.sequence).collect();
    assert_eq!(order, [5, 1, 2]);
    entity.handled(now);
    assert_eq!(entity.mail().due(), Some(now.next_round()));
    assert!(entity.mail().take_first(now.next_round(), |_| true).is_none(), "the last one is of the broker");
    assert!(matches!(entity.deliver(transfer(0, broker, 9)), Err(EntityError::Late { .. })));
}

#[test]
fn a_message_for_another_kind_of_entity_is_refused() {
    let mut entity = Network::new(&NetworkSpec::default());
    let error = entity.deliver(letter(ToSite::Cancel(JobId(1)).into(), 0, Sender::Outside, 0)).unwrap_err();
    assert_eq!(error.to_string(), "the network has been sent a message that is for a site");
    assert_eq!(entity.next_event(), None, "nothing is left of it");
}

/// The slow definition: one sorted list, with insertion in the middle. Its derived form is that of snapshots.
#[derive(Default, Serialize)]
struct Twin {
    letters: VecDeque<Message<ToSite>>,
    passed: Stamp,
    sequence: u64,
}

impl Twin {
    fn put(&mut self, message: Message<ToSite>) -> bool {
        let at = self.letters.partition_point(|other| order(other) < order(&message));
        let is_new = self.letters.get(at).is_none_or(|other| order(other) != order(&message));
        if is_new {
            self.letters.insert(at, message);
        }
        is_new
    }

    fn take(&mut self, now: Stamp) -> Option<Message<ToSite>> {
        self.letters.pop_front_if(|first| first.arrival <= now)
    }

    fn take_first(&mut self, now: Stamp, wanted: impl Fn(&ToSite) -> bool) -> Option<Message<ToSite>> {
        let mut due = self.letters.iter().take_while(|letter| letter.arrival <= now);
        let at = due.position(|letter| letter.sender == Sender::Outside && wanted(&letter.body))?;
        self.letters.remove(at)
    }
}

fn drawn() -> impl Strategy<Value = Message<ToSite>> {
    let body = prop_oneof![
        (0..9_u64).prop_map(|job| ToSite::Cancel(JobId(job))),
        (0..9_u64).prop_map(|task| ToSite::Withdraw { task: TaskId(task), assignment: 1, sent: Time::ZERO })
    ];
    let sender = prop_oneof![
        Just(Sender::Outside),
        Just(Sender::Entity(Address::Broker)),
        Just(Sender::Entity(Address::Directory))
    ];
    (0..4_u64, 0..3_u32, sender, 0..400_u64, body).prop_map(|(at, round, sender, sequence, body)| Message {
        arrival: Stamp { time: Time::from_secs(at), round },
        sender,
        sequence,
        body,
    })
}

proptest! {
    #[test]
    fn agrees_with_a_sorted_list(
        rounds in proptest::collection::vec((proptest::collection::vec(drawn(), 0..250), 0..4_u64, 0..90_usize), 1..6),
    ) {
        let (mut mail, mut twin) = (Mailbox::default(), Twin::default());
        for (letters, now, count) in rounds {
            for letter in letters {
                prop_assert_eq!(mail.put(letter.clone()), twin.put(letter));
            }
            let now = Stamp { time: Time::from_secs(now), round: 1 };
            prop_assert_eq!(mail.due(), twin.letters.front().map(|first| first.arrival));
            let outside = twin.letters.iter().filter(|letter| letter.sender == Sender::Outside);
            prop_assert_eq!(mail.last_from_outside(), outside.map(|letter| letter.arrival.time).max());
            for _ in 0..count {
                let wanted = |letter: &ToSite| matches!(letter, ToSite::Withdraw { .. });
                prop_assert_eq!(mail.take_first(now, wanted), twin.take_first(now, wanted));
                prop_assert_eq!(mail.take(now), twin.take(now));
            }
            let saved = postcard::to_allocvec(&mail).unwrap();
            prop_assert_eq!(&saved, &postcard::to_allocvec(&twin).unwrap());
            prop_assert!(postcard::from_bytes::<Mailbox<ToSite>>(&saved).unwrap() == mail);
        }
    }
}

#[test]
fn messages_in_any_order_cost_no_moves_of_many() {
    let mut mail = Mailbox::default();
    let mut rounds = (0..20_000_u32).map(|at| at * 7_919 % 20_000);
    assert!(rounds.all(|round| mail.put(cancel(round, Sender::Outside, 0))));
    assert!(mail.far.len() > 19_000, "nearly all had their place in the middle: {}", mail.far.len());
    let rounds = std::iter::from_fn(|| mail.take(Stamp::END)).map(|letter| letter.arrival.round);
    assert!(rounds.eq(0..20_000));
}
