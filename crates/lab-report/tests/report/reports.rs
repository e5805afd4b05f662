//! From rows to reports, comparisons and publications.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use windowpane_lab_measure::folder;
use windowpane_lab_measure::recording::Recording;
use windowpane_lab_measure::state::State;
use windowpane_lab_report::{Run, publish, render};

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

/// The items of the first list: the recommendation.
fn recommended(folder: &Path) -> Vec<String> {
    let report = fs::read_to_string(folder.join("REPORT.md")).unwrap();
    let items = report.lines().filter(|line| line.starts_with("- **"));
    items.map(Into::into).collect()
}

#[test]
fn the_first_screen_recommends_by_need() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording =
        recorded::recording(&[("cas-ring", 4.0), ("mutex-log", 5.0), ("gcra", 4.0)]);
    // The made-up bytes do not grow with the use, as those of a log do.
    let is_log = |name: &str| name.starts_with("mutex-log");
    recording.memory.retain(|row| !is_log(&row.contestant));
    folder::write_raw(&recording, folder.path()).unwrap();
    render(folder.path()).unwrap();
    let items = recommended(folder.path());
    let answers = [
        "`cas-ring`",
        "`mutex-log`",
        "`bucket-ring`",
        // No memory of keys is recorded, and without it an estimate gains nothing.
        "`cas-ring`",
        "`gcra`",
        "`redis/log`",
    ];
    assert_eq!(items.len(), answers.len(), "{items:?}");
    for (item, answer) in items.iter().zip(answers) {
        let first = item.split(":** ").nth(1).unwrap();
        assert!(first.starts_with(answer), "{item}");
    }
    // In this run another is shown to be twice as fast, and its lock is named.
    let (other, _) = rendered(&[]);
    let exact = &recommended(other.path())[0];
    assert!(
        exact.contains("`rate-net-log`, exact, with a lock."),
        "{exact}"
    );
    let readme = fs::read_to_string(folder.path().join("README.md")).unwrap();
    assert!(readme.starts_with("```sh\ncargo bench -- --full\n```"));
    assert!(items.iter().all(|item| readme.contains(item)));
}

#[test]
fn a_shown_difference_has_its_interval_and_few_rounds_are_named_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = recorded::recording(&[("cas-ring", 3.0)]);
    // As many rounds as the method needs, each a little different.
    let rows = recording.throughput.clone();
    let last = rows.iter().map(|row| row.round).max().unwrap();
    for more in 1..=5 {
        for row in &rows {
            let mut row = row.clone();
            row.round += more * last;
            row.per_second *= 1.0 + f64::from(row.round) * 1e-4;
            recording.throughput.push(row);
        }
    }
    recording.environment.rounds = 6 * last;
    folder::write_raw(&recording, folder.path()).unwrap();
    render(folder.path()).unwrap();
    let exact = &recommended(folder.path())[0];
    let words = exact.split("× as fast (").nth(1);
    let interval = words.and_then(|words| words.split(')').next());
    assert!(
        interval.is_some_and(|words| words.contains(" to ")),
        "{exact}"
    );

    let few = tempfile::tempdir().unwrap();
    let mut recording = recorded::recording(&[]);
    recording.throughput.retain(|row| row.round <= 3);
    recording.environment.rounds = 3;
    folder::write_raw(&recording, few.path()).unwrap();
    render(few.path()).unwrap();
    let report = fs::read_to_string(few.path().join("REPORT.md")).unwrap();
    assert_eq!(report.matches("speeds are not compared").count(), 1);
    assert!(!report.contains("cannot tell,"), "{report}");
}

#[test]
fn a_cell_of_two_speeds_shows_both_and_their_shares() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = recorded::recording(&[]);
    let of_cell = |row: &windowpane_lab_measure::rows::ThroughputRow| {
        row.contestant == "gcra" && row.state == "allowed" && row.threads == 2
    };
    let row = recording.throughput.iter().find(|row| of_cell(row));
    let mut row = row.unwrap().clone();
    recording.throughput.retain(|row| !of_cell(row));
    for round in 1..=40 {
        row.round = round;
        let speed = if round % 4 == 0 { 20e6 } else { 80e6 };
        row.per_second = speed * (1.0 + f64::from(round) * 1e-4);
        recording.throughput.push(row.clone());
    }
    folder::write_raw(&recording, folder.path()).unwrap();
    render(folder.path()).unwrap();
    let report = fs::read_to_string(folder.path().join("REPORT.md")).unwrap();
    let row = report.lines().find(|line| line.starts_with("| `gcra` |"));
    let row = row.unwrap();
    assert!(row.contains("20.0 (25.0 %), 80.2 (75.0 %)"), "{row}");
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
    assert_eq!(shown.len(), 7, "{shown:?}");
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
    let row = report
        .lines()
        .find(|line| line.starts_with("| `governor` |"));
    // Limiter, exact, allowed with 1 and 2 threads, denied with 1 and 2.
    let cells: Vec<&str> = row.unwrap().split(" | ").collect();
    assert_eq!(cells[4..6], ["—", "—"], "{cells:?}");
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
    let report = fs::read_to_string(run.folder.join("REPORT.md")).unwrap();
    assert!(report.contains("the run is partial: interrupted"));
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
        assert!(text.contains("the run is partial: interrupted"), "{report}");
    }
}
