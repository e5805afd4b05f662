//! A limiter for each client, by address or API key: tiers, a cap on keys, and a sweeper.
//!
//! `cargo run -p windowpane --features keyed --example per_client`

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use windowpane::{AcquireError, KeyedLimiter, Quotas, WhenFull};

/// Clients whose name says that they pay may do more.
fn store() -> Result<KeyedLimiter<String>, Box<dyn Error>> {
    let paying: Quotas = "100/60s, 20/1s".parse()?;
    let free: Quotas = "3/60s".parse()?;
    let quotas_of = move |client: &String| match client.starts_with("paying-") {
        true => paying.clone(),
        false => free.clone(),
    };
    Ok(KeyedLimiter::tiered(quotas_of)
        .max_keys(1_000)
        .when_full(WhenFull::Error)
        .build()?)
}

/// The answer of a service to a request of `client`.
fn serve(limiter: &KeyedLimiter<String>, client: &str) -> String {
    match limiter.try_acquire_detailed(client, 1) {
        Ok((_, status)) => format!("200, {} left", status.remaining()),
        Err(rejected) => match rejected.error() {
            // Whole seconds, rounded up: an earlier request would be denied again.
            AcquireError::Denied(denied) => {
                let seconds = denied.retry_after().as_nanos().div_ceil(1_000_000_000);
                format!("429, come back in {seconds} s")
            }
            AcquireError::Full { .. } => "503, too many clients".into(),
            error => format!("400, {error}"),
        },
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let limiter = Arc::new(store()?);
    // Until this is dropped, it frees the memory of idle clients.
    let _sweeper = limiter.sweep_every(Duration::from_secs(10))?;
    for client in ["free-7", "free-7", "free-7", "free-7", "paying-1", "free-8"] {
        println!("{client:9} {}", serve(&limiter, client));
    }
    let stats = limiter.stats();
    println!(
        "{} clients held, {} requests denied",
        stats.keys, stats.denials
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
    // While all slots are held by live clients, a new client is an error.
    for client in 0..997 {
        assert_eq!(
            serve(&limiter, &format!("free-new-{client}")),
            "200, 2 left"
        );
    }
    assert_eq!(serve(&limiter, "free-late"), "503, too many clients");
    assert!(serve(&limiter, "free-7").starts_with("429"));
}
