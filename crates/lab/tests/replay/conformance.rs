//! The conformance cases, driven through the command.

#[path = "../../../core/tests/conformance/mod.rs"]
mod cases;

use windowpane_lab_contestants::registry::{ORACLE, algorithms};

use self::cases::{Request, nanos};
use super::support::{Folder, rows};

/// A wait as it stands in a row; 0 in the cases means that there is none.
fn wait(retry_after: Option<u64>, unit: &str) -> String {
    match retry_after {
        None | Some(0) => String::new(),
        Some(wait) => (wait * nanos(unit)).to_string(),
    }
}

fn or_empty(number: Option<u64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

#[test]
fn the_exact_limiters_answer_every_exact_case_to_the_letter() {
    let mut told = 0;
    for case in cases::exact() {
        let mut input = String::from("time,key,cost\n");
        for Request { t, key, cost } in &case.requests {
            input += &format!("{t},{key},{cost}\n");
        }
        let folder = Folder::with("in.csv", input);
        let unit = &case.unit;
        let quotas: String = (case.quotas.iter())
            .map(|quota| format!("--quota {}/{}{unit} ", quota.limit, quota.window))
            .collect();
        let exact = algorithms().filter(|algorithm| algorithm.info.is_exact());
        for algorithm in exact.map(|algorithm| algorithm.info.name) {
            if case.on_regression == "reject" && algorithm != ORACLE {
                continue;
            }
            let arguments = format!(
                "{quotas} --time-unit {unit} --on-regression {} --algorithm {algorithm} --decisions - in.csv",
                case.on_regression
            );
            let got = rows(&folder.replay(&arguments).ok());
            let expected: Vec<Vec<String>> = (0..case.requests.len())
                .map(|index| {
                    let Request { t, key, cost } = &case.requests[index];
                    vec![
                        algorithm.into(),
                        (index + 2).to_string(),
                        t.to_string(),
                        key.clone(),
                        cost.to_string(),
                        case.expect[index].clone(),
                        or_empty(case.remaining[index]),
                        wait(case.retry_after[index], unit),
                    ]
                })
                .collect();
            assert_eq!(got, expected, "{algorithm}: {}", case.name);
            told += 1;
        }
    }
    assert!(
        told > 30,
        "{told} runs: are the exact limiters in the registry?"
    );
}

#[test]
fn the_packed_counter_answers_its_cases_and_the_oracle_disagrees_where_they_say() {
    for case in cases::counter() {
        let times = case.times.iter().map(|time| format!("{time}\n"));
        let folder = Folder::with("in.csv", format!("time\n{}", times.collect::<String>()));
        let arguments = format!(
            "--quota {}/{}{unit} --time-unit {unit} --algorithm packed-counter,mutex-log \
             --decisions out.csv --disagreements differ.csv in.csv",
            case.limit,
            case.window,
            unit = case.unit
        );
        folder.replay(&arguments).ok();
        let (counter, exact): (Vec<_>, Vec<_>) = rows(&folder.read("out.csv"))
            .into_iter()
            .partition(|row| row[0] == "packed-counter");
        let decisions = |rows: &[Vec<String>]| -> Vec<String> {
            rows.iter().map(|row| row[5].clone()).collect()
        };
        assert_eq!(decisions(&counter), case.counter, "{}", case.name);
        assert_eq!(decisions(&exact), case.exact, "{}", case.name);
        for (row, retry_after) in counter.iter().zip(&case.counter_retry_after) {
            assert_eq!(
                row[7],
                wait(Some(*retry_after), &case.unit),
                "{}",
                case.name
            );
        }

        let differing: Vec<Vec<String>> = (counter.iter().zip(&exact))
            .filter(|(counter, exact)| counter[5] != exact[5])
            .map(|(counter, exact)| [&counter[..], &exact[5..]].concat())
            .collect();
        assert!(!differing.is_empty());
        assert_eq!(rows(&folder.read("differ.csv")), differing, "{}", case.name);
    }
}
