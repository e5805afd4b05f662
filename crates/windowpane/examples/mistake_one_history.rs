//! The classic mistake: one history for all keys.
//!
//! A quota is per client. With one limiter for all clients, the loudest client takes the permits of
//! the others. Each key needs a limiter of its own.
//!
//! `cargo run -p windowpane --example mistake_one_history`

use std::collections::HashMap;

use windowpane::algorithm::{Cost, RateLimiter};
use windowpane::{CasRing, Nanos, Quota};

const SECOND: Nanos = 1_000_000_000;

fn limiter() -> CasRing {
    let quota: Quota = "5/60s".parse().unwrap();
    CasRing::new(quota).unwrap()
}

/// The allowed requests of each client.
type Allowed = HashMap<&'static str, u32>;

/// A loud client asks a hundred times a second, a quiet one every five seconds, for a minute.
fn ask(mut allow: impl FnMut(&'static str, Nanos) -> bool) -> Allowed {
    let mut allowed = Allowed::from([("loud", 0), ("quiet", 0)]);
    for hundredth in 0..6_000_u64 {
        let now = hundredth * SECOND / 100;
        *allowed.get_mut("loud").unwrap() += u32::from(allow("loud", now));
        if hundredth % 500 == 250 {
            *allowed.get_mut("quiet").unwrap() += u32::from(allow("quiet", now));
        }
    }
    allowed
}

fn figures() -> [(&'static str, Allowed); 2] {
    let of_all = limiter();
    let mut of_each = HashMap::new();
    [
        (
            "one history for all keys",
            ask(|_, now| of_all.decide_at(now, Cost::ONE).unwrap().is_allowed()),
        ),
        (
            "one for each key",
            ask(|key, now| {
                let of_key = of_each.entry(key).or_insert_with(limiter);
                of_key.decide_at(now, Cost::ONE).unwrap().is_allowed()
            }),
        ),
    ]
}

fn main() {
    println!("5 per minute and client; a loud and a quiet client, allowed in a minute:");
    for (name, allowed) in figures() {
        println!(
            "  {name:<25} loud {} quiet {}",
            allowed["loud"], allowed["quiet"]
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loud_client_takes_what_is_the_quiet_ones() {
        let told = figures().map(|(_, allowed)| (allowed["loud"], allowed["quiet"]));
        assert_eq!(told, [(5, 0), (5, 5)]);
    }
}
