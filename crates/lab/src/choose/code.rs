//! The code that `lab choose` prints: the table's, with the need filled in.

use windowpane_lab_contestants::Code;
use windowpane_lab_ground::figures::thousands;

use super::need::Need;

/// The places in the snippets where the need is filled in.
const QUOTAS: &str = r#"["1000/60s"]"#;
const KEYS: &str = "max_keys(50_000)";
/// Behind the type that whoever it is takes a limit as.
const LIMIT: &str = " = 1_000;";
const WINDOW: &str = "Duration::from_nanos(60_000_000_000)";

/// Returns the code for a need.
pub fn fill_in(code: &Code, need: &Need) -> String {
    let text = match need.keys {
        1 => code.one_key,
        _ => code.many_keys,
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

/// A whole number as Rust writes it, thousands set apart.
fn digits(number: u64) -> String {
    thousands(number).replace(',', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use windowpane_lab_contestants::table::TABLE;

    fn codes() -> impl Iterator<Item = Code> {
        TABLE.entries().filter_map(|entry| entry.code)
    }

    fn need(quotas: &[&str], keys: u64) -> Need {
        Need {
            keys,
            ..Need::of(windowpane_core::Quotas::parse(quotas).unwrap())
        }
    }

    #[test]
    fn a_limit_of_more_than_32_bits_fits_where_the_limiter_holds_it() {
        for name in ["plain-log", "ratelimit"] {
            let code = TABLE.entry(name).and_then(|entry| entry.code).unwrap();
            for keys in [1, 2] {
                let code = fill_in(&code, &need(&["5000000000/60s"], keys));
                let wide = code.contains("LIMIT: u64") || code.contains("LIMIT: usize");
                assert!(wide && code.contains(" = 5_000_000_000;"), "{code}");
            }
        }
    }

    #[test]
    fn the_need_that_stands_in_the_snippets_changes_nothing() {
        for of in codes() {
            assert_eq!(fill_in(&of, &need(&["1000/60s"], 1)), of.one_key);
            assert_eq!(fill_in(&of, &need(&["1000/60s"], 50_000)), of.many_keys);
        }
    }

    #[test]
    fn another_need_is_filled_in_everywhere() {
        for of in codes() {
            let ours = of.one_key.contains("windowpane");
            let quotas: &[&str] = if ours { &["7/2s", "30/1m"] } else { &["7/2s"] };
            for keys in [1, 1_234] {
                let code = fill_in(&of, &need(quotas, keys));
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
