//! Two recorded runs compared, with seeded changes.

use std::fs;
use std::path::Path;

use windowpane_lab_measure::folder;
use windowpane_lab_measure::recording::Recording;
use windowpane_lab_measure::rows::{KeyedRow, Side};
use windowpane_lab_report::Run;
use windowpane_lab_report::compare::{
    Comparison, Kind, Row, SameCommit, Verdict, compare, keep, markdown, text,
};

use crate::recorded;

fn run_of(recording: &Recording) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    folder::write_raw(recording, folder.path()).unwrap();
    let run = Run::load(folder.path()).unwrap();
    (folder, run)
}

/// The usual run beside one that `change` was made to.
fn beside(change: impl FnOnce(&mut Recording)) -> Comparison {
    let mut recording = recorded::recording(&[]);
    let (_before, before) = run_of(&recording);
    change(&mut recording);
    let (_after, after) = run_of(&recording);
    compare(&before, &after)
}

fn differing(comparison: &Comparison) -> Vec<&Row> {
    let rows = comparison.rows.iter();
    rows.filter(|row| row.verdict.differs()).collect()
}

/// The only row that differs.
#[track_caller]
fn only(comparison: &Comparison) -> &Row {
    let rows = differing(comparison);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows[0]
}

#[test]
fn of_two_runs_alike_no_row_differs_and_the_aim_is_met() {
    let same = beside(|_| {});
    assert_eq!(differing(&same), [] as [&Row; 0]);
    assert_eq!(
        (same.same_commit, same.aim_met()),
        (SameCommit::Yes, Some(true))
    );
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Traffic) {
        assert!(same.counts(kind).compared() > 0, "{kind:?}");
    }
    let told = text(&same);
    assert!(told.starts_with("Same commit. In "), "{told}");
    assert!(
        told.contains("(100 %) no difference is shown: ")
            && told.contains("of 0 the runs cannot tell; 0 are faster, 0 slower, 0 changed.")
            && told.contains("aimed at in 95.0 % of the rows: met."),
        "{told}"
    );
}

#[test]
fn a_throughput_made_half_is_called_slower_and_it_alone() {
    let half = beside(|recording| {
        for row in &mut recording.throughput {
            if row.contestant == "plain-log" && row.state == "denied" && row.threads == 2 {
                row.per_second /= 2.0;
            }
        }
    });
    let row = only(&half);
    assert_eq!(
        (row.kind, row.contestant.as_str(), row.cell.as_str()),
        (Kind::Throughput, "plain-log", "denied, 2 threads")
    );
    assert_eq!(row.verdict, Verdict::Slower);
    assert!((row.ratio.unwrap() - 0.5).abs() < 0.01, "{row:?}");
}

#[test]
fn a_latency_made_twice_is_called_slower_and_it_alone() {
    for kind in [Kind::ServiceTime, Kind::ResponseTime] {
        let twice = beside(|recording| {
            for row in &mut recording.latency {
                let is_it = row.kind == kind.word()
                    && row.contestant == "cas-ring"
                    && row.threads == 2
                    && row.load_percent.is_none_or(|load| load == 50);
                if is_it {
                    row.p99_9 *= 2;
                }
            }
        });
        let row = only(&twice);
        assert_eq!((row.kind, row.quantity), (kind, "p99.9"), "{row:?}");
        assert_eq!(row.verdict, Verdict::Slower, "more nanoseconds are slower");
    }
}

#[test]
fn a_step_of_the_clock_more_is_no_difference() {
    let with = |step: u64, more: u64| {
        let mut recording = recorded::recording(&[]);
        recording.environment.clock_step_ns = step;
        let (_before, before) = run_of(&recording);
        for row in &mut recording.latency {
            if row.contestant == "cas-ring" {
                row.p50 += more;
            }
        }
        let (_after, after) = run_of(&recording);
        differing(&compare(&before, &after)).len()
    };
    assert_eq!(with(10, 10), 0);
    assert!(with(10, 11) > 0);
}

#[test]
fn a_latency_is_judged_by_its_own_noise_and_not_by_that_of_others() {
    let wild = |recording: &mut Recording, is_wild: fn(&str) -> bool| {
        for row in &mut recording.latency {
            if is_wild(&row.contestant) {
                row.p99 *= 1 + 3 * u64::from(row.round % 2);
            }
        }
    };
    let twice = |is_wild: fn(&str) -> bool| {
        let mut recording = recorded::recording(&[]);
        wild(&mut recording, is_wild);
        let (_before, before) = run_of(&recording);
        for row in &mut recording.latency {
            if row.contestant == "gcra" && row.kind == "service time" && row.threads == 1 {
                row.p99 *= 2;
            }
        }
        let (_after, after) = run_of(&recording);
        compare(&before, &after)
    };
    let quiet = twice(|who| who != "gcra");
    assert_eq!(only(&quiet).verdict, Verdict::Slower);
    assert_eq!(differing(&twice(|who| who == "gcra")).len(), 0);
}

#[test]
fn a_row_is_held_against_its_own_aa() {
    let by = |noise: f64| {
        let mut recording = recorded::recording(&[]);
        let is_it = |row: &KeyedRow| {
            row.contestant == "store/gcra" && row.workload == "10,000 keys, allowed"
        };
        let ours = recording.keyed.iter().filter(|row| is_it(row)).cloned();
        let again = ours.map(|row| KeyedRow {
            side: Side::Again,
            per_second: row.per_second * (1.0 + noise),
            ..row
        });
        let again: Vec<KeyedRow> = again.collect();
        recording.keyed.extend(again);
        let (_before, before) = run_of(&recording);
        for row in recording.keyed.iter_mut().filter(|row| is_it(row)) {
            row.per_second *= 1.2;
        }
        let (_after, after) = run_of(&recording);
        compare(&before, &after)
    };
    let row = by(0.05);
    let row = only(&row);
    assert_eq!((row.kind, &row.verdict), (Kind::Keyed, &Verdict::Faster));
    assert_eq!(differing(&by(0.3)).len(), 0, "below the A/A");
}

#[test]
fn a_machine_that_drifts_is_no_change_of_the_limiters() {
    let drifted = beside(|recording| {
        for row in &mut recording.throughput {
            row.per_second *= 0.9;
        }
    });
    assert_eq!(differing(&drifted), [] as [&Row; 0]);
    let rows = drifted.rows.iter();
    let mut timed = rows.filter(|row| row.kind == Kind::Throughput);
    assert!(timed.all(|row| row.verdict == Verdict::CannotTell && row.smallest.unwrap() > 1.1));
}

#[test]
fn too_few_rounds_are_not_compared_and_say_how_many_are_needed() {
    let mut few = recorded::recording(&[]);
    few.throughput.retain(|row| row.round <= 5);
    let (_before, before) = run_of(&few);
    let (_after, after) = run_of(&few);
    let compared = compare(&before, &after);
    let why = why(&compared, Kind::Throughput);
    assert!(
        why.len() > 10 && why.iter().all(|why| why.starts_with("5 rounds; ")),
        "{why:?}"
    );
    // Said once, with the number of rows.
    assert_eq!(text(&compared).matches("5 rounds; ").count(), 1);
}

#[test]
fn runs_without_launches_still_load() {
    let (folder, new) = run_of(&recorded::recording(&[]));
    let file = folder.path().join("throughput.csv");
    let text = fs::read_to_string(&file).unwrap();
    let old = text.lines().map(|line| {
        let (rest, added) = line
            .rsplitn(5, ',')
            .fold((None, 0), |(_, n), part| (Some(part), n + 1));
        assert_eq!(added, 5);
        rest.unwrap().to_string()
    });
    fs::write(&file, old.collect::<Vec<_>>().join("\n")).unwrap();
    let json = folder.path().join("environment.json");
    let environment = fs::read_to_string(&json).unwrap();
    let cut = environment.find(",\n  \"launches\"").unwrap();
    fs::write(&json, environment[..cut].to_string() + "\n}\n").unwrap();
    let old = Run::load(folder.path()).unwrap();
    assert_eq!(old.environment.launches, 0);
    assert!(
        old.throughput
            .iter()
            .all(|row| row.launch == 0 && row.processor_share.is_none())
    );
    assert_eq!(old.throughput.len(), new.throughput.len());
    let compared = compare(&old, &new);
    assert_eq!(differing(&compared), [] as [&Row; 0]);
    assert!(compared.counts(Kind::Throughput).compared() > 0);
}

#[test]
fn a_byte_a_wrong_decision_and_a_wait_are_changes() {
    let byte = beside(|recording| recording.memory[5].bytes = Some(1));
    assert!(matches!(&only(&byte).verdict, Verdict::Changed(how) if how.ends_with("→ 1 B")));
    let key = beside(|recording| recording.keyed_memory[0].bytes = Some(1));
    assert_eq!(only(&key).kind, Kind::KeyedMemory);
    let wrong = beside(|recording| recording.accuracy[0].false_allows += 1);
    assert!(
        matches!(&only(&wrong).verdict, Verdict::Changed(how) if how == "false allows 0 → 1"),
        "{:?}",
        only(&wrong)
    );
    // Two threads, eight stalls: each may have begun one decision.
    let waits = beside(|recording| recording.stalled[0].meanwhile = 16);
    assert!(
        matches!(&only(&waits).verdict, Verdict::Changed(how) if how == "the others go on → the others wait")
    );
}

/// Why the rows of a kind cannot be compared.
fn why(comparison: &Comparison, kind: Kind) -> Vec<&str> {
    let rows = comparison.rows.iter().filter(|row| row.kind == kind);
    let why = rows.filter_map(|row| match &row.verdict {
        Verdict::CannotBeCompared(why) => Some(why.as_str()),
        _ => None,
    });
    why.collect()
}

#[test]
fn what_cannot_be_compared_says_why_and_counts_in_no_share() {
    let quota = beside(|recording| {
        for row in &mut recording.keyed {
            if row.contestant == "governor" {
                row.quota = "7/1s".into();
            }
        }
    });
    let why_not = why(&quota, Kind::Keyed);
    assert_eq!(
        why_not,
        ["100/10s for 10000 keys in the first run, 7/1s for 10000 keys in the second"; 2]
    );
    assert_eq!(quota.share_without_difference, Some(1.0));

    let gone = beside(|recording| recording.memory.retain(|row| row.contestant != "governor"));
    assert!(!why(&gone, Kind::Memory).is_empty());
    assert!(
        why(&gone, Kind::Memory)
            .iter()
            .all(|why| *why == "not measured in the second run")
    );

    let dropped = beside(|recording| {
        for row in &mut recording.throughput {
            row.share_ok &= row.contestant != "governor" || row.state != "mixed";
        }
    });
    assert_eq!(why(&dropped, Kind::Throughput).len(), 3);
    assert!(why(&dropped, Kind::Throughput)[0].starts_with("counts for nothing in the second run"));

    let seed = beside(|recording| recording.environment.seed = 2);
    assert!(!why(&seed, Kind::Accuracy).is_empty());
    let traffic = beside(|recording| recording.accuracy[0].clients += 1);
    assert_eq!(
        why(&traffic, Kind::Accuracy),
        ["another traffic of that name"]
    );

    let told = text(&quota);
    assert!(told.contains("What cannot be compared"), "{told}");
}

#[test]
fn other_machines_and_commits_are_told_and_the_aim_is_not_theirs() {
    let machine = beside(|recording| recording.environment.cpu = "Another".into());
    assert!(text(&machine).contains("ratios below are of machines as much as of code"));
    assert_eq!(machine.aim_met(), None);
    let commit = beside(|recording| recording.environment.git_revision = "f00".into());
    assert!(text(&commit).starts_with("Two commits. "));
    assert_eq!(commit.aim_met(), None);
    let dirty = beside(|recording| recording.environment.git_dirty = Some(true));
    assert_eq!(
        (dirty.same_commit, dirty.aim_met()),
        (SameCommit::Unclean, None)
    );
    let partial = beside(|recording| recording.environment.partial = "interrupted".into());
    assert!(text(&partial).contains("The second run is partial: interrupted."));
}

#[test]
fn below_the_aim_it_is_not_met() {
    let many = beside(|recording| {
        // The floor is what it was: it is not the machine.
        for row in &mut recording.throughput {
            if row.contestant != "clock-only" {
                row.per_second *= 3.0;
            }
        }
    });
    assert_eq!(many.aim_met(), Some(false));
    assert!(text(&many).contains("of the rows: not met."));
}

#[test]
fn markdown_has_tables_and_no_markup_of_a_traffics_name() {
    let mut recording = recorded::recording(&[]);
    recording.accuracy[0].traffic = "<script>|x".into();
    let (_before, before) = run_of(&recording);
    recording.accuracy[0].allowed += 1;
    let (_after, after) = run_of(&recording);
    let hostile = compare(&before, &after);
    let told = markdown(&hostile);
    assert!(
        told.starts_with("# Two runs compared\n\nSame commit. "),
        "{told}"
    );
    assert!(told.contains("\\<script>\\|x"), "{told}");
    assert!(!told.replace("\\<script", "").contains("<script"), "{told}");
    let rows = told.lines().filter(|line| line.starts_with('|'));
    assert!(rows.count() > 10, "{told}");
}

#[test]
fn a_published_run_keeps_its_comparison_and_links_it() {
    let (_before, before) = run_of(&recorded::recording(&[]));
    let results = tempfile::tempdir().unwrap();
    let place = results.path().join("2024-05-12-x");
    fs::create_dir(&place).unwrap();
    recorded::write(&[("governor", 1.5)], &place);
    let kept = keep(&before, &place).unwrap();
    assert!(
        fs::read_to_string(kept)
            .unwrap()
            .contains("| governor | throughput |")
    );
    let link = |file: &Path| fs::read_to_string(file).unwrap().contains("COMPARE.md)");
    assert!(link(&place.join("README.md")));
    windowpane_lab_report::publish::write_index(results.path()).unwrap();
    assert!(link(&results.path().join("README.md")));
}
