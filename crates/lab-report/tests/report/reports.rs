//! From rows to reports, comparisons and publications.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use windowpane_lab_measure::folder;
use windowpane_lab_measure::recording::Recording;
use windowpane_lab_measure::state::State;
use windowpane_lab_report::compare::write_before;
use windowpane_lab_report::{Run, publish, render, verdict};

use crate::recorded;

fn rendered(speed: &[(&str, f64)]) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    recorded::write(speed, folder.path());
    let run = render(folder.path()).unwrap();
    (folder, run)
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file());
    files
        .map(|path| {
            (
                path.file_name().unwrap().to_str().unwrap().to_string(),
                fs::read(&path).unwrap(),
            )
        })
        .collect()
}

#[test]
fn the_same_rows_give_the_same_files() {
    let (once, _) = rendered(&[]);
    let (again, _) = rendered(&[]);
    let (once, again) = (files(once.path()), files(again.path()));
    assert!(once.contains_key("REPORT.md") && once.contains_key("report.html"));
    assert!(once.contains_key("summary.csv"));
    assert_eq!(once, again);
}

#[test]
fn the_report_says_within_a_screen_what_was_asked() {
    let (folder, run) = rendered(&[]);
    let verdict = verdict(&run).join("\n");
    for expected in [
        "**Where:** Imagined 9000, 2 cores",
        "**Exact:** `mutex-log`",
        "**Fastest where all is allowed:** 1 thread `plain-log`",
        "**Fastest where all is denied:**",
        "**Memory of one key at a limit of 1,000, full:**",
        "`packed-counter` let through up to 7.00 % above the limit in one window (*made up*)",
        "wrongly allowed up to 0.0700 % (*made up*)",
        "**4 threads on 2 cores, allowed, service time:** p99.9 from 900 ns",
        "**Memory after 100,000 attacking keys**, at a cap of 1,000 where a store has one: `store/cas-ring` 1.00 MiB; \
         `governor` 10.5 MiB (clients with a fresh allowance: 1); `governor, tidied` 10.5 MiB. \
         No client over its limit got a fresh allowance unless said.",
    ] {
        assert!(
            verdict.contains(expected),
            "`{expected}` is not in\n{verdict}"
        );
    }
    let report = fs::read_to_string(folder.path().join("REPORT.md")).unwrap();
    let start: String = report.lines().take(30).collect();
    assert!(start.contains("Imagined 9000"));
    let readme = fs::read_to_string(folder.path().join("README.md")).unwrap();
    assert!(
        readme.starts_with("```sh\ncargo bench -- --full\n```"),
        "the command comes first"
    );
}

/// The lines of the report's section of that heading.
fn section<'a>(report: &'a str, heading: &str) -> &'a str {
    let section = report.split(&format!("# {heading}\n")).nth(1);
    let section = section.unwrap_or_else(|| panic!("no {heading} in\n{report}"));
    section.split("\n#").next().unwrap()
}

fn told(report: &str, heading: &str, lines: &[&str]) {
    let section = section(report, heading);
    // Columns are as wide as their widest cell.
    let narrow: Vec<String> = section
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for line in lines {
        assert!(
            narrow.iter().any(|told| told == line),
            "`{line}` is not in\n{section}"
        );
    }
}

#[test]
fn the_report_tells_many_keys_stalls_and_the_two_counter_rule_as_they_are_recorded() {
    let (folder, _) = rendered(&[]);
    let report = fs::read_to_string(folder.path().join("REPORT.md")).unwrap();
    told(
        &report,
        "Aims",
        &[
            "| `store/gcra` | one hot key, allowed | 1 thread | not measured | 1.15 × | — |",
            "| `store/gcra` | 10,000 keys, allowed | 1 thread | met | 1.15 × | **2.00 ×** (2.00 ×–2.00 ×) |",
            "| `store/gcra` | 10,000 keys, denied | 1 thread | not met | 1.15 × | **1.10 ×** (1.10 ×–1.10 ×) |",
        ],
    );
    told(
        &report,
        "Memory of 1,000 keys",
        &["| `store/gcra` | — / 24 | — / — | — / — | — / — |"],
    );
    told(
        &report,
        "A stalled thread",
        &["| `cas-ring` | denied | 8 | 5,002 | 30.0 ns | 60.0 ns | 900 ns | 6.00 ms |"],
    );
    // Neither the two servers, nor the input that was searched for, nor the handful.
    assert!(
        report.contains("Here that holds on 1 of 2 traffics"),
        "{report}"
    );
    told(
        &report,
        "When the two-counter rule's 0.003 % holds",
        &[
            "| far from the limit | holds | 0 % | 0 % | 0 % | 0 % | 0 % | 10,000 |",
            "| made up | does not | 0.210 % | 0.0700 % | 0.140 % | 7.00 % | 40.0 % | 10,000 |",
        ],
    );
    told(
        &report,
        "Time wrongly denied",
        &["| made up | `packed-counter` | 1.00 % | 14.0 ns |"],
    );
    told(
        &report,
        "The worst inputs found",
        &["- `gcra` at `100/10s`: 5.00 % above the limit in one window, by a burst of 20."],
    );
}

#[test]
fn where_ours_lose_the_report_says_so_by_itself() {
    let lost = |speed: &[(&str, f64)]| {
        let (_folder, run) = rendered(speed);
        let losses = run.losses(State::Allowed, 1);
        losses
            .iter()
            .any(|loss| loss.rival == "governor" && loss.ours == "cas-ring")
    };
    assert!(lost(&[("governor", 10.0)]));
    assert!(!lost(&[("cas-ring", 100.0), ("governor", 10.0)]));
}

#[test]
fn every_chart_that_the_report_shows_is_there() {
    let (folder, _) = rendered(&[]);
    let report = fs::read_to_string(folder.path().join("REPORT.md")).unwrap();
    let shown: Vec<&str> = report
        .split("](")
        .skip(1)
        .filter_map(|text| text.split(')').next())
        .filter(|name| name.ends_with(".svg"))
        .collect();
    assert!(shown.len() >= 7, "{shown:?}");
    for name in shown {
        assert!(folder.path().join(name).is_file(), "{name}");
    }
}

#[test]
fn every_figure_of_the_throughput_tables_is_found_in_the_rows() {
    let (_folder, run) = rendered(&[]);
    for state in State::ALL {
        for who in &run.contestants {
            let rate = run.rate(&who.contestant, state, 2).unwrap();
            let rows = || {
                run.throughput
                    .iter()
                    .filter(|row| row.contestant == who.contestant && row.state == state.word())
            };
            for figure in [rate.median, rate.min, rate.max] {
                assert!(rows().any(|row| row.per_second == figure), "{figure}");
            }
        }
    }
}

#[test]
fn a_measurement_whose_share_is_wrong_counts_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = recorded::recording(&[]);
    for row in &mut recording.throughput {
        if row.contestant == "governor" && row.state == "denied" {
            row.share_ok = false;
        }
    }
    folder::write_raw(&recording, folder.path()).unwrap();
    let run = render(folder.path()).unwrap();
    assert_eq!(run.rate("governor", State::Denied, 1), None);
    let report = fs::read_to_string(folder.path().join("REPORT.md")).unwrap();
    assert!(
        report.contains("15 of 675 measurements count for nothing"),
        "{report}"
    );
}

#[test]
fn what_counts_for_nothing_is_told_where_its_kind_is_and_the_floor_alone_is_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = recorded::recording(&[]);
    let mut denied = recording.latency.clone();
    denied.retain(|row| row.kind == "service time");
    for row in &mut denied {
        row.state = "denied".into();
        row.share_ok = row.threads != 2 || row.contestant == "clock-only";
    }
    // Of what counts for nothing in every round there is no row of all rounds.
    denied.retain(|row| row.round > 0 || row.share_ok);
    let off = denied.iter().filter(|row| !row.share_ok).count();
    recording.latency.extend(denied);
    folder::write_raw(&recording, folder.path()).unwrap();
    render(folder.path()).unwrap();
    let report = fs::read_to_string(folder.path().join("REPORT.md")).unwrap();
    let of = |heading: &str| {
        let text = report.split(&format!("\n## {heading}\n")).nth(1).unwrap();
        text.split("\n## ").next().unwrap()
    };
    let told = format!("- {off} of ");
    assert!(of("Latency: service time").contains(&told), "{report}");
    for other in ["Throughput", "Latency: response time"] {
        assert!(!of(other).contains("count for nothing"), "{other}");
    }
    let tables = of("Latency: service time");
    assert!(tables.contains("### Service time, denied, 1 thread\n"));
    assert!(!tables.contains("### Service time, denied, 2 threads"));
}

#[test]
fn stores_that_an_attack_leaves_alike_are_told_together() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = recorded::recording(&[]);
    for row in &mut recording.keyed_attack {
        row.fresh = 0;
    }
    folder::write_raw(&recording, folder.path()).unwrap();
    let verdict = verdict(&render(folder.path()).unwrap()).join("\n");
    let told = "`store/cas-ring` 1.00 MiB; `governor` and `governor, tidied` 10.5 MiB. \
                No client over its limit got a fresh allowance.";
    assert!(verdict.contains(told), "{verdict}");
}

#[test]
fn a_report_says_what_differs_from_the_run_before() {
    let (_before, before) = rendered(&[]);
    let (folder, after) = rendered(&[("governor", 1.5)]);
    write_before(&before, &after, folder.path()).unwrap();
    render(folder.path()).unwrap();
    let report = fs::read_to_string(folder.path().join("REPORT.md")).unwrap();
    let section = report.split("## Beside the run before it").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    // Three states, three numbers of threads.
    assert!(
        section.contains("rows 9 differ by more than the noise"),
        "{section}"
    );
    assert_eq!(section.matches("| `governor` |").count(), 9, "{section}");
    assert!(!section.contains("cas-ring"), "{section}");
}

#[test]
fn publishing_copies_under_date_and_machine_and_never_overwrites() {
    let (latest, _) = rendered(&[]);
    let results = tempfile::tempdir().unwrap();
    let published = publish::publish(latest.path(), results.path(), Some("My Machine")).unwrap();
    let place = published.place;
    assert_eq!(place, results.path().join("2024-05-12-my-machine"));
    assert!(place.join("histograms.hlog.gz").is_file());
    assert!(place.join("report.html").is_file());
    let before = files(&place);
    let again = publish::publish(latest.path(), results.path(), Some("My Machine"));
    assert!(again.unwrap_err().to_string().contains("never overwritten"));
    assert_eq!(files(&place), before);

    // Where the benches record lies beside; the store's has other files.
    let store = results.path().join("latest-redis");
    fs::create_dir(&store).unwrap();
    fs::copy(
        place.join("environment.json"),
        store.join("environment.json"),
    )
    .unwrap();
    let newest = publish::newest(results.path()).unwrap().unwrap();
    assert_eq!(newest.folder, place);

    publish::write_index(results.path()).unwrap();
    let index = fs::read_to_string(results.path().join("README.md")).unwrap();
    assert!(
        index.contains("[2024-05-12-my-machine](2024-05-12-my-machine/REPORT.md)"),
        "{index}"
    );
    assert!(
        index.contains("| cores | mode | revision |")
            && index.contains("| full | `0123456789ab` |"),
        "{index}"
    );

    assert!(results.path().join("README.md").is_file());
}

/// Writes what another bench recorded beside the run in `results/latest`: its environment, changed.
fn record_beside(
    results: &std::path::Path,
    name: &str,
    change: impl FnOnce(&mut serde_json::Value),
) {
    let environment = fs::read_to_string(results.join("latest/environment.json")).unwrap();
    let mut environment = serde_json::from_str(&environment).unwrap();
    change(&mut environment);
    let place = results.join(format!("latest-{name}"));
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("environment.json"), environment.to_string()).unwrap();
    fs::write(place.join("README.md"), format!("# {name}\n")).unwrap();
    fs::write(place.join("rates.svg"), "<svg/>").unwrap();
}

#[test]
fn what_other_benches_recorded_at_the_same_revision_is_published_with_a_run() {
    let (run, _) = rendered(&[]);
    let results = tempfile::tempdir().unwrap();
    let results = results.path();
    fs::rename(run.keep(), results.join("latest")).unwrap();
    record_beside(results, "redis", |_| ());
    record_beside(results, "http", |_| ());
    record_beside(results, "old", |own| {
        own["git_revision"] = "fedcba9876543210".into()
    });
    record_beside(results, "dirty", |own| own["git_dirty"] = true.into());
    record_beside(results, "unknown", |own| {
        own["git_dirty"] = serde_json::Value::Null
    });
    record_beside(results, "cut", |own| own["partial"] = "interrupted".into());
    record_beside(results, "elsewhere", |own| own["cpu"] = "another".into());
    record_beside(results, "summary.csv", |_| ());
    record_beside(results, "pageless", |_| ());
    fs::remove_file(results.join("latest-pageless/README.md")).unwrap();

    let published = publish::publish(&results.join("latest"), results, Some("m")).unwrap();
    assert_eq!(published.with, ["http", "redis"]);
    let reason = |name: &str| {
        let mut left = published.left_out.iter();
        let found = left.find(|(left, _)| left == name);
        found.map(|(_, why)| why.clone()).unwrap_or_default()
    };
    assert_eq!(
        reason("old"),
        "it was measured at revision fedcba987654, the run at 0123456789ab"
    );
    assert!(reason("dirty").contains("changed work tree"));
    assert!(reason("unknown").contains("is unknown"));
    assert!(reason("cut").contains("partial (interrupted)"));
    assert!(reason("elsewhere").contains("measured on another"));
    assert!(reason("summary.csv").contains("of its own"));
    assert!(reason("pageless").contains("no page"));
    assert_eq!(published.left_out.len(), 7);
    let place = published.place;
    assert!(place.join("redis/rates.svg").is_file());
    assert!(!place.join("old").exists() && !place.join("dirty").exists());
    let page = fs::read_to_string(place.join("README.md")).unwrap();
    assert!(
        page.contains("[http](http/README.md) and [redis](redis/README.md)."),
        "{page}"
    );
    // What lies there is no run of its own, and links do not go away when it is rendered again.
    publish::write_index(results).unwrap();
    let index = fs::read_to_string(results.join("README.md")).unwrap();
    let links = "| [http](2024-05-12-m/http/README.md), [redis](2024-05-12-m/redis/README.md) |";
    assert!(index.contains(links), "{index}");
    assert_eq!(index.matches("REPORT.md").count(), 1, "{index}");
    render(&place).unwrap();
    assert_eq!(fs::read_to_string(place.join("README.md")).unwrap(), page);
}

#[test]
fn nothing_goes_along_with_a_run_of_a_changed_work_tree() {
    let (run, _) = rendered(&[]);
    let results = tempfile::tempdir().unwrap();
    let results = results.path();
    fs::rename(run.keep(), results.join("latest")).unwrap();
    record_beside(results, "redis", |_| ());
    let file = results.join("latest/environment.json");
    let text = fs::read_to_string(&file).unwrap();
    let mut environment: serde_json::Value = serde_json::from_str(&text).unwrap();
    environment["git_dirty"] = true.into();
    fs::write(&file, environment.to_string()).unwrap();
    let published = publish::publish(&results.join("latest"), results, Some("m")).unwrap();
    assert!(published.with.is_empty());
    let (name, reason) = &published.left_out[0];
    assert_eq!(name, "redis");
    assert_eq!(reason, "the run was measured on a changed work tree");
    assert!(!published.place.join("redis").exists());
}

#[test]
fn the_projects_pages_are_filled_with_the_newest_runs_figures() {
    let (latest, _) = rendered(&[]);
    let workspace = tempfile::tempdir().unwrap();
    let results = workspace.path().join("results");
    fs::create_dir_all(&results).unwrap();
    publish::publish(latest.path(), &results, Some("z")).unwrap();
    // A later run whose folder's name comes first.
    let environment = latest.path().join("environment.json");
    let text = fs::read_to_string(&environment).unwrap();
    let later = text.replace("2024-05-12T10", "2024-05-12T11");
    assert_ne!(later, text);
    fs::write(&environment, later).unwrap();
    publish::publish(latest.path(), &results, Some("a")).unwrap();

    let pages = [
        ("README.md", "(results/2024-05-12-a/REPORT.md)"),
        (
            "crates/windowpane/WHICH.md",
            "(../../results/2024-05-12-a/REPORT.md)",
        ),
    ]
    .map(|(page, link)| (workspace.path().join(page), link));
    for (page, _) in &pages {
        fs::create_dir_all(page.parent().unwrap()).unwrap();
        let text = "before\n<!-- figures:begin -->\nold\n<!-- figures:end -->\nafter\n";
        fs::write(page, text).unwrap();
    }
    publish::fill_figures(workspace.path()).unwrap();
    for (page, link) in &pages {
        let filled = fs::read_to_string(page).unwrap();
        assert!(filled.starts_with("before\n<!-- figures:begin -->\n"));
        assert!(filled.ends_with("<!-- figures:end -->\nafter\n"));
        assert!(filled.contains("`cas-ring`") && !filled.contains("\nold\n"));
        assert!(filled.contains(link), "{filled}");
        // Filling again changes nothing.
        publish::fill_figures(workspace.path()).unwrap();
        assert_eq!(fs::read_to_string(page).unwrap(), filled);
    }

    // One page without its region: neither is changed.
    fs::write(&pages[1].0, "no region").unwrap();
    fs::write(&pages[0].0, "<!-- figures:begin -->old<!-- figures:end -->").unwrap();
    assert!(publish::fill_figures(workspace.path()).is_err());
    let first = fs::read_to_string(&pages[0].0).unwrap();
    assert_eq!(first, "<!-- figures:begin -->old<!-- figures:end -->");
}

#[test]
fn a_partial_run_is_marked_and_not_published() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = recorded::recording(&[]);
    recording.environment.partial = "interrupted".into();
    folder::write_raw(&recording, folder.path()).unwrap();
    let run = render(folder.path()).unwrap();
    assert!(verdict(&run)[0].contains("This run is partial: interrupted."));
    let results = tempfile::tempdir().unwrap();
    let error = publish::publish(folder.path(), results.path(), None).unwrap_err();
    assert!(error.to_string().contains("partial"), "{error}");
    assert_eq!(fs::read_dir(results.path()).unwrap().count(), 0);
}

#[test]
fn a_run_that_cannot_be_finished_leaves_the_one_before() {
    let results = tempfile::tempdir().unwrap();
    let latest = results.path().join("latest");
    folder::replace(&latest, |new| folder::text(new, "a", "first")).unwrap();
    let failed = folder::replace(&latest, |new| {
        folder::text(new, "a", "second")?;
        anyhow::bail!("the disk is full")
    });
    assert!(failed.is_err());
    assert_eq!(fs::read_to_string(latest.join("a")).unwrap(), "first");
    folder::replace(&latest, |new| folder::text(new, "a", "third")).unwrap();
    assert_eq!(fs::read_to_string(latest.join("a")).unwrap(), "third");
    // No temporary folder is left.
    assert_eq!(fs::read_dir(results.path()).unwrap().count(), 1);
}

#[test]
fn a_run_interrupted_before_its_first_row_is_rendered_as_partial() {
    let full = recorded::recording(&[]);
    let mut recording = Recording::new(full.environment, []);
    recording.contestants = full.contestants;
    recording.keyed_contestants = full.keyed_contestants;
    recording.environment.partial = "interrupted".into();
    let folder = tempfile::tempdir().unwrap();
    folder::write_raw(&recording, folder.path()).unwrap();
    render(folder.path()).unwrap();
    for report in ["REPORT.md", "report.html"] {
        let text = fs::read_to_string(folder.path().join(report)).unwrap();
        assert!(
            text.contains("This run is partial: interrupted."),
            "{report}"
        );
    }
}
