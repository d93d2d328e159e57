//! The order in which messages are handed out, also against a sorted list.

use proptest::prelude::*;

use super::*;
use crate::entity::Directory;
use crate::model::JobId;

fn letter(round: u32, sender: Sender, sequence: u64) -> Message {
    let arrival = Stamp { time: Time::from_secs(1), round };
    Message { arrival, sender, sequence, body: Body::Cancel(JobId(sequence)) }
}

#[test]
fn messages_are_handed_out_by_moment_sender_and_number() {
    let mut entity = Directory::new(0);
    let broker = Sender::Entity(Address::Broker);
    for message in
        [letter(1, broker, 0), letter(0, broker, 2), letter(0, Sender::Outside, 5), letter(0, broker, 1)]
    {
        entity.deliver(message).unwrap();
    }
    assert!(matches!(entity.deliver(letter(0, broker, 1)), Err(EntityError::Repeated { .. })));
    let now = Stamp::at(Time::from_secs(1));
    let letters = std::iter::from_fn(|| entity.mail().take(now));
    let order: Vec<u64> = letters.map(|message| message.sequence).collect();
    assert_eq!(order, [5, 1, 2]);
    entity.handled(now);
    assert_eq!(entity.mail().due(), Some(now.next_round()));
    assert!(entity.mail().take_first(now.next_round(), |_| true).is_none(), "the last one is of the broker");
    assert!(matches!(entity.deliver(letter(0, broker, 9)), Err(EntityError::Late { .. })));
}

/// The slow definition: one sorted list, with insertion in the middle. Its derived form is that of snapshots.
#[derive(Default, Serialize)]
struct Twin {
    letters: VecDeque<Message>,
    passed: Stamp,
    sequence: u64,
}

impl Twin {
    fn put(&mut self, message: Message) -> bool {
        let at = self.letters.partition_point(|other| order(other) < order(&message));
        let is_new = self.letters.get(at).is_none_or(|other| order(other) != order(&message));
        if is_new {
            self.letters.insert(at, message);
        }
        is_new
    }

    fn take(&mut self, now: Stamp) -> Option<Message> {
        self.letters.pop_front_if(|first| first.arrival <= now)
    }

    fn take_first(&mut self, now: Stamp, wanted: impl Fn(&Body) -> bool) -> Option<Message> {
        let mut due = self.letters.iter().take_while(|letter| letter.arrival <= now);
        let at = due.position(|letter| letter.sender == Sender::Outside && wanted(&letter.body))?;
        self.letters.remove(at)
    }
}

fn drawn() -> impl Strategy<Value = Message> {
    let body = prop_oneof![
        (0..9_u64).prop_map(|job| Body::Cancel(JobId(job))),
        (0..9_u64).prop_map(|number| Body::Withdraw { number })
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
                let wanted = |body: &Body| matches!(body, Body::Withdraw { .. });
                prop_assert_eq!(mail.take_first(now, wanted), twin.take_first(now, wanted));
                prop_assert_eq!(mail.take(now), twin.take(now));
            }
            let saved = postcard::to_allocvec(&mail).unwrap();
            prop_assert_eq!(&saved, &postcard::to_allocvec(&twin).unwrap());
            prop_assert!(postcard::from_bytes::<Mailbox>(&saved).unwrap() == mail);
        }
    }
}

#[test]
fn messages_in_any_order_cost_no_moves_of_many() {
    let mut mail = Mailbox::default();
    let mut rounds = (0..20_000_u32).map(|at| at * 7_919 % 20_000);
    assert!(rounds.all(|round| mail.put(letter(round, Sender::Outside, 0))));
    assert!(mail.far.len() > 19_000, "nearly all had their place in the middle: {}", mail.far.len());
    let rounds = std::iter::from_fn(|| mail.take(Stamp::END)).map(|letter| letter.arrival.round);
    assert!(rounds.eq(0..20_000));
}
