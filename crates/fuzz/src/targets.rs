//! What reads untrusted bytes, and what must hold whatever they are.

use std::str::from_utf8;

use windowpane_core::{Quota, Quotas, format_nanos, parse_nanos};
use windowpane_lab::replay::{Options, replay};
use windowpane_lab_contestants::registry;
use windowpane_lab_input::{Format, InputOptions, TimeUnit, parse_time};
use windowpane_lab_measure::definitions::Definition;
use windowpane_tower::reload::QuotaFile;

use crate::{headers, reply};

/// One reader of untrusted bytes.
pub struct Target {
    /// Its name: on the command line, and of its folder in `corpus/`.
    pub name: &'static str,
    /// Reads the input. A panic is a failure.
    pub run: fn(&[u8]),
    /// Texts that mean something to it, to be put in where they may fit.
    pub words: &'static [&'static str],
    /// What one input may allocate in all, in bytes: so much whatever it is, ...
    pub bytes: usize,
    /// ... and so much a byte of it.
    pub bytes_a_byte: usize,
}

/// All of them.
pub static TARGETS: &[Target] = &[
    Target {
        name: "access_log",
        run: |input| replayed(input, Format::Clf),
        words: &[
            " - - [12/May/2024:00:00:17 +0000] \"",
            "\" 200 5",
            "Feb",
            "-1159",
            "/0000:",
            "\n",
        ],
        // The longest line there may be, and batches that are read ahead.
        bytes: 16 << 20,
        bytes_a_byte: 2_000,
    },
    Target {
        name: "csv",
        run: |input| {
            replayed(input, Format::Csv);
            replayed(input, Format::Auto);
        },
        words: &[
            "time,key,cost\n",
            "time",
            ",",
            "\"",
            "\"\"",
            "\n",
            "2024-02-29 23:59:60",
            "+23:59",
        ],
        bytes: 32 << 20,
        bytes_a_byte: 4_000,
    },
    Target {
        name: "json_lines",
        run: |input| replayed(input, Format::Json),
        words: &[
            "{\"time\":1,\"key\":\"a\"}\n",
            "\"request\":{\"client_ip\":",
            "\"ts\":1715472017.5",
            "[[[[",
            "{\"a\":",
            "\\u0000",
            "null",
            "\n",
        ],
        bytes: 16 << 20,
        bytes_a_byte: 4_000,
    },
    Target {
        name: "w3c",
        run: |input| replayed(input, Format::W3c),
        words: &[
            "#Fields: date time c-ip sc-status\n",
            "#Fields:",
            "2024-05-12",
            "00:00:17",
            "\t",
            " ",
            "\n",
        ],
        bytes: 16 << 20,
        bytes_a_byte: 4_000,
    },
    Target {
        name: "alb",
        run: |input| replayed(input, Format::Alb),
        words: &[
            "h2 ",
            "2024-05-12T00:00:17.1Z",
            "\"",
            " \"",
            "\" ",
            " - ",
            "\n",
        ],
        bytes: 16 << 20,
        bytes_a_byte: 2_000,
    },
    Target {
        name: "haproxy",
        run: |input| replayed(input, Format::Haproxy),
        words: &[
            "10.0.0.1:5 [",
            "12/May/2024:00:00:17.655",
            "] in back/srv 1/1/1/1/1 200 5 ",
            "\"GET / HTTP/1.1\"",
            "\n",
        ],
        bytes: 16 << 20,
        bytes_a_byte: 2_000,
    },
    Target {
        name: "compressed",
        run: |input| {
            read(input, Format::Auto);
        },
        words: &["\x1f", "\x28", "\0\0\0\0"],
        // The window of zstd, and what a few bytes unfold to.
        bytes: 512 << 20,
        bytes_a_byte: 400_000,
    },
    Target {
        name: "time",
        run: time,
        words: &[
            "2024-02-29",
            "T",
            " ",
            "23:59:60",
            "Z",
            "+00:00",
            "-23:59",
            ".999999999",
            "1969-12-31",
        ],
        bytes: 4 << 10,
        bytes_a_byte: 16,
    },
    Target {
        name: "quota",
        run: |input| with_text(input, quota),
        words: &[
            "/", "req/", "ns", "us", "ms", "s", "m", "h", "d", "365d", "8760h", ",",
        ],
        bytes: 4 << 10,
        bytes_a_byte: 256,
    },
    Target {
        name: "forwarded",
        run: headers::forwarded,
        words: &[
            "for=",
            "For=\"[",
            "]:80\"",
            ";",
            ",",
            "by=_x",
            "10.0.0.2",
            "::ffff:10.0.0.2",
            "fd00::1",
            "unknown",
            "\\\"",
        ],
        bytes: 64 << 10,
        bytes_a_byte: 512,
    },
    Target {
        name: "header_key",
        run: headers::key,
        words: &["\t", " ", "key"],
        bytes: 32 << 10,
        bytes_a_byte: 256,
    },
    Target {
        name: "definition",
        run: |input| {
            with_text(input, |text| {
                if let Err(error) = Definition::read("a file", text) {
                    assert!(error.to_string().starts_with("a file"), "{error}");
                }
            });
        },
        words: &[
            "workload = ",
            "\"speed\"",
            "\"accuracy\"",
            "\"keyed\"",
            "[",
            "]",
            "quota = ",
            "\"3/1s\"",
            "inf",
            "nan",
            "-",
        ],
        bytes: 64 << 10,
        bytes_a_byte: 4_000,
    },
    Target {
        name: "quota_file",
        run: |input| with_text(input, quota_file),
        words: &[
            "[",
            "]",
            "quotas = ",
            "\"100/60s\"",
            "\"5req/1s\"",
            "\"1/1s\", \"2/2s\", ",
            "\n",
            "#",
            "'''",
        ],
        bytes: 64 << 10,
        bytes_a_byte: 4_000,
    },
    Target {
        name: "reply",
        run: redis_reply,
        words: &[
            "\0\0\0\0\0\0\0\0",
            "$48\r\n",
            "*2\r\n",
            ":1\r\n",
            "_\r\n",
            "+OK\r\n",
            "-ERR x\r\n",
            "%1\r\n",
            ",1.5\r\n",
            ">1\r\n",
            "\r\n",
        ],
        // The client's own reader reserves room for as many values as an array says it has, up to a
        // cap, and arrays stand in arrays.
        bytes: 512 << 10,
        bytes_a_byte: 20_000,
    },
];

/// The target of that name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

fn with_text(input: &[u8], run: impl FnOnce(&str)) {
    if let Ok(text) = from_utf8(input) {
        run(text);
    }
}

/// A recorded log, as `lab replay` reads it: bad lines are counted, and one text tells an error.
fn replayed(input: &[u8], format: Format) {
    if let Some((requests, bad)) = read(input, format) {
        let lines = input.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        assert!(
            requests > 0 && requests + bad <= lines,
            "{requests} and {bad} of {lines}"
        );
    }
}

/// The requests and the bad lines of a log, compressed or not; `None` if it cannot be read.
fn read(input: &[u8], format: Format) -> Option<(u64, u64)> {
    let oracle = registry::find(registry::ORACLE).into_iter().collect();
    let options = Options {
        input: InputOptions {
            format,
            unit: TimeUnit::Seconds,
            ..InputOptions::default()
        },
        skip_bad: true,
        compare: false,
        ..Options::new(Quotas::from(small_quota()), oracle)
    };
    // It is read on a thread of its own, which outlives this borrow as far as the compiler knows.
    let source = std::io::Cursor::new(input.to_vec());
    match replay(source, "input", &options, &mut [], &mut |_| {}) {
        Ok(summary) => Some((summary.input.requests, summary.input.bad_lines)),
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            None
        }
    }
}

fn small_quota() -> Quota {
    // A constant; what is tested is the input.
    "3/10s".parse().expect("a quota")
}

/// A time is read alike whatever blanks stand around it, and a coarser unit never makes it earlier.
fn time(input: &[u8]) {
    let units = [
        TimeUnit::Nanos,
        TimeUnit::Micros,
        TimeUnit::Millis,
        TimeUnit::Seconds,
    ];
    let mut earlier = 0;
    for unit in units {
        let read = parse_time(input, unit);
        assert_eq!(parse_time(&[b" ", input, b"\t"].concat(), unit), read);
        if let Ok(time) = read {
            assert!(time >= earlier, "{time} in a coarser unit, and {earlier}");
            earlier = time;
        }
    }
}

/// What is read as a quota or as a span of time is written so that it is read the same.
fn quota(text: &str) {
    if let Ok(quota) = text.parse::<Quota>() {
        assert_eq!(quota.to_string().parse(), Ok(quota));
    }
    if let Ok(nanos) = parse_nanos(text) {
        assert_eq!(parse_nanos(&format_nanos(nanos)), Ok(nanos));
    }
    if let Ok(quotas) = Quotas::parse(text) {
        assert_eq!(quotas.len(), text.split(',').count());
    }
}

/// A file's quotas, or an error whose line the file has.
fn quota_file(text: &str) {
    match QuotaFile::parse(text) {
        Ok(file) => assert!(file.iter().all(|(_, quotas)| !quotas.is_empty())),
        Err(error) => {
            let lines = text.matches('\n').count() + 1;
            let line = error.line();
            assert!(
                line.is_none_or(|line| (1..=lines).contains(&line)),
                "{line:?} of {lines}"
            );
        }
    }
}

/// Bytes from a server, through the client's own reader, are an answer under the quotas or none.
fn redis_reply(input: &[u8]) {
    let quotas = Quotas::from(small_quota());
    // As a reply of a script that is packed, and as whatever the bytes themselves say.
    let packed = redis::Value::BulkString(input.to_vec());
    for value in [Ok(packed), redis::parse_redis_value(input)] {
        if let Ok(value) = value
            && let Some(answer) = reply::answer(&value, &quotas)
        {
            assert_eq!(answer.detailed.remaining_per_quota().len(), quotas.len());
            let denied = answer.detailed.decision().denied();
            assert!(denied.is_none_or(|denied| denied.quota() < quotas.len()));
        }
    }
}
