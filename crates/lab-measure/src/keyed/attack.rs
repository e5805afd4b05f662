//! An attack with endless new keys: what it does to a store's memory, and to whom it limits.

use std::time::{Duration, Instant};

use windowpane_core::Nanos;
use windowpane_lab_contestants::keyed::{Demand, KeyedContestant, KeyedInstance, LabKey};
use windowpane_lab_ground::clock::{LabClock, SimulatedClock};

use super::MOST_BYTES;
use crate::definitions::Attack;
use crate::plan::Mode;
use crate::rows::KeyedAttackRow;

const DAY: Nanos = 86_400_000_000_000;

/// Attackers whose calls are timed together; their keys are made before.
const TOGETHER: u32 = 1_000;

/// So many of them have asked when a row is written, in tenths of the attack.
const SAMPLED: [u32; 4] = [1, 2, 5, 10];

/// The number of the first attacker's key.
const FIRST_ATTACKER: u64 = 10_000_000;

/// Attacks a store: a row before, and after a tenth, a fifth, half and all of the attack. `live_bytes`
/// tells what is allocated now. If `tidied`, the store is told to tidy up after each tenth, and there
/// is no row of a store that has no such thing.
///
/// The clock is moved by hand and takes no memory; keys are text. Nothing is counted of the attack
/// itself but the calls.
pub fn attack(
    contestant: &dyn KeyedContestant,
    attack: &Attack,
    mode: Mode,
    tidied: bool,
    live_bytes: fn() -> usize,
) -> Vec<KeyedAttackRow> {
    let info = contestant.info();
    let (cap, attackers) = (attack.cap.of(mode), attack.attackers.of(mode));
    let blank = KeyedAttackRow {
        contestant: info.name.into(),
        origin: info.origin.word().into(),
        tidied,
        attack: attack.name.clone(),
        about: attack.about.clone(),
        quota: attack.quota.to_string(),
        cap: cap.into(),
        attackers: attackers.into(),
        clients: u64::from(cap / 10),
        ..KeyedAttackRow::default()
    };
    // Half of the cap may be live: a table made for twice as many has as many entries as the cap.
    let demand = Demand {
        quota: attack.quota,
        keys: cap as usize / 2,
        cap: cap as usize,
    };
    let first_client = u64::from(cap / 2);
    let clients = (first_client..first_client + blank.clients).map(String::nth);
    let clients: Vec<String> = clients.collect();
    let mut keys: Vec<String> = (0..u64::from(TOGETHER)).map(String::nth).collect();
    let picks: Vec<u32> = (0..TOGETHER).collect();
    let mut fresh = vec![false; clients.len()];

    SimulatedClock::set(DAY / 2);
    let before = live_bytes();
    let store = match contestant.of_strings(demand, LabClock::Simulated) {
        Ok(store) => store,
        Err(reason) if !tidied => {
            let cannot = reason.0;
            return vec![KeyedAttackRow { cannot, ..blank }];
        }
        Err(_) => return Vec::new(),
    };
    if tidied && !store.tidy() {
        return Vec::new();
    }
    for number in 0..first_client {
        store.batch(&[String::nth(number)], &[0]);
    }
    // Two days later, in the middle of a window where there are fixed ones.
    let mut now = 2 * DAY + DAY / 2;
    SimulatedClock::set(now);
    for nth in 0..clients.len() as u32 {
        for _ in 0..attack.quota.limit() {
            store.batch(&clients, &[nth]);
        }
    }

    let mut rows = Vec::new();
    let mut since = Since::default();
    let bytes = || live_bytes().saturating_sub(before) as u64;
    let mut sample = |asked: u32, since: &mut Since, cannot: &str| {
        // Counted before any client asks: who is unknown would be held anew.
        let bytes = bytes();
        for (nth, fresh) in fresh.iter_mut().enumerate() {
            *fresh |= store.batch(&clients, &[nth as u32]) == 1;
        }
        let row = KeyedAttackRow {
            asked: asked.into(),
            bytes,
            fresh: fresh.iter().filter(|fresh| **fresh).count() as u64,
            cannot: cannot.into(),
            ..blank.clone()
        };
        rows.push(since.told(&*store, row));
        *since = Since::default();
    };
    sample(0, &mut since, "");
    let tenth = attackers / 10;
    for asked in (0..attackers).step_by(TOGETHER as usize) {
        for (key, number) in keys.iter_mut().zip(u64::from(asked)..) {
            *key = String::nth(FIRST_ATTACKER + number);
        }
        now += 1_000_000;
        SimulatedClock::set(now);
        let start = Instant::now();
        since.let_in += u64::from(store.batch(&keys, &picks));
        since.deciding += start.elapsed();
        since.calls += u64::from(TOGETHER);
        let asked = asked + TOGETHER;
        if !asked.is_multiple_of(tenth) {
            continue;
        }
        if tidied {
            let start = Instant::now();
            store.tidy();
            since.slowest_tidy = since.slowest_tidy.max(start.elapsed());
        }
        if bytes() > MOST_BYTES {
            let mib = MOST_BYTES >> 20;
            sample(asked, &mut since, &format!("ended: more than {mib} MiB"));
            break;
        }
        if SAMPLED.contains(&(asked / tenth)) {
            sample(asked, &mut since, "");
        }
    }
    rows
}

/// What has happened since the row before.
#[derive(Default)]
struct Since {
    calls: u64,
    let_in: u64,
    deciding: Duration,
    slowest_tidy: Duration,
}

impl Since {
    fn told<K>(&self, store: &dyn KeyedInstance<K>, row: KeyedAttackRow) -> KeyedAttackRow {
        let counts = store.counts();
        let nanos = self.deciding.as_nanos() as f64 / self.calls.max(1) as f64;
        KeyedAttackRow {
            keys: counts.keys,
            evictions: counts.evictions,
            refusals: counts.refusals,
            examined: counts.examined,
            most_examined: counts.most_examined,
            let_in: self.let_in,
            ns_a_call: (nanos * 10.0).round() / 10.0,
            slowest_tidy_ns: self.slowest_tidy.as_nanos() as u64,
            ..row
        }
    }
}
