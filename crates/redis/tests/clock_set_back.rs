//! A server whose clock was set back, so that its records are of a future time.

mod support;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use support::{Server, limiter};
use windowpane_core::Cost;
use windowpane_redis::{Algorithm, Gcra, Log, RedisLimiter, TwoCounter};

const MINUTE: f64 = 60e6;

/// An hour from now, in microseconds.
fn an_hour_ahead() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    (now.as_micros() as f64 + 60.0 * MINUTE).floor()
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// The key denies, which creates no capacity, and expires within two windows.
async fn heals<A: Algorithm>(server: &Server, limiter: &RedisLimiter<A>, write: redis::Cmd) {
    let mut connection = server.connection();
    let _: redis::Value = write.query(&mut connection).unwrap();
    let key = limiter.key_in_store("k");
    let two_hours = redis::cmd("PEXPIRE").arg(&key).arg(7_200_000).clone();
    let _: i64 = two_hours.query(&mut connection).unwrap();
    let peeked = limiter.peek_detailed("k", Cost::ONE).await.unwrap();
    let life: i64 = redis::cmd("PTTL").arg(&key).query(&mut connection).unwrap();
    assert!(life > 7_000_000, "a peek changes nothing");
    let denied = limiter.decide("k", Cost::ONE).await.unwrap().answer;
    assert!(
        !denied.detailed.is_allowed() && !peeked.detailed.is_allowed(),
        "{}",
        A::NAME
    );
    let wait = denied.detailed.decision().retry_after().unwrap();
    assert!(wait > Duration::from_secs(3_500), "by its rule: {wait:?}");
    server.check_lives(Duration::from_secs(60));
    // Denied requests do not prolong its life.
    let life: i64 = redis::cmd("PTTL").arg(&key).query(&mut connection).unwrap();
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(limiter.decide("k", Cost::ONE).await.is_ok());
    let later: i64 = redis::cmd("PTTL").arg(&key).query(&mut connection).unwrap();
    assert!(later < life, "{later} {life}");
}

#[tokio::test]
async fn a_key_of_a_time_to_come_denies_for_two_windows_and_is_gone() {
    let Some(server) = Server::start() else {
        return;
    };
    let ahead = an_hour_ahead();

    let log = limiter::<Log>(&server.url(), &["1/60s"]).await;
    // What it writes itself, an hour later.
    assert!(log.decide("k", Cost::ONE).await.is_ok());
    let mut connection = server.connection();
    let key = log.key_in_store("k");
    let state: Vec<u8> = redis::cmd("GET").arg(&key).query(&mut connection).unwrap();
    let mut write = redis::cmd("SET");
    let expires = doubles(&[ahead + MINUTE]);
    // The entry and the latest time; when it expires; the entry in the tail.
    write.arg(&key).arg(
        [
            &doubles(&[ahead, ahead])[..],
            &state[16..48],
            &expires,
            &state[56..80],
            &doubles(&[ahead]),
            &state[88..],
        ]
        .concat(),
    );
    heals(&server, &log, write).await;

    let counter = limiter::<TwoCounter>(&server.url(), &["1/60s"]).await;
    let start = ahead - ahead % MINUTE;
    let mut write = redis::cmd("SET");
    write
        .arg(counter.key_in_store("k"))
        .arg(doubles(&[1.0, 0.0, start, MINUTE, start]));
    heals(&server, &counter, write).await;

    let gcra = limiter::<Gcra>(&server.url(), &["1/60s"]).await;
    let mut write = redis::cmd("SET");
    write
        .arg(gcra.key_in_store("k"))
        .arg(doubles(&[ahead, ahead]));
    heals(&server, &gcra, write).await;
}
