//! What no run can measure about a limiter, and the code that builds it.
//!
//! The code stands in files under `snippets`, which a test compiles and runs. A contestant without
//! an entry here is ranked all the same; it has no code, and only what is exact is trusted to keep
//! a quota.

use super::need::Need;

/// One limiter.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The contestant's name.
    pub name: &'static str,
    /// Whether no window can ever hold more than the quota, exact or not.
    pub keeps_quota: bool,
    /// Whether a cost of `k` takes time that grows with `k`.
    pub costs_take_long: bool,
    /// Builds it for one key.
    one_key: &'static str,
    /// Builds it for many keys.
    many_keys: &'static str,
}

macro_rules! known {
    ($($name:literal, $file:literal, keeps_quota: $keeps:literal, costs_take_long: $long:literal;)*) => {
        &[$(Known {
            name: $name,
            keeps_quota: $keeps,
            costs_take_long: $long,
            one_key: include_str!(concat!("snippets/", $file, ".rs")),
            many_keys: include_str!(concat!("snippets/", $file, "_keyed.rs")),
        },)*]
    };
}

/// Everything known.
pub static KNOWN: &[Known] = known! {
    "mutex-log", "mutex_log", keeps_quota: true, costs_take_long: false;
    "mutex-log-parking-lot", "mutex_log_parking_lot", keeps_quota: true, costs_take_long: false;
    "cas-ring", "cas_ring", keeps_quota: true, costs_take_long: true;
    "packed-counter", "packed_counter", keeps_quota: false, costs_take_long: false;
    "bucket-ring", "bucket_ring", keeps_quota: true, costs_take_long: false;
    "gcra", "gcra", keeps_quota: false, costs_take_long: false;
    "fixed-window", "fixed_window", keeps_quota: false, costs_take_long: false;
    "governor", "governor", keeps_quota: false, costs_take_long: false;
    "rate-net-log", "rate_net_log", keeps_quota: true, costs_take_long: false;
    "ratelimit", "ratelimit", keeps_quota: false, costs_take_long: false;
    "trypema", "trypema", keeps_quota: false, costs_take_long: false;
    "rate-net-counter", "rate_net_counter", keeps_quota: false, costs_take_long: false;
    "plain-log", "plain_log", keeps_quota: true, costs_take_long: false;
};

/// The contestant of that name.
pub fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

/// The places in the snippets where the need is filled in.
const QUOTAS: &str = r#"["1000/60s"]"#;
const KEYS: &str = "max_keys(50_000)";
/// Behind the type that whoever it is takes a limit as.
const LIMIT: &str = " = 1_000;";
const WINDOW: &str = "Duration::from_nanos(60_000_000_000)";

impl Known {
    /// The code that builds it for a need.
    pub fn code(&self, need: &Need) -> String {
        let text = match need.keys {
            1 => self.one_key,
            _ => self.many_keys,
        };
        let quotas: Vec<String> = need.quotas.iter().map(|q| format!("\"{q}\"")).collect();
        let first = need.quotas[0];
        text.replace(QUOTAS, &format!("[{}]", quotas.join(", ")))
            .replace(KEYS, &format!("max_keys({})", digits(need.keys)))
            .replace(LIMIT, &format!(" = {};", digits(first.limit())))
            .replace(
                WINDOW,
                &format!("Duration::from_nanos({})", digits(first.window())),
            )
    }
}

/// A whole number as Rust writes it, thousands set apart.
fn digits(number: u64) -> String {
    windowpane_lab_ground::figures::thousands(number).replace(',', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use windowpane_lab_contestants as contestants;

    fn need(quotas: &[&str], keys: u64) -> Need {
        Need {
            keys,
            ..Need::of(windowpane_core::Quotas::parse(quotas.iter().copied()).unwrap())
        }
    }

    #[test]
    fn every_contestant_is_known() {
        for contestant in contestants::all() {
            let name = contestant.info().name;
            assert!(known(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_limit_of_more_than_32_bits_fits_where_the_limiter_holds_it() {
        for name in ["plain-log", "ratelimit"] {
            for keys in [1, 2] {
                let code = known(name).unwrap().code(&need(&["5000000000/60s"], keys));
                let wide = code.contains("LIMIT: u64") || code.contains("LIMIT: usize");
                assert!(wide && code.contains(" = 5_000_000_000;"), "{code}");
            }
        }
    }

    #[test]
    fn the_need_that_stands_in_the_snippets_changes_nothing() {
        for known in KNOWN {
            assert_eq!(known.code(&need(&["1000/60s"], 1)), known.one_key);
            assert_eq!(known.code(&need(&["1000/60s"], 50_000)), known.many_keys);
        }
    }

    #[test]
    fn another_need_is_filled_in_everywhere() {
        for known in KNOWN {
            let ours = known.one_key.contains("windowpane");
            let quotas: &[&str] = if ours { &["7/2s", "30/1m"] } else { &["7/2s"] };
            for keys in [1, 1_234] {
                let code = known.code(&need(quotas, keys));
                assert!(!code.contains("1000") && !code.contains("1_000"), "{code}");
                if ours {
                    assert!(code.contains(r#"["7/2s", "30/60s"]"#), "{code}");
                    assert_eq!(code.contains("max_keys(1_234)"), keys > 1, "{code}");
                } else {
                    assert!(
                        code.contains("const LIMIT: ") && code.contains(" = 7;"),
                        "{code}"
                    );
                    assert!(code.contains("from_nanos(2_000_000_000)"), "{code}");
                }
            }
        }
    }
}
