//! Who is measured: the three algorithms, scripts as they are usually written, trypema, and scripts
//! that do nothing but count.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use redis::aio::MultiplexedConnection;
use redis::{Cmd, Value};
use trypema::redis::{RedisKey, RedisRateLimiterProvider};
use trypema::{BucketSize, RateLimit, RateLimitDecision, RateLimiterBuilder, WindowSize};
use windowpane_core::{Cost, Quota, Unit};
use windowpane_redis::{Algorithm, Gcra, Log, RedisLimiter, Store, TwoCounter};

use super::costs::CLOCK;

/// What [`deadline`] is, where it is not the usual one.
static PATIENT: OnceLock<Duration> = OnceLock::new();

/// From now on every call may take long: a test on a busy machine asks for right answers, not for
/// fast ones.
pub(crate) fn be_patient() {
    PATIENT.get_or_init(|| Duration::from_secs(5));
}

/// The deadline of every call, ours and others'.
fn deadline() -> Duration {
    *PATIENT.get().unwrap_or(&Duration::from_millis(50))
}

/// The names, in the order of every table.
pub(crate) const NAMES: [&str; 14] = [
    "log",
    "two-counter",
    "gcra",
    AGAIN,
    "log, deny cache",
    "usual log (sorted set)",
    "usual gcra",
    "trypema",
    ONE,
    "as many commands as log",
    "as many commands as two-counter",
    "as many commands as gcra",
    LOGS_COMMANDS,
    COUNTERS_COMMANDS,
];

/// GCRA against itself: how far two that are the same are apart.
pub(crate) const AGAIN: &str = "gcra again";

/// A script as long as that of the log, of which all but one command is a comment.
pub(crate) const ONE: &str = "one INCR";

/// The commands that the log calls for an allowance on a busy key, and nothing else: what the log
/// takes beyond them is its deciding.
const LOGS_COMMANDS: &str = "TIME LRANGE RPUSH LSET LTRIM";

/// The same for the two counters and GCRA.
const COUNTERS_COMMANDS: &str = "TIME GET SETRANGE";

/// The script that does nothing, and that as often as an algorithm of ours calls a command.
pub(crate) fn nothing_beside(name: &str) -> Option<&'static str> {
    let beside = format!(
        "as many commands as {}",
        name.trim_end_matches(", deny cache")
            .trim_end_matches(" again")
    );
    NAMES.into_iter().find(|name| **name == beside)
}

/// The script that calls the same commands as an algorithm of ours, and decides nothing.
pub(crate) fn commands_of(name: &str) -> Option<&'static str> {
    match name {
        "log" | "log, deny cache" => Some(LOGS_COMMANDS),
        "two-counter" | "gcra" | AGAIN => Some(COUNTERS_COMMANDS),
        _ => None,
    }
}

/// Whether it limits: a script that does nothing allows all.
pub(crate) fn limits(name: &str) -> bool {
    let commands = [ONE, LOGS_COMMANDS, COUNTERS_COMMANDS];
    !commands.contains(&name) && !name.starts_with("as many")
}

/// One who is asked.
pub(crate) enum Contestant {
    Log(RedisLimiter<Log>),
    TwoCounter(RedisLimiter<TwoCounter>),
    Gcra(RedisLimiter<Gcra>),
    Script(Script),
    Trypema(Arc<RedisRateLimiterProvider>, RateLimit),
}

/// A script that is told the same every time, and maybe a number of its own.
pub(crate) struct Script {
    connection: MultiplexedConnection,
    digest: String,
    arguments: Vec<String>,
    unique: Option<AtomicU64>,
}

/// The texts of our scripts, to know how long they are.
const LOG: &str = include_str!("../../../redis/src/scripts/log.lua");
const TWO_COUNTER: &str = include_str!("../../../redis/src/scripts/two_counter.lua");
const GCRA: &str = include_str!("../../../redis/src/scripts/gcra.lua");

/// A script as long as `text`, of so many commands, that does nothing but count.
fn nothing(text: &str, commands: usize) -> String {
    let mut script = "redis.call('INCR', KEYS[1])\n".repeat(commands - 1);
    script.push_str("return redis.call('INCR', KEYS[1])\n");
    let missing = text.len().saturating_sub(script.len() + 3);
    format!("--{}\n{script}", "-".repeat(missing))
}

impl Contestant {
    /// The contestant of that name, for `limit` in `window`.
    ///
    /// # Errors
    /// What it cannot, or that the server is not there.
    pub(crate) async fn build(
        name: &str,
        url: &str,
        limit: u64,
        window: Duration,
    ) -> Result<Contestant> {
        let quota = Quota::from_nanos(limit, window.as_nanos() as u64, Unit::Permits)?;
        let micros = window.as_micros() as u64;
        let script = |text: String, arguments: Vec<String>, unique: bool| async move {
            Script::load(url, &text, arguments, unique)
                .await
                .map(Contestant::Script)
        };
        // As much as the algorithm beside it is told.
        let filler = |numbers: usize| vec![" ".repeat(8 * numbers)];
        Ok(match name {
            "log" => Contestant::Log(ours(url, quota, 0).await?),
            "two-counter" => Contestant::TwoCounter(ours(url, quota, 0).await?),
            "gcra" | AGAIN => Contestant::Gcra(ours(url, quota, 0).await?),
            "log, deny cache" => Contestant::Log(ours(url, quota, 10_000).await?),
            "usual log (sorted set)" => {
                let told = vec![limit.to_string(), micros.to_string()];
                script(include_str!("usual_log.lua").into(), told, true).await?
            }
            "usual gcra" => {
                let told = vec![limit.to_string(), window.as_secs_f64().to_string()];
                script(include_str!("usual_gcra.lua").into(), told, false).await?
            }
            "trypema" => trypema(url, limit, window).await?,
            CLOCK => {
                let text = "redis.call('TIME')\nreturn 1";
                script(text.into(), Vec::new(), false).await?
            }
            ONE => script(nothing(LOG, 1), filler(11), false).await?,
            // What each calls for an allowance on a busy key.
            "as many commands as log" => script(nothing(LOG, 3), filler(11), false).await?,
            "as many commands as two-counter" => {
                script(nothing(TWO_COUNTER, 3), filler(4), false).await?
            }
            "as many commands as gcra" => script(nothing(GCRA, 3), filler(5), false).await?,
            LOGS_COMMANDS => {
                let text = include_str!("commands_of_log.lua");
                script(text.into(), filler(11), false).await?
            }
            COUNTERS_COMMANDS => {
                let text = include_str!("commands_of_counters.lua");
                script(text.into(), filler(5), false).await?
            }
            other => bail!("there is no contestant `{other}`"),
        })
    }

    /// Asks for one permit of `key`; whether it was allowed.
    ///
    /// # Errors
    /// What the server or the client said.
    pub(crate) async fn ask(&self, key: &str) -> Result<bool> {
        match self {
            Contestant::Log(limiter) => decide(limiter, key).await,
            Contestant::TwoCounter(limiter) => decide(limiter, key).await,
            Contestant::Gcra(limiter) => decide(limiter, key).await,
            Contestant::Script(script) => script.ask(key).await,
            Contestant::Trypema(provider, rate) => {
                let key = RedisKey::try_from(key)?;
                let asked = provider.absolute().inc(&key, rate, 1);
                let decision = tokio::time::timeout(deadline(), asked).await??;
                Ok(matches!(decision, RateLimitDecision::Allowed))
            }
        }
    }
}

async fn ours<A: Algorithm>(url: &str, quota: Quota, denials: usize) -> Result<RedisLimiter<A>> {
    let store = Store::at(url)?.deadline(deadline()).connect().await?;
    Ok(RedisLimiter::builder(store, quota)
        .deny_cache(denials)
        .build()?)
}

async fn decide<A: Algorithm>(limiter: &RedisLimiter<A>, key: &str) -> Result<bool> {
    let decided = limiter.decide(key, Cost::ONE).await?;
    Ok(std::hint::black_box(decided).answer.detailed.is_allowed())
}

/// Windows of whole seconds and buckets of milliseconds are what it takes.
async fn trypema(url: &str, limit: u64, window: Duration) -> Result<Contestant> {
    if window.subsec_nanos() != 0 {
        bail!("cannot: its windows are whole seconds");
    }
    let connection = redis::Client::open(url)?.get_connection_manager().await?;
    let rate = RateLimit::per_second(limit as f64 / window.as_secs_f64())?;
    let provider = RedisRateLimiterProvider::builder(connection)
        .window_size(WindowSize::seconds(window.as_secs())?)
        .bucket_size(BucketSize::milliseconds(10)?)
        .disable_cleanup()
        .build()?;
    Ok(Contestant::Trypema(provider, rate))
}

impl Script {
    async fn load(url: &str, text: &str, arguments: Vec<String>, unique: bool) -> Result<Script> {
        let client = redis::Client::open(url)?;
        let config = redis::AsyncConnectionConfig::new().set_response_timeout(None);
        let mut connection = client
            .get_multiplexed_async_connection_with_config(&config)
            .await?;
        let digest: String = redis::cmd("SCRIPT")
            .arg("LOAD")
            .arg(text)
            .query_async(&mut connection)
            .await
            .context("the server does not take the script")?;
        Ok(Script {
            connection,
            digest,
            arguments,
            unique: unique.then(AtomicU64::default),
        })
    }

    async fn ask(&self, key: &str) -> Result<bool> {
        let mut command: Cmd = redis::cmd("EVALSHA");
        command
            .arg(&self.digest)
            .arg(1)
            .arg(format!("bench:{{{key}}}"));
        command.arg(&self.arguments);
        if let Some(unique) = &self.unique {
            command.arg(unique.fetch_add(1, Ordering::Relaxed));
        }
        let mut connection = self.connection.clone();
        let asked = command.query_async::<Value>(&mut connection);
        let answer = tokio::time::timeout(deadline(), asked).await??;
        // Those that count nothing answer with a number, the others with whether and when.
        Ok(match &answer {
            Value::Array(fields) => fields.first() == Some(&Value::Int(1)),
            _ => true,
        })
    }
}
