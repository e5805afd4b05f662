//! The flat table, call by call.

use std::hash::{BuildHasher, Hasher};

use windowpane_baselines::{FixedWindowRule, GcraRule};
use windowpane_core::clock::ManualClock;
use windowpane_core::one_word::{OneWordRule, Verdict};
use windowpane_core::{
    Answer, BuildError, Cost, Decision, KeyedRateLimiter, Nanos, Quota, Quotas, RequestError,
    StoreError,
};
use windowpane_keyed::flat::FlatTable;
use windowpane_keyed::{DefaultHasher, WhenFull};
use windowpane_packed_counter::TwoWindowRule;

/// The time of a decision that was allowed without a record.
const UNRECORDED: u64 = u64::MAX;

type Table<R> = FlatTable<R, windowpane_keyed::DefaultHasher, ManualClock>;

fn table<R: OneWordRule>(quota: &str, entries: usize) -> Table<R> {
    let quotas = Quotas::parse([quota]).unwrap();
    let hasher = DefaultHasher::with_seeds(1, 2, 3, 4);
    FlatTable::builder(quotas, entries)
        .clock(ManualClock::new(0))
        .hasher(hasher)
        .build()
        .unwrap()
}

fn wait(decision: Decision) -> Option<u64> {
    decision
        .denied()
        .and_then(|denied| denied.retry_after_nanos())
}

#[test]
fn keys_share_no_allowance() {
    let table = table::<GcraRule>("1/100ns", 100);
    let acquire = |key, now| table.decide_at(key, now, Cost::ONE).unwrap();
    assert_eq!(acquire("a", 0), Decision::Allowed { at: 0 });
    assert_eq!(acquire("b", 0), Decision::Allowed { at: 0 });
    assert_eq!(wait(acquire("a", 50)), Some(50));
    assert_eq!(acquire("a", 100), Decision::Allowed { at: 100 });
    assert_eq!(table.len(), 2);
}

#[test]
fn an_owned_key_is_the_key_it_borrows_as() {
    let table = table::<GcraRule>("1/100ns", 100);
    assert!(
        table
            .decide(&String::from("alice"), Cost::ONE)
            .unwrap()
            .is_allowed()
    );
    assert!(!table.decide("alice", Cost::ONE).unwrap().is_allowed());
    assert_eq!(table.len(), 1);
}

#[test]
fn a_sweep_removes_at_the_edge_and_not_before() {
    let table = table::<GcraRule>("1/10000ns", 100);
    assert!(table.decide_at("a", 5_000, Cost::ONE).unwrap().is_allowed());
    assert_eq!((table.sweep_at(14_999), table.len()), (0, 1));
    assert_eq!((table.sweep_at(15_000), table.len()), (1, 0));
    assert_eq!(table.stats().evictions, 0, "nobody needed the room");
}

#[test]
fn the_clock_of_the_table_is_read() {
    let table = table::<FixedWindowRule>("1/10ns", 8);
    assert!(table.decide(&7_u64, Cost::ONE).unwrap().is_allowed());
    table.clock().set(9);
    assert_eq!(wait(table.decide(&7_u64, Cost::ONE).unwrap()), Some(1));
    assert_eq!(table.sweep(), 0);
    assert!(!table.is_empty());
    table.clock().set(10);
    assert_eq!(table.sweep(), 1);
    assert!(table.is_empty());
}

#[test]
fn looks_and_what_cannot_be_allowed_leave_nothing() {
    let zero = table::<TwoWindowRule>("0/10s", 8);
    let denied = zero.decide("a", Cost::ONE).unwrap();
    assert!(!denied.is_allowed() && denied.retry_after().is_none());
    assert!(
        !zero
            .peek_detailed("a", Cost::ONE)
            .unwrap()
            .detailed
            .is_allowed()
    );

    let five = table::<TwoWindowRule>("5/10s", 8);
    let looked = five.peek_detailed("a", Cost::of::<2>()).unwrap();
    assert_eq!(looked.detailed.decision(), Decision::Allowed { at: 0 });
    assert_eq!(looked.detailed.remaining(), 3);
    let never = five.decide("a", Cost::of::<6>()).unwrap_err();
    assert!(matches!(
        never,
        StoreError::Request(RequestError::NeverFits { limit: 5, .. })
    ));

    let burst = GcraRule::with_burst("5/10s".parse().unwrap(), Cost::of::<2>()).unwrap();
    let burst = FlatTable::with_rule(burst, 8, ManualClock::new(0), DefaultHasher::new());
    let never = burst.decide("a", Cost::of::<3>()).unwrap_err();
    assert!(matches!(
        never,
        StoreError::Request(RequestError::NeverFits { limit: 2, .. })
    ));
    let late = burst.decide_at("a", u64::MAX, Cost::ONE).unwrap_err();
    assert!(matches!(
        late,
        StoreError::Request(RequestError::TimeOutOfRange { .. })
    ));

    assert_eq!((zero.len(), five.len(), burst.len()), (0, 0, 0));
}

#[test]
fn an_answer_tells_what_remains_and_when_there_is_more() {
    let table = table::<GcraRule>("5/50ns", 8);
    let of = |answer: Answer| (answer.detailed.remaining(), answer.more_after);
    assert_eq!(
        of(table.peek_detailed("a", Cost::of::<2>()).unwrap()),
        (3, Some(10))
    );
    assert_eq!(
        of(table.decide_detailed("a", Cost::of::<2>()).unwrap()),
        (3, Some(10))
    );
    assert_eq!(of(table.peek_at("a", 4, Cost::ONE).unwrap()), (2, Some(6)));
    table.clock().set(3);
    let denied = table.decide_detailed("a", Cost::of::<5>()).unwrap();
    assert_eq!(wait(denied.detailed.decision()), Some(17));
    assert_eq!(of(denied), (3, Some(7)));
    table.reset("a");
    assert!(table.is_empty());
    assert_eq!(
        of(table.peek_detailed("a", Cost::of::<5>()).unwrap()),
        (0, Some(10))
    );
}

#[test]
fn a_full_table_answers_unknown_keys_by_its_policy_and_known_ones_as_ever() {
    for when_full in [WhenFull::Error, WhenFull::Allow] {
        let table = table::<FixedWindowRule>("2/10ns", 8).when_full(when_full);
        for key in 0..8_u64 {
            assert!(table.decide_at(&key, 5, Cost::ONE).unwrap().is_allowed());
        }
        assert_eq!(
            (table.entries(), table.len(), table.stats().full),
            (8, 8, 0)
        );
        let asked = table.decide_at(&8_u64, 5, Cost::ONE);
        let looked = table
            .peek_at(&8_u64, 5, Cost::ONE)
            .map(|looked| looked.detailed.decision());
        let expected = match when_full {
            WhenFull::Allow => Ok(Decision::Allowed { at: UNRECORDED }),
            _ => Err(StoreError::Full { keys: 8 }),
        };
        assert_eq!(asked, expected);
        assert_eq!(looked, expected);
        assert_eq!(
            (table.len(), table.stats().full),
            (8, 1),
            "a look is not counted"
        );
        for key in 0..8_u64 {
            let known = table.decide_detailed_at(&key, 9, Cost::ONE).unwrap();
            assert_eq!(
                (known.detailed.is_allowed(), known.detailed.remaining()),
                (true, 0)
            );
        }
        // A window later all are idle, and one makes room.
        assert!(table.decide_at(&8_u64, 10, Cost::ONE).unwrap().is_allowed());
        assert_eq!(
            (table.len(), table.stats().evictions, table.stats().full),
            (8, 1, 1)
        );
    }
}

/// What a key used is forgotten when it is idle, and an earlier reading must not use it again.
#[test]
fn a_clock_that_steps_back_gains_nothing_from_a_key_being_forgotten() {
    fn forgotten<R: OneWordRule>(idle_from: u64) {
        let table = table::<R>("1/10ns", 8);
        assert!(table.decide_at("a", 5, Cost::ONE).unwrap().is_allowed());
        assert_eq!(table.sweep_at(idle_from - 1), 0, "{}", R::NAME);
        assert_eq!(table.sweep_at(idle_from + 3), 1, "{}", R::NAME);
        let looked = table.peek_at("a", 6, Cost::ONE).unwrap();
        let at = Decision::Allowed { at: idle_from };
        assert_eq!(looked.detailed.decision(), at, "{}", R::NAME);
        assert_eq!(
            table.decide_at("a", 6, Cost::ONE).unwrap(),
            at,
            "{}",
            R::NAME
        );
        assert!(
            !table.decide_at("a", 6, Cost::ONE).unwrap().is_allowed(),
            "{}",
            R::NAME
        );
    }
    forgotten::<FixedWindowRule>(10);
    forgotten::<TwoWindowRule>(20);
    forgotten::<GcraRule>(15);
}

/// A reading far ahead forgets keys; those that ask by the right clock are held up for as long as
/// the forgotten ones would have been, not until the reading.
#[test]
fn a_clock_that_ran_far_ahead_holds_nobody_up_for_long() {
    let table = table::<FixedWindowRule>("1/10ns", 8);
    assert!(table.decide_at("a", 5, Cost::ONE).unwrap().is_allowed());
    assert_eq!(table.sweep_at(1_000_000), 1);
    assert_eq!(
        table.decide_at("b", 6, Cost::ONE).unwrap(),
        Decision::Allowed { at: 10 }
    );
    assert_eq!(wait(table.decide_at("b", 6, Cost::ONE).unwrap()), Some(14));
}

/// How much a call examines: nothing beyond the first line for a known key that is there, the whole
/// way twice for one that is inserted, once for one that is refused.
#[test]
fn what_is_examined_is_counted_to_the_entry() {
    let table = table::<FixedWindowRule>("2/10ns", 200);
    let way = table.entries_of_a_key() as u64;
    assert_eq!(
        (way, table.stats().examined, table.stats().most_examined),
        (32, 0, 0)
    );
    assert!(table.decide_at("a", 5, Cost::ONE).unwrap().is_allowed());
    assert_eq!(
        (table.stats().examined, table.stats().most_examined),
        (2 * way, 2 * way)
    );
    assert!(table.decide_at("a", 5, Cost::ONE).unwrap().is_allowed());
    assert!(!table.decide_at("a", 5, Cost::ONE).unwrap().is_allowed());
    let _ = table.peek_at("b", 5, Cost::ONE).unwrap();
    assert_eq!(
        (table.stats().examined, table.stats().most_examined),
        (2 * way, 2 * way)
    );

    let full = self::table::<FixedWindowRule>("2/10ns", 8);
    for key in 0..8 {
        assert!(full.decide_at(&key, 5, Cost::ONE).unwrap().is_allowed());
    }
    let before = full.stats().examined;
    assert!(full.decide_at(&8, 5, Cost::ONE).is_err());
    assert_eq!(
        (full.stats().examined - before, full.stats().most_examined),
        (8, 16)
    );
}

#[test]
fn the_trait_answers_as_the_table_does() {
    fn through<S: KeyedRateLimiter<str>>(store: &S) {
        assert_eq!(store.quotas("a"), Quotas::parse(["2/10ns"]).unwrap());
        assert!(store.decide("a", Cost::of::<2>()).unwrap().is_allowed());
        let denied = store.decide_detailed("a", Cost::ONE).unwrap();
        assert!(!denied.detailed.is_allowed());
        assert_eq!(store.peek_detailed("a", Cost::ONE).unwrap(), denied);
        store.reset("a");
        assert!(store.decide("a", Cost::of::<2>()).unwrap().is_allowed());
    }
    let table = table::<FixedWindowRule>("2/10ns", 8);
    through(&table);
    assert_eq!(table.len(), 1);
}

/// A hasher under which a key is its own hash, so that a test can say where it stands.
#[derive(Clone, Default)]
struct Itself(u64);

impl Hasher for Itself {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are whole numbers here");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl BuildHasher for Itself {
    type Hasher = Itself;

    fn build_hasher(&self) -> Itself {
        Itself::default()
    }
}

/// Eight blocks. All keys below begin in the first, and go on in the same three others.
fn eight_blocks() -> FlatTable<GcraRule, Itself, ManualClock> {
    FlatTable::builder("1/100ns".parse::<Quota>().unwrap(), 64)
        .clock(ManualClock::new(0))
        .hasher(Itself::default())
        .build()
        .unwrap()
}

/// The `nth` of those keys; their ways begin at different entries of the block.
fn key(nth: u64) -> u64 {
    (nth << 8) + 2 * nth
}

/// In a block the key that is idle for longest makes room, wherever in the block it stands; an empty
/// entry is better than any.
#[test]
fn the_longest_idle_key_of_a_block_makes_room_unless_an_entry_is_empty() {
    for longest in 0..8 {
        let table = eight_blocks();
        for nth in 0..8 {
            let at = if nth == longest { 10 } else { 20 + nth };
            assert!(
                table
                    .decide_at(&key(nth), at, Cost::ONE)
                    .unwrap()
                    .is_allowed()
            );
        }
        // The blocks after it are empty, but farther.
        assert!(
            table
                .decide_at(&key(8), 200, Cost::ONE)
                .unwrap()
                .is_allowed()
        );
        assert_eq!((table.len(), table.stats().evictions), (8, 1));
        table.reset(&key(longest));
        assert_eq!(table.len(), 8, "{longest} was gone");

        table.reset(&key((longest + 1) % 8));
        assert_eq!(table.len(), 7);
        assert!(
            table
                .decide_at(&key(9), 200, Cost::ONE)
                .unwrap()
                .is_allowed()
        );
        assert_eq!((table.len(), table.stats().evictions), (8, 1));
    }
}

/// A block that has no room but live keys is passed, and the nearest of those after it is taken.
#[test]
fn the_nearer_block_is_taken() {
    let table = eight_blocks();
    let take = |nth: u64, at: Nanos| {
        let decision = table.decide_at(&key(nth), at, Cost::ONE).unwrap();
        assert!(decision.is_allowed(), "{nth} at {at}");
    };
    // The first and the second block, the third in part, and a key each in them that is idle later.
    (0..20).for_each(|nth| take(nth, 50));
    assert_eq!((table.len(), table.stats().evictions), (20, 0));
    // At 150 all are idle; those of the first block that ask again live on.
    (0..8).for_each(|nth| take(nth, 150));
    // The second block has eight idle ones, and they make room before the third's empty entries do.
    (20..28).for_each(|nth| take(nth, 160));
    assert_eq!((table.len(), table.stats().evictions), (20, 8));
    for nth in 8..16 {
        table.reset(&key(nth));
    }
    assert_eq!(table.len(), 20, "those of the second block were gone");
    take(28, 160);
    assert_eq!((table.len(), table.stats().evictions), (21, 8));
}

/// A rule that allows nothing in every second ten nanoseconds, whatever was used.
struct EverySecond(Quota);

impl OneWordRule for EverySecond {
    const NAME: &'static str = "every-second";

    fn new(quota: Quota, _start: Nanos) -> Result<Self, BuildError> {
        Ok(EverySecond(quota))
    }

    fn quota(&self) -> Quota {
        self.0
    }

    fn decide(&self, _word: u64, now: Nanos, _charge: u64) -> Result<Verdict, RequestError> {
        Ok(match now / 10 % 2 {
            0 => Verdict::Allowed {
                at: now,
                word: now + 10,
            },
            _ => Verdict::Denied {
                retry_after: 10 - now % 10,
            },
        })
    }

    fn remaining(&self, _word: u64, _now: Nanos) -> u64 {
        self.0.limit()
    }

    fn is_idle(&self, word: u64, now: Nanos) -> bool {
        now >= word
    }

    fn idle_from(&self, word: u64) -> Option<Nanos> {
        Some(word)
    }
}

/// An unknown key may be denied too, by a rule that says so; then the wait is on the caller's
/// clock, though it was decided at the floor, and nothing is left behind.
#[test]
fn a_denial_at_the_floor_is_told_on_the_callers_clock() {
    let table = table::<EverySecond>("1/10ns", 8);
    assert!(table.decide_at("a", 7, Cost::ONE).unwrap().is_allowed());
    assert_eq!(table.sweep_at(17), 1);
    // Decided at 17, so until 20.
    assert_eq!(wait(table.decide_at("b", 4, Cost::ONE).unwrap()), Some(16));
    assert_eq!(wait(table.decide_at("b", 18, Cost::ONE).unwrap()), Some(2));
    assert!(table.is_empty());
    assert!(table.decide_at("b", 20, Cost::ONE).unwrap().is_allowed());
}
