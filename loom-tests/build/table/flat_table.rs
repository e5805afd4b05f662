//! Mutants of the flat table of keys, under the rule of the fixed window.

use super::Limiter::FlatTable;
use super::{Mutant, Shipped};

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "held_at_once",
        bug: "It makes its claim held without going the way once more",
        of: Shipped::FlatTable,
        file: "insert.rs",
        shipped: "known = self.claim(way, room.found);
                own = known;
                continue;",
        seeded: "own = self.claim(way, room.found);
                if let Some(claim) = own {
                    let held = Entry::held(way.key, answered.1);
                    if claim.entry.replace(self.places.on(way, claim.nth), held) {
                        return Ok(answered);
                    }
                }
                continue;",
        found_by: &[(FlatTable, "keys::inserted_in_two_places")],
    },
    Mutant {
        name: "held_or_not",
        bug: "It takes a claim for held that it could not make so",
        of: Shipped::FlatTable,
        file: "insert.rs",
        shipped: "if first.entry.replace(self.places.on(way, first.nth), held) {
                        return Ok(answered);
                    }",
        seeded: "first.entry.replace(self.places.on(way, first.nth), held);
                    return Ok(answered);",
        found_by: &[(FlatTable, "keys::inserted_twice")],
    },
    Mutant {
        name: "no_fence",
        bug: "Nothing stands between a claim and the round after it",
        of: Shipped::FlatTable,
        file: "insert.rs",
        shipped: "fence(Ordering::SeqCst);",
        seeded: "fence(Ordering::AcqRel);",
        found_by: &[(FlatTable, "keys::inserted_in_two_places")],
    },
    Mutant {
        name: "finishes_a_claim_at_once",
        bug: "It makes another's claim held after the round that has met it",
        of: Shipped::FlatTable,
        file: "insert.rs",
        shipped: "if known != Some(first) || !round.alone {",
        seeded: "if !round.alone {",
        found_by: &[(FlatTable, "keys::inserted_by_three")],
    },
    Mutant {
        name: "leaves_other_claims",
        bug: "It drops no claims but its own",
        of: Shipped::FlatTable,
        file: "insert.rs",
        shipped: "Seen::Claimed if inserting => round.alone &= self.drop_claim(way, Some(found)),",
        seeded: "",
        found_by: &[(FlatTable, "keys::inserted_in_two_places")],
    },
    Mutant {
        name: "does_not_mind_lost_drops",
        bug: "A claim that could not be dropped is taken for one that was",
        of: Shipped::FlatTable,
        file: "insert.rs",
        shipped: "round.alone &= self.drop_claim(way, Some(found)),",
        seeded: "{ self.drop_claim(way, Some(found)); }",
        found_by: &[(FlatTable, "keys::inserted_in_two_places")],
    },
    Mutant {
        name: "claims_alike",
        bug: "All claims of a key have the same number",
        of: Shipped::FlatTable,
        file: "counts.rs",
        shipped: "self.claims.fetch_add(1, Relaxed)",
        seeded: "self.claims.fetch_add(1, Relaxed) * 0",
        found_by: &[(FlatTable, "keys::inserted_by_three")],
    },
    Mutant {
        name: "evicts_blindly",
        bug: "It takes the place of a key whatever has become of it since it was idle",
        of: Shipped::FlatTable,
        file: "table.rs",
        shipped: "entry.replace(slot, next).then_some(held.is_some())",
        seeded: "Entry::load(slot).replace(slot, next).then_some(held.is_some())",
        found_by: &[
            (FlatTable, "keys::evicted_while_charged"),
            (FlatTable, "keys::swept_while_charged"),
        ],
    },
    Mutant {
        name: "charges_whom_it_finds",
        bug: "After a lost exchange it does not look whose the entry is",
        of: Shipped::FlatTable,
        file: "known.rs",
        shipped: "if !entry.holds(key) {
                return Ok(None);
            }",
        seeded: "",
        found_by: &[
            (FlatTable, "keys::evicted_while_charged"),
            (FlatTable, "keys::reused_while_charged"),
        ],
    },
    Mutant {
        name: "charges_blindly",
        bug: "It charges whatever the entry has become",
        of: Shipped::FlatTable,
        file: "known.rs",
        shipped: "entry.charge(slot, Entry::held(key, word))",
        seeded: "Entry::load(slot).charge(slot, Entry::held(key, word))",
        found_by: &[(FlatTable, "keys::charged_and_looked_at")],
    },
    Mutant {
        name: "keeps_the_floor",
        bug: "Forgetting a key does not raise the floor",
        of: Shipped::FlatTable,
        file: "table.rs",
        shipped: "self.floor.fetch_max(from, Ordering::Relaxed);",
        seeded: "",
        found_by: &[
            (FlatTable, "keys::forgotten_before_an_early_reading"),
            (FlatTable, "keys::swept_before_an_early_reading"),
        ],
    },
    Mutant {
        name: "raises_watermark_after_exchange",
        bug: "It raises the eviction watermark after the exchange that forgets the key",
        of: Shipped::FlatTable,
        file: "table.rs",
        shipped: "let held = entry.held_word();
        if let Some(from) = held.and_then(|word| self.rule.idle_from(word)) {
            if self.floor.load(Ordering::Relaxed) < from {
                self.floor.fetch_max(from, Ordering::Relaxed);
            }
        }
        entry.replace(slot, next).then_some(held.is_some())",
        seeded: "let held = entry.held_word();
        let replaced = entry.replace(slot, next);
        if let Some(from) = held.and_then(|word| self.rule.idle_from(word)) {
            if self.floor.load(Ordering::Relaxed) < from {
                self.floor.fetch_max(from, Ordering::Relaxed);
            }
        }
        replaced.then_some(held.is_some())",
        found_by: &[
            (FlatTable, "keys::forgotten_before_an_early_reading"),
            (FlatTable, "keys::swept_before_an_early_reading"),
            (FlatTable, "keys::swept_before_an_early_look"),
        ],
    },
    Mutant {
        name: "relaxed_load",
        bug: "Who finds a key gone need not find the floor raised: his load is relaxed",
        of: Shipped::FlatTable,
        file: "entry.rs",
        shipped: "Entry(slot.load(Ordering::Acquire))",
        seeded: "Entry(slot.load(Ordering::Relaxed))",
        found_by: &[(FlatTable, "keys::swept_before_an_early_look")],
    },
    Mutant {
        name: "relaxed_replacement",
        bug: "Who finds a key gone need not find the floor raised: its replacement is relaxed",
        of: Shipped::FlatTable,
        file: "entry.rs",
        shipped: "Ordering::AcqRel, Ordering::Relaxed)",
        seeded: "Ordering::Relaxed, Ordering::Relaxed)",
        found_by: &[(FlatTable, "keys::swept_before_an_early_reading")],
    },
    Mutant {
        name: "sweeps_all",
        bug: "A sweep removes keys that are not idle",
        of: Shipped::FlatTable,
        file: "table.rs",
        shipped: "entry.is_claimed() || self.idle_from(entry, now).is_some()",
        seeded: "entry.is_claimed() || entry.held_word().is_some()",
        found_by: &[
            (FlatTable, "keys::swept_while_inserted"),
            (FlatTable, "keys::swept_while_charged"),
        ],
    },
    Mutant {
        name: "looks_insert",
        bug: "A look finishes an insertion that it meets",
        of: Shipped::FlatTable,
        file: "table.rs",
        shipped: "(None, Some(_)) => self.fresh(now, charge)?,",
        seeded: "(None, Some(found)) => {
            let fresh = self.fresh(now, charge)?;
            let slot = self.places.on(&self.way_of(key), found.nth);
            found.entry.replace(slot, Entry::held(self.way_of(key).key, fresh.1));
            fresh
        }",
        found_by: &[(FlatTable, "keys::looked_at_while_inserted")],
    },
    Mutant {
        name: "reset_only_tries",
        bug: "A reset gives up when its exchange is lost",
        of: Shipped::FlatTable,
        file: "table.rs",
        shipped: "while let Some(held) = self.go_round(&way, 0, false).held {",
        seeded: "if let Some(held) = self.go_round(&way, 0, false).held {",
        found_by: &[(FlatTable, "keys::reset_while_charged")],
    },
];
