//! Bytes of one limiter, counted. A program of its own: the allocator counts for all threads, and
//! here no other test allocates meanwhile.

use windowpane_lab_contestants::{self as contestants, Origin};
use windowpane_lab_measure::memory::{Fill, LIMITS, measure};

#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

fn live_bytes() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated)
}

#[test]
fn ours_keep_to_their_formulas_and_accept_what_fills_them() {
    for contestant in contestants::all() {
        let info = contestant.info();
        if info.origin != Origin::Ours {
            continue;
        }
        let rows = measure(contestant, live_bytes);
        assert_eq!(rows.len(), LIMITS.len() * Fill::ALL.len());
        for row in &rows {
            let accepted = match row.fill.as_str() {
                "empty" => 0,
                "half full" => row.limit / 2,
                _ => row.limit,
            };
            assert_eq!(row.accepted, accepted, "{}: {row:?}", info.name);
            let bytes = row.bytes.unwrap_or(0);
            let at_most = row.at_most.unwrap_or(u64::MAX);
            assert!(bytes > 0 && bytes <= at_most, "{}: {row:?}", info.name);
        }
    }
}
