//! Whatever the lines are, what is read is counted right, and exact limiters agree with the oracle.
//! That bytes of any kind do no harm is what the targets of `windowpane-fuzz` try.

use proptest::prelude::*;
use windowpane_core::Quotas;
use windowpane_lab::replay::{Decided, Observer, Options, ReplayError, replay};
use windowpane_lab_contestants::registry::{Algorithm, algorithms};
use windowpane_lab_input::{Format, InputOptions, TimeUnit};

/// Counts rows, and looks at what they hold.
struct Counter(u64);

impl Observer for Counter {
    fn decided(&mut self, decided: &Decided<'_>) -> Result<(), ReplayError> {
        self.0 += decided.answers().count() as u64;
        assert!(decided.line > 0 && decided.oracle().is_some());
        Ok(())
    }
}

fn survives(input: &[u8], format: Format, skip_bad: bool) {
    let replayed: Vec<&'static Algorithm> = algorithms().collect();
    let quotas = Quotas::parse(["3/10s"]).unwrap();
    let options = Options {
        buckets: 10,
        input: InputOptions {
            format,
            unit: TimeUnit::Seconds,
            ..InputOptions::default()
        },
        skip_bad,
        detailed: true,
        ..Options::new(quotas, replayed)
    };
    let mut rows = Counter(0);
    let source = std::io::Cursor::new(input.to_vec());
    let result = replay(source, "bytes", &options, &mut [&mut rows], &mut |_| {});
    match result {
        Ok(summary) => {
            let requests = summary.input.requests;
            assert!(requests > 0 && summary.input.keys <= requests);
            assert!(skip_bad || summary.input.bad_lines == 0);
            assert_eq!(rows.0, requests * algorithms().count() as u64);
            for algorithm in &summary.algorithms {
                let sum = algorithm.allowed + algorithm.denied + algorithm.errors;
                assert_eq!(sum, requests, "{}", algorithm.name);
                let oracle = algorithm.against_oracle.as_ref().unwrap();
                if algorithm.exact {
                    let wrong = (oracle.false_allows, oracle.false_denies, oracle.differ);
                    assert_eq!(wrong, (0, 0, 0), "{}", algorithm.name);
                    assert_eq!(oracle.worst_overshoot, None, "{}", algorithm.name);
                }
            }
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
    }
}

/// Lines that are sound, nearly so, or not at all.
fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0..40_u64, "[ab]", 1..5_u64)
            .prop_map(|(time, key, cost)| format!("{time},{key},{cost}\n").into_bytes()),
        1 => (any::<u64>(), "[a-c\"]{0,3}", any::<u64>())
            .prop_map(|(time, key, cost)| format!("{time},{key},{cost}\r\n").into_bytes()),
        1 => "[0-9.:TZ, +\"-]{0,30}\n".prop_map(String::into_bytes),
        1 => (0..60, "[ab]").prop_map(|(second, client)| {
            format!("{client} - - [12/May/2024:00:00:{second:02} +0000] \"x\" 200 -\n").into_bytes()
        }),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

proptest! {
    #[test]
    fn lines_of_any_kind(lines in prop::collection::vec(line(), 0..60), header: bool, skip_bad in prop::bool::weighted(0.8)) {
        let header: &[u8] = if header { b"time,key,cost\n" } else { b"" };
        let input = [header, &lines.concat()].concat();
        for format in [Format::Auto, Format::Csv, Format::Clf] {
            survives(&input, format, skip_bad);
        }
    }
}
