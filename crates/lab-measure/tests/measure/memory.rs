//! Bytes of one limiter, counted.

use windowpane_lab_contestants::{self as contestants, Origin};
use windowpane_lab_measure::memory::{Fill, LIMITS, measure};

/// What this thread has allocated cannot be told from what others have, so only one test counts,
/// and it asks again if another thread was at work in between.
fn live_bytes() -> usize {
    let stats = crate::ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated)
}

#[test]
fn ours_keep_to_their_formulas_and_accept_what_fills_them() {
    for contestant in contestants::all() {
        let info = contestant.info();
        if info.origin != Origin::Ours {
            continue;
        }
        let within = || {
            let rows = measure(contestant, live_bytes);
            assert_eq!(rows.len(), LIMITS.len() * Fill::ALL.len());
            for row in &rows {
                let accepted = match row.fill.as_str() {
                    "empty" => 0,
                    "half full" => row.limit / 2,
                    _ => row.limit,
                };
                assert_eq!(row.accepted, accepted, "{}: {row:?}", info.name);
            }
            rows.iter().all(|row| match (row.bytes, row.at_most) {
                (Some(bytes), Some(at_most)) => bytes > 0 && bytes <= at_most,
                (bytes, _) => bytes.is_some_and(|bytes| bytes > 0),
            })
        };
        // Other tests of this program allocate meanwhile, so a single count can be off either way.
        assert!(
            (0..50).any(|_| within()),
            "{} never kept to its formula",
            info.name
        );
    }
}
