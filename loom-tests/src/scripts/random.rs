//! Random scripts.

use crate::script::{
    Call, Script, acquire, acquire_of, detailed, peek, peek_of, reset, reset_of, sweep,
};

/// Random numbers by SplitMix64: the same for a seed on every machine and for ever.
struct Random(u64);

impl Random {
    /// A number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// The random script of a seed: one or `most_quotas` small quotas, a few calls before, two threads
/// of one to three calls or three threads of one, and looks at what they leave.
pub fn random(seed: u64, most_quotas: u64) -> Script {
    let random = &mut Random(seed);
    let quotas = 1 + random.below(most_quotas);
    let quotas: Vec<(u64, u64)> = (0..quotas)
        .map(|_| (1 + random.below(3), 2 + random.below(10)))
        .collect();
    let texts: Vec<String> = quotas
        .iter()
        .map(|(limit, window)| format!("{limit}/{window}ns"))
        .collect();
    let longest = quotas.iter().map(|(_, window)| *window).max().unwrap_or(1);
    let largest = quotas.iter().map(|(limit, _)| *limit).max().unwrap_or(1);
    let mut script = Script::new(texts.as_slice()).capacity(largest + random.below(2));
    // Each call is a little later than the one before it, on the whole; half a window later often
    // enough for permits to come back.
    let mut time = random.below(longest);
    let before = random.below(largest + 1);
    script = script.before((0..before).map(|_| call(random, &mut time, longest, largest)));
    let threads = match random.below(6) {
        0 => vec![1, 1, 1],
        1 | 2 => vec![1, 3],
        _ => vec![1 + random.below(2), 2],
    };
    for calls in threads {
        let mut own = time;
        let calls: Vec<Call> = (0..calls)
            .map(|_| call(random, &mut own, longest, largest))
            .collect();
        script = script.thread(calls);
    }
    let looks = [0, 1, longest / 2, longest, 2 * longest];
    script
        .after(looks.map(|later| peek(time + longest + later)))
        .buckets(1 + random.below(3) as u32)
        .preemptions(3)
}

fn call(random: &mut Random, time: &mut u64, longest: u64, largest: u64) -> Call {
    *time += match random.below(4) {
        0 => 0,
        1 => 1,
        2 => longest / 2,
        _ => random.below(longest + 2),
    };
    let now = match random.one_in(6) {
        true => time.saturating_sub(random.below(longest)),
        false => *time,
    };
    let cost = if random.one_in(3) {
        1 + random.below(largest)
    } else {
        1
    };
    match random.below(14) {
        0 => reset(),
        1 => peek(now).costing(cost),
        2 => detailed(now).costing(cost),
        _ => acquire(now).costing(cost),
    }
}

/// The random script of a seed for a store of two entries: up to three keys before, all idle when
/// the threads begin, and two keys that these ask for, so that there is always room.
pub fn random_of_keys(seed: u64) -> Script {
    let random = &mut Random(seed);
    let limit = 1 + random.below(2);
    let quota = format!("{limit}/10ns");
    let mut script = Script::new([quota.as_str()]);
    let before = random.below(4);
    script = script.before((0..before).map(|_| acquire_of(1 + random.below(2), random.below(10))));
    let threads = match random.below(4) {
        0 => vec![1, 1, 1],
        1 => vec![1, 3],
        _ => vec![2, 2],
    };
    for calls in threads {
        let calls: Vec<Call> = (0..calls).map(|_| call_of_a_key(random)).collect();
        script = script.thread(calls);
    }
    let looks = [1, 3].map(|key| peek_of(key, 12));
    script.after(looks).preemptions(3)
}

fn call_of_a_key(random: &mut Random) -> Call {
    // One goes first to the entry that both like best, one is asked for more often.
    let key = if random.one_in(3) { 3 } else { 1 };
    let now = 10 + random.below(2);
    match random.below(8) {
        0 => sweep(now),
        1 => reset_of(key),
        2 => peek_of(key, now),
        _ => acquire_of(key, now),
    }
}
