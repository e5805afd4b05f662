//! The oracle's judgement of those whose answers are known.

use windowpane_core::{Clock, Cost, Quota, RateLimiter, Unit};
use windowpane_lab_contestants::{
    self as contestants, Adapter, Cannot, ContestClock, Contestant, Decide, Info, Origin, Rule,
    Told,
};
use windowpane_lab_measure::accuracy::{exact_allowed, judge, row};
use windowpane_lab_measure::definitions::{Balancing, Time};
use windowpane_lab_measure::environment::Environment;
use windowpane_lab_measure::expect;
use windowpane_lab_measure::recording::Recording;
use windowpane_lab_measure::rows::AccuracyRow;
use windowpane_lab_measure::traffic::{
    Request, Traffic, burst_across_the_boundary, burst_at_the_start, synthetic,
};
use windowpane_mutex_log::MutexLog;

fn named(name: &str) -> &'static dyn Contestant {
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
        assert_eq!(judge(counter, &across).unwrap().counts(), [15, 5, 0, 5]);
        // Refused, though the window is empty but for nine tenths of a second before.
        assert_eq!(judge(counter, &start).unwrap().counts(), [10, 0, 1, 0]);
    }
    for exact in contestants::all()
        .iter()
        .filter(|contestant| contestant.info().is_exact())
    {
        assert_eq!(judge(*exact, &across).unwrap().counts(), [10, 0, 0, 0]);
        assert_eq!(judge(*exact, &start).unwrap().counts(), [11, 0, 0, 0]);
    }
}

#[test]
fn what_the_definitions_expect_comes_out_for_everyone() {
    let everyone = contestants::all();
    let infos = everyone.iter().map(|contestant| contestant.info());
    let environment = Environment::observe(std::path::Path::new("."));
    let mut recording = Recording::new(environment, infos);
    let traffic = synthetic(3);
    for contestant in &everyone {
        for traffic in &traffic {
            recording.accuracy.push(row(*contestant, traffic, None));
        }
    }
    assert_eq!(expect::findings(&recording, &traffic), []);
    let of = |traffic: &str, who: &str| {
        let mut rows = recording.accuracy.iter();
        rows.find(|row| row.traffic == traffic && row.contestant == who)
            .unwrap()
    };
    assert!(of("retries that hammer", "mutex-log").retries > 10_000);
    assert!(of("retries that wait", "governor").retries > 0);
    assert!(of("worst found", "packed-counter").worst_overshoot >= 50);
    assert!(of("worst found", "fixed-window").worst_overshoot >= 90);
    assert!(of("four servers, uneven", "mutex-log").false_denies > 0);
}

/// A seeded mistake: one permit too many.
struct OneTooMany;

struct Log<C>(MutexLog, C);

impl Adapter for OneTooMany {
    const INFO: Info = Info {
        name: "one-too-many",
        origin: Origin::Ours,
        rule: Rule::Exact,
        keeps_quota: true,
        costs_take_long: false,
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
            .decide_with(&self.1, Cost::ONE)
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
    recording.accuracy.push(row(&OneTooMany, &traffic, None));
    recording
        .accuracy
        .push(row(named("mutex-log"), &traffic, None));
    assert_eq!(recording.accuracy[0].worst_overshoot, 1);
    let findings = expect::findings(&recording, &[traffic]);
    // By its rule and by the definition's number.
    assert_eq!(findings.len(), 2, "{findings:?}");
    for finding in findings {
        assert!(finding.ours && finding.contestant == "one-too-many");
    }
}

#[test]
fn a_cost_that_cannot_be_expressed_is_told_and_not_guessed() {
    let mut traffic = burst_across_the_boundary();
    traffic.requests[3].cost = Cost::of::<2>();
    let plain = row(named("plain-log"), &traffic, None);
    assert!(plain.cannot.contains("a cost of 2"), "{plain:?}");
    assert!(row(named("governor"), &traffic, None).cannot.is_empty());
}

fn traffic(name: &str) -> Traffic {
    let mut all = synthetic(1).into_iter();
    all.find(|traffic| traffic.name == name)
        .expect("a traffic of that name")
}

#[test]
fn a_seeded_mistake_is_found_on_every_traffic_that_fills_a_window() {
    let mut recording = Recording::new(
        Environment::observe(std::path::Path::new(".")),
        [OneTooMany.info()],
    );
    let names = ["burst across the boundary", "steady", "worst found"];
    let all = names.map(traffic);
    for traffic in &all {
        recording.accuracy.push(row(&OneTooMany, traffic, None));
    }
    let findings = expect::findings(&recording, &all);
    for name in names {
        let of = |finding: &&expect::Finding| finding.what.contains(name);
        assert!(
            findings.iter().any(|finding| of(&finding)),
            "{name}: {findings:?}"
        );
    }
    // The search tells the input that shows it.
    let found = &recording.accuracy[2];
    assert_eq!(found.worst_overshoot, 1);
    assert!(found.input.contains(" at "), "{found:?}");
}

/// Allows at the first call and never again, and tells a wait of a second.
struct Sulking;

struct Once(std::sync::atomic::AtomicBool);

impl Adapter for Sulking {
    const INFO: Info = Info {
        name: "sulking",
        rule: Rule::Other,
        ..OneTooMany::INFO
    };

    fn on_clock<C: ContestClock>(_: Quota, _: C) -> Result<impl Decide + 'static, Cannot> {
        Ok(Once(false.into()))
    }
}

impl Decide for Once {
    fn decide(&self) -> bool {
        !self.0.swap(true, std::sync::atomic::Ordering::Relaxed)
    }

    fn decide_cost(&self, _: Cost) -> Result<Told, Cannot> {
        Ok(match self.decide() {
            true => Told::ALLOWED,
            false => Told::denied(Some(1_000_000_000)),
        })
    }
}

#[test]
fn time_wrongly_denied_is_the_union_of_the_waits_told() {
    let at = |ms: u64| Request {
        at: ms * 1_000_000,
        client: 0,
        cost: Cost::ONE,
    };
    // Limit 10: the oracle would allow all of these.
    let requests = [0, 100, 600, 5_000].map(at).to_vec();
    let across = burst_across_the_boundary();
    let traffic = Traffic::new("made up".into(), String::new(), across.quota, requests);
    let verdict = judge(&Sulking, &traffic).unwrap();
    assert_eq!(verdict.counts(), [1, 0, 3, 0]);
    // 0.1 to 1.6 s, then 5 to 6 s.
    assert_eq!(verdict.wrongly_denied, 2_500_000_000);
    assert_eq!(verdict.longest_wrong_denial, 1_500_000_000);
    assert_eq!(verdict.client_time, 65_000_000_000);
    let exact = judge(named("mutex-log"), &traffic).unwrap();
    assert_eq!(exact.wrongly_denied, 0);
}

#[test]
fn who_is_denied_asks_again_as_the_definition_says() {
    let mut traffic = burst_across_the_boundary();
    traffic.when_denied.retry_every = Some(Time(1_000_000_000));
    traffic.when_denied.at_most = 5;
    let log = named("mutex-log");
    // The ten are accepted at 59 s and a little, the six denied at 90 s: six times five retries.
    let hammering = judge(log, &traffic).unwrap();
    assert_eq!((hammering.requests, hammering.retries), (46, 30));
    assert_eq!(hammering.allowed, 10);
    // Told to wait until 119 s and a little; one after the other finds room, but for the sixth: it
    // is denied at 90 s and, behind the others, five times more.
    traffic.when_denied.retry_every = None;
    traffic.when_denied.retry_after_told = true;
    let waiting = judge(log, &traffic).unwrap();
    assert_eq!(waiting.allowed, 15);
    assert!(waiting.retries < 30, "{waiting:?}");
    // Who tells no wait cannot be honoured.
    assert!(judge(named("plain-log"), &traffic).is_err());
}

#[test]
fn on_several_servers_a_limit_is_held_by_parts() {
    let mut traffic = burst_across_the_boundary();
    traffic.servers.count = 2;
    let log = named("mutex-log");
    // Dealt in turn: five of the ten and three of the six each, so nothing changes.
    assert_eq!(judge(log, &traffic).unwrap().counts(), [10, 0, 0, 0]);
    // All to one server but a few: it denies at half of the limit, and the others stand idle.
    traffic.servers.balancing = Balancing::Weighted(vec![1_000_000, 1]);
    assert_eq!(judge(log, &traffic).unwrap().counts(), [5, 0, 5 + 6, 0]);
}

#[test]
fn a_cost_above_the_limit_that_passes_is_a_finding() {
    let findings = expect::costs(&contestants::all());
    let who: Vec<&str> = findings
        .iter()
        .map(|finding| finding.contestant.as_str())
        .collect();
    assert_eq!(who, ["trypema"], "{findings:?}");
    assert!(!findings[0].ours && findings[0].what.contains("a cost of 1000"));
}

#[test]
fn what_one_of_ours_cannot_is_a_finding_and_what_a_rival_cannot_is_none() {
    let mut recording = Recording::new(
        Environment::observe(std::path::Path::new(".")),
        contestants::all()
            .iter()
            .map(|contestant| contestant.info()),
    );
    for name in ["cas-ring", "plain-log"] {
        recording.accuracy.push(AccuracyRow {
            contestant: name.into(),
            traffic: "made up".into(),
            cannot: "no wait is told".into(),
            ..AccuracyRow::default()
        });
    }
    let findings = expect::findings(&recording, &[]);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].ours && findings[0].contestant == "cas-ring");
    assert_eq!(findings[0].what, "*made up*: cannot: no wait is told");
}

#[test]
fn served_is_relative_to_the_exact_log_on_the_same_traffic() {
    let hammered = synthetic(1)
        .into_iter()
        .find(|traffic| traffic.name == "retries that hammer")
        .unwrap();
    let exact = exact_allowed(&hammered);
    let log = row(named("mutex-log"), &hammered, exact);
    assert_eq!(log.served(), Some(1.0));
    let counter = row(named("packed-counter"), &hammered, exact);
    let served = counter.served().unwrap();
    // Each retry is a request, so the share of wrong denials says little of what was served.
    let wrong = counter.false_denies as f64 / counter.requests as f64;
    assert!(
        (served - 1.0).abs() < 0.1 && wrong > 2.0 * (served - 1.0).abs(),
        "{served}, {wrong}"
    );
    let per_second = counter.false_denies_per_client_second().unwrap();
    let seconds = counter.client_time_ns as f64 * 1e-9;
    assert!((per_second * seconds - counter.false_denies as f64).abs() < 1e-6);
    assert_eq!(AccuracyRow::default().served(), None);
    assert_eq!(
        AccuracyRow::default().false_allows_per_client_second(),
        None
    );
    for traffic in synthetic(1) {
        if traffic.servers.count > 1 || traffic.search.is_some() {
            assert_eq!(exact_allowed(&traffic), None, "{}", traffic.name);
        }
    }
}
