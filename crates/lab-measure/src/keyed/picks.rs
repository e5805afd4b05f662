//! Which keys a worker asks for, drawn before anything is timed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Zipf};

use crate::definitions::{Keyed, Pick};

/// Draws before they repeat.
const DRAWN: usize = 1 << 18;

/// How many keys are known before a flood.
pub(super) fn known_in_a_flood(workload: &Keyed) -> u32 {
    (workload.held() / 10).max(1)
}

/// Picks by workload, worker and threads.
type Drawn = HashMap<(String, usize, usize), Arc<[u32]>>;

/// [`of_worker`], drawn once in a process: drawing takes longer than measuring.
pub(super) fn drawn(workload: &Keyed, worker: usize, threads: usize) -> Arc<[u32]> {
    static DRAWN: Mutex<Option<Drawn>> = Mutex::new(None);
    let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (workload.name.clone(), worker, threads);
    let picks = drawn.get_or_insert_default().entry(key);
    Arc::clone(picks.or_insert_with(|| of_worker(workload, worker, threads).into()))
}

/// The places of the keys that a worker asks for, one after the other. The same for every
/// contestant; of new keys no two workers ask for the same.
fn of_worker(workload: &Keyed, worker: usize, threads: usize) -> Vec<u32> {
    let mut random = StdRng::seed_from_u64(worker as u64);
    let law = |keys: u32| {
        let exponent = workload.zipf.unwrap_or(1.0);
        Zipf::new(f64::from(keys), exponent).expect("a checked exponent")
    };
    match workload.pick {
        Pick::Uniform if workload.keys == 1 => vec![0; DRAWN],
        Pick::Uniform => (0..4 * DRAWN)
            .map(|_| random.random_range(0..workload.keys))
            .collect(),
        Pick::Zipf => {
            let law = law(workload.keys);
            (0..DRAWN)
                .map(|_| law.sample(&mut random) as u32 - 1)
                .collect()
        }
        Pick::New => own(0..workload.keys, worker, threads).collect(),
        Pick::Flood => {
            let known = known_in_a_flood(workload);
            let law = law(known);
            own(known..workload.keys, worker, threads)
                .flat_map(|new| [law.sample(&mut random) as u32 - 1, new])
                .collect()
        }
    }
}

/// A worker's part of new keys.
fn own(keys: std::ops::Range<u32>, worker: usize, threads: usize) -> std::ops::Range<u32> {
    let each = (keys.len() / threads) as u32;
    let start = keys.start + each * worker as u32;
    start..start + each
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::definitions;

    #[test]
    fn no_two_workers_ask_for_the_same_new_key() {
        for workload in definitions::keyed() {
            let first_new = match workload.pick {
                Pick::New => 0,
                Pick::Flood => known_in_a_flood(workload),
                Pick::Uniform | Pick::Zipf => continue,
            };
            let mut seen = BTreeSet::new();
            for worker in 0..4 {
                for pick in of_worker(workload, worker, 4) {
                    assert!(pick < workload.keys, "{}", workload.name);
                    let is_new = pick >= first_new;
                    assert!(!is_new || seen.insert(pick), "{}: {pick}", workload.name);
                }
            }
            // All of them, but for what four workers cannot share.
            let new = (workload.keys - first_new) as usize;
            assert!(new - seen.len() < 4, "{}: {}", workload.name, seen.len());
        }
    }
}
