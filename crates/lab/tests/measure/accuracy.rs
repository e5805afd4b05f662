//! The oracle's judgement of those whose answers are known.

use windowpane_core::{Clock, Cost, Quota, RateLimiter, Unit};
use windowpane_lab::contestants::{
    self, Adapter, Cannot, ContestClock, Contestant, Decide, Info, Origin,
};
use windowpane_lab::measure::accuracy::{Verdict, judge, row};
use windowpane_lab::measure::environment::Environment;
use windowpane_lab::measure::expect;
use windowpane_lab::measure::recording::Recording;
use windowpane_lab::measure::traffic::{burst_across_the_boundary, burst_at_the_start, synthetic};
use windowpane_mutex_log::MutexLog;

fn named(name: &str) -> Box<dyn Contestant> {
    let mut all = contestants::all().into_iter();
    all.find(|contestant| contestant.info().name == name)
        .expect("a contestant of that name")
}

#[test]
fn the_textbook_bursts_come_out_as_the_textbook_says() {
    let across = burst_across_the_boundary();
    let start = burst_at_the_start();
    for counter in ["packed-counter", "rate-net-counter"] {
        let counter = named(counter);
        // Fifteen in a rolling window of sixty seconds at a limit of ten.
        assert_eq!(
            judge(&*counter, &across),
            Ok(Verdict {
                allowed: 15,
                false_allows: 5,
                false_denies: 0,
                worst_overshoot: 5
            })
        );
        // Refused, though the window is empty but for nine tenths of a second before.
        assert_eq!(
            judge(&*counter, &start),
            Ok(Verdict {
                allowed: 10,
                false_denies: 1,
                ..Verdict::default()
            })
        );
    }
    for exact in contestants::all()
        .iter()
        .filter(|contestant| contestant.info().exact)
    {
        assert_eq!(
            judge(&**exact, &across),
            Ok(Verdict {
                allowed: 10,
                ..Verdict::default()
            })
        );
        assert_eq!(
            judge(&**exact, &start),
            Ok(Verdict {
                allowed: 11,
                ..Verdict::default()
            })
        );
    }
}

#[test]
fn those_that_call_themselves_exact_never_differ_from_the_oracle() {
    for traffic in synthetic(3) {
        for contestant in contestants::all()
            .iter()
            .filter(|contestant| contestant.info().exact)
        {
            let verdict = judge(&**contestant, &traffic).unwrap();
            let wrong = (
                verdict.false_allows,
                verdict.false_denies,
                verdict.worst_overshoot,
            );
            assert_eq!(
                wrong,
                (0, 0, 0),
                "{} on {}",
                contestant.info().name,
                traffic.name
            );
            assert!(verdict.allowed > 0);
        }
    }
}

/// A seeded mistake: one permit too many.
struct OneTooMany;

struct Log<C>(MutexLog, C);

impl Adapter for OneTooMany {
    const INFO: Info = Info {
        name: "one-too-many",
        origin: Origin::Ours,
        exact: true,
        about: "a log that allows one more than its quota",
        clock: "shared",
        cannot: "",
        memory: "",
        memory_at_most: None,
    };

    fn on_clock<C: ContestClock>(quota: Quota, clock: C) -> Result<impl Decide + 'static, Cannot> {
        let quota = Quota::from_nanos(quota.limit() + 1, quota.window(), Unit::Permits)
            .map_err(|error| Cannot(error.to_string()))?;
        Ok(Log(MutexLog::new(quota), clock))
    }
}

impl<C: Clock + Send + Sync> Decide for Log<C> {
    fn decide(&self) -> bool {
        self.0
            .acquire_with(&self.1, Cost::ONE)
            .is_ok_and(|decision| decision.is_allowed())
    }
}

#[test]
fn one_permit_too_many_is_found() {
    let mut recording = Recording::new(
        Environment::observe(std::path::Path::new(".")),
        [OneTooMany.info(), named("mutex-log").info()],
    );
    let traffic = burst_across_the_boundary();
    recording.accuracy.push(row(&OneTooMany, &traffic));
    recording.accuracy.push(row(&*named("mutex-log"), &traffic));
    assert_eq!(recording.accuracy[0].worst_overshoot, 1);
    let findings = expect::findings(&recording);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].ours && findings[0].contestant == "one-too-many");
}

#[test]
fn a_cost_that_cannot_be_expressed_is_told_and_not_guessed() {
    let mut traffic = burst_across_the_boundary();
    traffic.requests[3].cost = Cost::of::<2>();
    let plain = row(&*named("plain-log"), &traffic);
    assert!(plain.cannot.contains("a cost of 2"), "{plain:?}");
    assert!(row(&*named("governor"), &traffic).cannot.is_empty());
}
