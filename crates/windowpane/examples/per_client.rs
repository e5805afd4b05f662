//! A limiter for each client: by address or API key, with tiers, a cap, and a sweeper.
//!
//! `cargo run -p windowpane --features keyed --example per_client`

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use windowpane::keyed::WhenFull;
use windowpane::{CasRing, Cost, KeyedLimiter, Quotas, StoreError};

/// Clients whose name says that they pay may do more.
fn store() -> Result<KeyedLimiter<String, CasRing>, Box<dyn Error>> {
    let paying = Quotas::parse(["100/60s", "20/1s"])?;
    let free = Quotas::parse(["3/60s"])?;
    let quotas_of = move |client: &String| match client.starts_with("paying-") {
        true => paying.clone(),
        false => free.clone(),
    };
    Ok(KeyedLimiter::tiered(quotas_of)
        .max_keys(1_000)
        .when_full(WhenFull::Deny)
        .build()?)
}

/// What a service answers a request of `client`.
fn serve(limiter: &KeyedLimiter<String, CasRing>, client: &str) -> String {
    match limiter.acquire_detailed(client, Cost::ONE) {
        Ok(answer) => match answer.detailed.decision().denied() {
            None => format!("200, {} left", answer.detailed.remaining()),
            // Whole seconds, rounded up: earlier it would be denied again.
            Some(denied) => match denied.retry_after_nanos() {
                Some(wait) => format!("429, come back in {} s", wait.div_ceil(1_000_000_000)),
                None => "429, and no wait helps".into(),
            },
        },
        Err(StoreError::Full { .. }) => "503, too many clients".into(),
        Err(error) => format!("400, {error}"),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let limiter = Arc::new(store()?);
    // Memory of clients that went away comes back; until this is dropped.
    let _sweeper = limiter.sweep_every(Duration::from_secs(10))?;
    for client in ["free-7", "free-7", "free-7", "free-7", "paying-1", "free-8"] {
        println!("{client:9} {}", serve(&limiter, client));
    }
    println!(
        "{} clients held, {} requests denied",
        limiter.keys(),
        limiter.denials()
    );
    Ok(())
}

#[test]
fn clients_have_their_own_allowance_by_their_tier() {
    let limiter = store().unwrap();
    for left in [2, 1, 0] {
        assert_eq!(serve(&limiter, "free-7"), format!("200, {left} left"));
    }
    assert!(serve(&limiter, "free-7").starts_with("429, come back in "));
    assert_eq!(serve(&limiter, "free-8"), "200, 2 left");
    assert_eq!(serve(&limiter, "paying-1"), "200, 19 left");
    // With as many live clients as there is room for, a new one is turned away.
    for client in 0..997 {
        assert_eq!(
            serve(&limiter, &format!("free-new-{client}")),
            "200, 2 left"
        );
    }
    assert_eq!(serve(&limiter, "free-late"), "503, too many clients");
    assert!(serve(&limiter, "free-7").starts_with("429"));
}
