//! The seeded faults: what ships, what stands there instead, and the check that must fail then.

/// One fault, and who catches it.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// What is wrong then, in a sentence.
    pub(crate) what: &'static str,
    pub(crate) file: &'static str,
    /// The text that ships; it stands once in the file.
    pub(crate) shipped: &'static str,
    pub(crate) seeded: &'static str,
    /// The arguments of the call of cargo that must fail.
    pub(crate) check: &'static [&'static str],
    /// What the failing check prints: that test or that model has found it.
    pub(crate) found_by: &'static str,
}

pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "weaker-order",
        what: "the ring's claim is relaxed: a head does not bring the record before it along",
        file: "crates/cas-ring/src/ring.rs",
        shipped: "claimed.to_bits(),\n            Ordering::Release,",
        seeded: "claimed.to_bits(),\n            Ordering::Relaxed,",
        check: &["loom", "cas_ring ships", "sleeping_claimer"],
        found_by: "FAILED cas_ring ships::sleeping_claimer",
    },
    Fault {
        name: "lost-re-read",
        what: "the ring denies without a second look at its head",
        file: "crates/cas-ring/src/ring.rs",
        shipped: "let stands = self.is_current(head);",
        seeded: "let stands = true;",
        check: &["loom", "cas_ring ships", "reader_on_an_old_head"],
        found_by: "FAILED cas_ring ships::reader_on_an_old_head",
    },
    Fault {
        name: "off-by-one-at-the-edge",
        what: "a permit counts one nanosecond longer than the window",
        file: "crates/cas-ring/src/ring.rs",
        shipped: "first < self.first.window() && self.is_only",
        seeded: "first <= self.first.window() && self.is_only",
        check: &["test", "-p", "windowpane-cas-ring", "--test", "conformance"],
        found_by: "the_ring_answers_every_case ... FAILED",
    },
    Fault {
        name: "plain-add",
        what: "the one-word limiters check and then add, whatever the word is by then",
        file: "crates/core/src/one_word.rs",
        shipped: "match self.word.compare_exchange_weak(
                        word,
                        next,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    ) {",
        seeded: "let found = self.word.load(Ordering::Relaxed);
                    let added = found.wrapping_add(next.wrapping_sub(word));
                    match self.word.compare_exchange_weak(
                        found,
                        added,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    ) {",
        check: &["loom", "packed_counter ships", "last_permit"],
        found_by: "FAILED packed_counter ships::last_permit",
    },
    Fault {
        name: "no-clamp",
        what: "fixed-window takes a reading before its window as it is: an old time creates capacity",
        file: "crates/baselines/src/fixed_window.rs",
        shipped: "let at = now.max(start);\n        if at - start < window",
        seeded: "let at = now;\n        if at - start < window",
        check: &[
            "test",
            "-p",
            "windowpane-baselines",
            "--test",
            "fixed_window",
        ],
        found_by: "it_decides_as_a_count_by_window_does ... FAILED",
    },
    Fault {
        name: "wrong-lap",
        what: "a slot of the lap before is taken for one of this lap",
        file: "crates/cas-ring/src/slot.rs",
        shipped: "self.0 >> STAMP_BITS == position.lap",
        seeded: "self.0 >> STAMP_BITS == position.lap & 0xFE || self.0 >> STAMP_BITS == position.lap",
        check: &["test", "-p", "windowpane-cas-ring", "--test", "oracle"],
        found_by: "the_ring_decides_as_the_log_does ... FAILED",
    },
    Fault {
        name: "eviction-of-a-live-key",
        what: "room is made by forgetting a key whose quota is used",
        file: "crates/keyed/src/evict.rs",
        shipped: "let idle = |entry: &Entry<L>| self.is_idle(&entry.limiter, now);",
        seeded: "let idle = |entry: &Entry<L>| self.is_idle(&entry.limiter, now) || now > 0;",
        check: &["test", "-p", "windowpane-keyed", "--test", "cap"],
        found_by: "a_flood_of_keys_changes_nothing_for_those_who_are_live ... FAILED",
    },
    Fault {
        name: "partial-charge",
        what: "a request of several permits is charged one",
        file: "crates/cas-ring/src/ring.rs",
        shipped: "head.claim(at, cost.get(), filled, self.capacity())",
        seeded: "head.claim(at, 1, filled, self.capacity())",
        check: &["test", "-p", "windowpane-cas-ring", "--test", "oracle"],
        found_by: "the_ring_decides_as_the_log_does ... FAILED",
    },
    Fault {
        name: "refund-twice",
        what: "what was charged is given back twice when a request is settled",
        file: "crates/core/src/one_word.rs",
        shipped: ".saturating_sub(charged.into());",
        seeded: ".saturating_sub(2 * u128::from(charged));",
        check: &[
            "test",
            "-p",
            "windowpane-packed-counter",
            "--test",
            "settle",
        ],
        found_by: "it_decides_as_if_each_request_had_cost_what_it_really_cost ... FAILED",
    },
    Fault {
        name: "stale-quota",
        what: "after a change the ring goes on deciding by the first quota of before",
        file: "crates/cas-ring/src/ring.rs",
        shipped: "self.first = quotas[0];\n        self.is_only",
        seeded: "self.is_only",
        check: &[
            "test",
            "-p",
            "windowpane",
            "--all-features",
            "--test",
            "change",
        ],
        found_by: "case_19_a_limit_is_raised_and_lowered_below_what_is_used ... FAILED",
    },
];
