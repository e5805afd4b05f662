//! The algorithms: the quotas that each holds, and the arguments of its script.

use redis::Cmd;
use smallvec::SmallVec;
use windowpane_core::{Cost, Quota, Quotas, Unit};

use crate::error::ConfigError;
use crate::script::{
    DECIDE_GCRA, DECIDE_LOG, DECIDE_TWO_COUNTER, PROBE_LOG, PROBE_STRING, SETTLE_LOG,
    SETTLE_TWO_COUNTER, Script,
};

/// The largest number that a script holds without rounding.
const EXACT: u64 = 1 << 53;

/// The most quotas of a log: a script holds a bit of each in a number.
const LOG_QUOTAS: usize = 32;

/// The largest limit and charge: sums of them stay exact.
pub(crate) const LARGEST_COUNT: u64 = EXACT / 4;

/// The exact log: a list of what was accepted. Any number of quotas, of permits and of requests.
///
/// A decision is amortized O(1), and O(entries waited for) if it is denied.
#[derive(Clone, Copy, Debug)]
pub enum Log {}

/// Two counters, the previous weighted by its overlap, by the rule of `packed-counter`: one quota,
/// one small string a key, O(1).
#[derive(Clone, Copy, Debug)]
pub enum TwoCounter {}

/// GCRA, a token bucket, by the rule of `gcra`: one quota, one time a key, O(1).
#[derive(Clone, Copy, Debug)]
pub enum Gcra {}

/// An algorithm that a store runs: [`Log`], [`TwoCounter`] or [`Gcra`].
pub trait Algorithm: sealed::Rule {
    /// The algorithm's name, which is part of its keys.
    const NAME: &'static str;
}

/// An algorithm in which a charge can be settled exactly.
pub trait Settles: Algorithm + sealed::Settle {}

pub(crate) mod sealed {
    use super::{ConfigError, Plan, Quotas, Script};

    pub trait Rule: Send + Sync + 'static {
        #[doc(hidden)]
        fn plan(quotas: Quotas) -> Result<Plan, ConfigError>;
        #[doc(hidden)]
        fn decide() -> &'static Script;
        #[doc(hidden)]
        fn probe() -> &'static Script;
    }

    pub trait Settle {
        #[doc(hidden)]
        fn settle() -> &'static Script;
    }
}

/// Quotas as arguments of an algorithm's script.
#[derive(Debug)]
pub struct Plan {
    pub(crate) quotas: Quotas,
    /// The numbers after the charge, packed.
    numbers: Vec<u8>,
    /// Whether the charge is the cost, or what the one quota counts of it.
    sends_cost: bool,
}

impl Plan {
    /// Returns the charge that the script receives for `cost`.
    pub(crate) fn charge(&self, cost: Cost) -> u64 {
        match self.sends_cost {
            true => cost.get(),
            false => self.quotas[0].charge(cost),
        }
    }

    /// Adds to `command` the arguments to decide `cost`, or to peek.
    pub(crate) fn add_arguments(&self, command: &mut Cmd, cost: Cost, peek: bool) {
        let mut numbers = SmallVec::<[u8; 128]>::from_slice(&packed(self.charge(cost)));
        numbers.extend_from_slice(&self.numbers);
        command.arg(&numbers[..]);
        if peek {
            command.arg("peek");
        }
    }
}

/// A number as scripts unpack it: a double, which is exact up to 2^53.
fn packed(number: u64) -> [u8; 8] {
    (number as f64).to_le_bytes()
}

/// A number below 2^53 that stands for the units and windows in `text`: the FNV-1a hash.
fn shape_of(text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, add) >> 11
}

/// The window of `quota` in microseconds.
fn micros(quota: &Quota) -> Result<u64, ConfigError> {
    match quota.window() % 1_000 {
        0 => Ok(quota.window() / 1_000),
        _ => Err(ConfigError::NotMicroseconds { quota: *quota }),
    }
}

/// The longest time to live of a key: two windows, rounded up to milliseconds, at least 2.
fn longest_life(window_micros: u64) -> u64 {
    (2 * window_micros).div_ceil(1_000).max(2)
}

/// The one quota and its window in microseconds.
fn single(algorithm: &'static str, quotas: &Quotas) -> Result<(Quota, u64), ConfigError> {
    match quotas[..] {
        [quota] => Ok((quota, micros(&quota)?)),
        _ => Err(ConfigError::TooManyQuotas {
            algorithm,
            given: quotas.len(),
            most: 1,
        }),
    }
}

fn at_most(
    algorithm: &'static str,
    quota: Quota,
    max: u64,
    instead: &'static str,
) -> Result<(), ConfigError> {
    match quota.limit() <= max {
        true => Ok(()),
        false => Err(ConfigError::LimitTooLarge {
            algorithm,
            quota,
            max,
            instead,
        }),
    }
}

impl Algorithm for Log {
    const NAME: &'static str = "log";
}

impl sealed::Rule for Log {
    fn plan(quotas: Quotas) -> Result<Plan, ConfigError> {
        let longest = quotas.longest_window() / 1_000;
        let kind = match quotas[..] {
            [quota] if quota.unit() == Unit::Permits => 1,
            [_] => 2,
            _ => 0,
        };
        let (mut text, mut units, mut triples) = (Vec::new(), 0, Vec::new());
        for (place, quota) in quotas.iter().enumerate() {
            // Settled charges may exceed the limit; the script caps them at twice the largest.
            at_most(
                Self::NAME,
                *quota,
                LARGEST_COUNT,
                "no algorithm counts further",
            )?;
            let (unit, requests) = match quota.unit() {
                Unit::Requests => ("r", 1),
                _ => ("p", 0),
            };
            let window = micros(quota)?;
            text.push(format!("{unit}{window}"));
            if requests == 0 && place < LOG_QUOTAS {
                units += 1 << place;
            }
            triples.extend([requests, quota.limit(), window]);
        }
        if quotas.len() > LOG_QUOTAS {
            return Err(ConfigError::TooManyQuotas {
                algorithm: Self::NAME,
                given: quotas.len(),
                most: LOG_QUOTAS,
            });
        }
        let shape = shape_of(&text.join(","));
        let life = longest_life(longest);
        let mut numbers = vec![longest, quotas[0].limit(), kind, shape, life];
        numbers.extend([quotas.len() as u64, units]);
        numbers.extend(triples);
        Ok(Plan {
            quotas,
            numbers: numbers.into_iter().flat_map(packed).collect(),
            sends_cost: true,
        })
    }

    fn decide() -> &'static Script {
        &DECIDE_LOG
    }

    fn probe() -> &'static Script {
        &PROBE_LOG
    }
}

impl Settles for Log {}

impl sealed::Settle for Log {
    fn settle() -> &'static Script {
        &SETTLE_LOG
    }
}

impl Algorithm for TwoCounter {
    const NAME: &'static str = "two-counter";
}

impl sealed::Rule for TwoCounter {
    fn plan(quotas: Quotas) -> Result<Plan, ConfigError> {
        let (quota, window) = single(Self::NAME, &quotas)?;
        at_most(
            Self::NAME,
            quota,
            EXACT / window,
            "take the log, which multiplies nothing",
        )?;
        let numbers = [longest_life(window), quota.limit(), window];
        Ok(Plan {
            numbers: numbers.into_iter().flat_map(packed).collect(),
            quotas,
            sends_cost: false,
        })
    }

    fn decide() -> &'static Script {
        &DECIDE_TWO_COUNTER
    }

    fn probe() -> &'static Script {
        &PROBE_STRING
    }
}

impl Settles for TwoCounter {}

impl sealed::Settle for TwoCounter {
    fn settle() -> &'static Script {
        &SETTLE_TWO_COUNTER
    }
}

impl Algorithm for Gcra {
    const NAME: &'static str = "gcra";
}

impl sealed::Rule for Gcra {
    fn plan(quotas: Quotas) -> Result<Plan, ConfigError> {
        let (quota, window) = single(Self::NAME, &quotas)?;
        at_most(
            Self::NAME,
            quota,
            window,
            "more than one permit a microsecond needs the log or the two counters",
        )?;
        let interval = window.div_ceil(quota.limit().max(1));
        // At most twice the window, so below 2^52.
        let tolerance = quota.limit() * interval;
        let numbers = [longest_life(window), quota.limit(), interval, tolerance];
        Ok(Plan {
            numbers: numbers.into_iter().flat_map(packed).collect(),
            quotas,
            sends_cost: false,
        })
    }

    fn decide() -> &'static Script {
        &DECIDE_GCRA
    }

    fn probe() -> &'static Script {
        &PROBE_STRING
    }
}

#[cfg(test)]
mod tests {
    use super::sealed::Rule;
    use super::*;

    fn quotas(texts: &[&str]) -> Quotas {
        Quotas::parse(texts).unwrap()
    }

    fn error_of(plan: Result<Plan, ConfigError>) -> String {
        plan.map(|plan| plan.numbers).unwrap_err().to_string()
    }

    /// The arguments for `cost`, as numbers and texts.
    fn arguments(plan: &Plan, cost: Cost, peek: bool) -> String {
        let mut command = Cmd::new();
        plan.add_arguments(&mut command, cost, peek);
        let mut arguments = Vec::new();
        for argument in command.args_iter() {
            let redis::Arg::Simple(bytes) = argument else {
                panic!("not an argument");
            };
            if arguments.is_empty() {
                let (numbers, rest) = bytes.as_chunks::<8>();
                assert!(rest.is_empty());
                let number = |n: &[u8; 8]| f64::from_le_bytes(*n).to_string();
                arguments.extend(numbers.iter().map(number));
            } else {
                arguments.push(String::from_utf8(bytes.into()).unwrap());
            }
        }
        arguments.join(" ")
    }

    #[test]
    fn the_log_receives_every_quota_and_its_longest_window() {
        let plan = Log::plan(quotas(&["100000/60s", "60req/250ms"])).unwrap();
        let shape = shape_of("p60000000,r250000");
        assert!(shape < EXACT && shape != shape_of("p60000000,p250000"));
        let numbers =
            &format!("7 60000000 100000 0 {shape} 120000 2 1 0 100000 60000000 1 60 250000");
        assert_eq!(&arguments(&plan, Cost::of::<7>(), false), numbers);
        let peek = format!("{numbers} peek");
        assert_eq!(arguments(&plan, Cost::of::<7>(), true), peek);
    }

    #[test]
    fn one_quota_is_sent_as_what_it_counts() {
        let plan = TwoCounter::plan(quotas(&["60req/1m"])).unwrap();
        let numbers = "1 120000 60 60000000";
        assert_eq!(arguments(&plan, Cost::of::<7>(), false), numbers);
        let plan = Gcra::plan(quotas(&["7/10s"])).unwrap();
        let numbers = "7 20000 7 1428572 10000004 peek";
        assert_eq!(arguments(&plan, Cost::of::<7>(), true), numbers);
    }

    #[test]
    fn a_limit_beyond_a_script_is_an_error_that_names_the_most() {
        let error = error_of(TwoCounter::plan(quotas(&["104250/1d"])));
        assert_eq!(
            error,
            "two-counter holds limits up to 104249 with the window of 104250/1d: a script's numbers are exact up to \
             2^53; take the log, which multiplies nothing"
        );
        assert!(TwoCounter::plan(quotas(&["104249/1d"])).is_ok());
        assert!(Gcra::plan(quotas(&["1000/1ms"])).is_ok());
        let error = error_of(Gcra::plan(quotas(&["1001/1ms"])));
        assert!(error.contains("up to 1000 with"), "{error}");
        let most = format!("{}/365d", 1_u64 << 51);
        assert!(Log::plan(quotas(&[&most])).is_ok());
        let error = error_of(Log::plan(quotas(&[&format!("{}/1s", (1_u64 << 51) + 1)])));
        assert!(error.contains("2251799813685248"), "{error}");
    }

    #[test]
    fn windows_are_whole_microseconds() {
        let plans = [Log::plan, TwoCounter::plan, Gcra::plan];
        for plan in plans {
            assert!(plan(quotas(&["1/1us"])).is_ok());
            let error = error_of(plan(quotas(&["1/1500ns"])));
            assert!(error.contains("1/1500ns"), "{error}");
        }
    }

    #[test]
    fn only_the_log_holds_several_quotas() {
        let two = quotas(&["10/1s", "100/60s"]);
        for plan in [TwoCounter::plan, Gcra::plan] {
            let error = error_of(plan(two.clone()));
            assert!(error.contains("one quota, not 2"), "{error}");
        }
    }
}
