//! The code that `lab choose` prints: the table's, with the need filled in.

use windowpane_lab_contestants::Code;
use windowpane_lab_contestants::table::TABLE;
use windowpane_lab_ground::figures::thousands;
use windowpane_lab_report::choose::{Candidate, Need};

/// The places in the snippets where the need is filled in.
const QUOTAS: &str = r#"["1000/60s"]"#;
const KEYS: &str = "50_000";
/// Behind the type of a limit.
const LIMIT: &str = " = 1_000;";
const WINDOW: &str = "Duration::from_nanos(60_000_000_000)";

/// The program for several machines, with the algorithm's type to be filled in.
const ON_REDIS: &str = r#"// Cargo.toml: windowpane, with the feature `redis`
use windowpane::on_redis::{ALGORITHM, RedisLimiter, Store};

async fn limiter() -> Result<RedisLimiter<ALGORITHM>, Box<dyn std::error::Error>> {
    let store = Store::at("redis://127.0.0.1:6379")?.connect().await?;
    Ok(RedisLimiter::<ALGORITHM>::new(store, ["1000/60s"])?)
}
"#;

/// Returns the program that builds a candidate; empty if there is none.
pub fn of(candidate: &Candidate, need: &Need) -> String {
    let on_redis = match candidate.limiter.as_str() {
        "redis/log" => Some("Log"),
        "redis/two-counter" => Some("TwoCounter"),
        "redis/gcra" => Some("Gcra"),
        _ => None,
    };
    if let Some(algorithm) = on_redis {
        return fill_in(&ON_REDIS.replace("ALGORITHM", algorithm), need);
    }
    let code = TABLE.entry(&candidate.limiter).and_then(|entry| entry.code);
    let text = code.map_or("", |code| text(&code, candidate.store.as_deref()));
    fill_in(text, need)
}

/// The text for one key, for the flat table, or for another store.
fn text(code: &Code, store: Option<&str>) -> &'static str {
    match store {
        None => code.one_key,
        Some(store) if store.starts_with("flat/") => code.flat.unwrap_or(code.many_keys),
        Some(_) => code.many_keys,
    }
}

/// Returns the lines of a program that build the limiter.
pub fn building(program: &str) -> Vec<&str> {
    let is_frame = |line: &&str| {
        let is_main = line.starts_with("fn main()") || line.starts_with("async fn");
        !is_main && !line.is_empty() && *line != "}"
    };
    let lines = program
        .lines()
        .take_while(|line| !line.trim_start().starts_with("match "));
    lines.filter(is_frame).map(str::trim_start).collect()
}

fn fill_in(text: &str, need: &Need) -> String {
    let quotas: Vec<String> = need.quotas.iter().map(|q| format!("\"{q}\"")).collect();
    let first = need.quotas[0];
    text.replace(QUOTAS, &format!("[{}]", quotas.join(", ")))
        .replace(KEYS, &digits(need.keys))
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

    fn codes() -> impl Iterator<Item = Code> {
        TABLE.entries().filter_map(|entry| entry.code)
    }

    fn need(quotas: &[&str], keys: u64) -> Need {
        Need {
            keys,
            ..Need::of(windowpane_core::Quotas::parse(quotas).unwrap())
        }
    }

    /// The programs for one key, for a store and for the flat table.
    fn programs(code: Code) -> impl Iterator<Item = (u64, &'static str)> {
        [
            (1, Some(code.one_key)),
            (50_000, Some(code.many_keys)),
            (50_000, code.flat),
        ]
        .into_iter()
        .filter_map(|(keys, text)| Some((keys, text?)))
    }

    #[test]
    fn a_limit_of_more_than_32_bits_fits_where_the_limiter_holds_it() {
        for name in ["plain-log", "ratelimit"] {
            let code = TABLE.entry(name).and_then(|entry| entry.code).unwrap();
            for (keys, text) in programs(code) {
                let code = fill_in(text, &need(&["5000000000/60s"], keys));
                let wide = code.contains("LIMIT: u64") || code.contains("LIMIT: usize");
                assert!(wide && code.contains(" = 5_000_000_000;"), "{code}");
            }
        }
    }

    #[test]
    fn the_need_of_the_snippets_changes_nothing() {
        for (keys, text) in codes().flat_map(programs) {
            assert_eq!(fill_in(text, &need(&["1000/60s"], keys)), text);
        }
    }

    #[test]
    fn another_need_is_filled_in_everywhere() {
        for (keys, text) in codes().flat_map(programs) {
            let ours = text.contains("windowpane");
            let quotas: &[&str] = if ours { &["7/2s", "30/1m"] } else { &["7/2s"] };
            let keys = if keys == 1 { 1 } else { 1_234 };
            let code = fill_in(text, &need(quotas, keys));
            assert!(
                !code.contains("1000/") && !code.contains("1_000") && !code.contains("50_000"),
                "{code}"
            );
            if ours {
                assert!(code.contains(r#"["7/2s", "30/60s"]"#), "{code}");
                assert_eq!(code.contains("1_234"), keys > 1, "{code}");
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
