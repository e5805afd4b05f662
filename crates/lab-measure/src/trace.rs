//! Recorded traffic that the user names: access logs and CSV.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, Zipf};
use windowpane_core::{Cost, Nanos, Quota};
use windowpane_lab_input::{ColumnNames, InputError, InputOptions, requests};

use super::traffic::{Request, Traffic, quota};

/// The environment variable that names traces: paths with `:` in between, each of them followed by
/// options if need be: `requests.csv?time=TIMESTAMP&key=tenant&cost=in+out&quota=1000/60s`.
pub const VARIABLE: &str = "WINDOWPANE_TRACE";

const MINUTE: Nanos = 60_000_000_000;
const DAY: Nanos = 86_400_000_000_000;

/// What the report says of a recorded traffic.
const AS_RECORDED: &str = "as recorded";
const DEALT_TO_CLIENTS: &str = "keys are not recorded: dealt to 100 clients by Zipf(1.0)";

/// Whether a traffic of which the report says this was recorded, not made up.
pub fn is_recorded(about: &str) -> bool {
    [AS_RECORDED, DEALT_TO_CLIENTS].contains(&about)
}

/// Clients that requests without keys are dealt to.
const DEALT: f64 = 100.0;

/// The traces that [`VARIABLE`] names; none if it is not set.
///
/// # Errors
/// If one cannot be read; its name and line are told.
pub fn named(seed: u64) -> Result<Vec<Traffic>> {
    let named = std::env::var(VARIABLE).unwrap_or_default();
    let paths = named.split(':').filter(|path| !path.is_empty());
    let mut traffic = Vec::new();
    for path in paths {
        let traces = read(path, seed).context(VARIABLE)?;
        traffic.extend(traces);
    }
    Ok(traffic)
}

/// What [`VARIABLE`] says, without the folders: what a run may tell of it.
pub fn told() -> String {
    without_folders(&std::env::var(VARIABLE).unwrap_or_default())
}

fn without_folders(named: &str) -> String {
    let file = |trace: &str| {
        // Options have slashes of their own, in a quota.
        let (path, options) = trace.split_at(trace.find('?').unwrap_or(trace.len()));
        let name = path.rsplit('/').next().unwrap_or(path);
        format!("{name}{options}")
    };
    let files: Vec<String> = named.split(':').map(file).collect();
    files.join(":")
}

/// Path and options of one trace.
#[derive(Debug, Default, PartialEq, Eq)]
struct Named<'a> {
    path: &'a str,
    columns: ColumnNames,
    quota: Option<Quota>,
}

fn parse(text: &str) -> Result<Named<'_>> {
    let (path, options) = text.split_once('?').unwrap_or((text, ""));
    let mut named = Named {
        path,
        ..Named::default()
    };
    for option in options.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some(("time", column)) => named.columns.time = Some(column.into()),
            Some(("key", column)) => named.columns.key = Some(column.into()),
            Some(("cost", columns)) => named.columns.cost = Some(columns.into()),
            Some(("quota", quota)) => named.quota = Some(quota.parse()?),
            _ => bail!("expected time=, key=, cost= or quota= behind the `?`, found `{option}`"),
        }
    }
    Ok(named)
}

/// A trace as it was read.
#[derive(Debug, Default)]
struct Trace {
    requests: Vec<Request>,
    clients: HashMap<Box<[u8]>, u32>,
}

impl Trace {
    fn add(&mut self, at: Nanos, key: &[u8], cost: Cost) {
        let next = self.clients.len() as u32;
        let client = match self.clients.get(key) {
            Some(known) => *known,
            None => *self.clients.entry(key.into()).or_insert(next),
        };
        self.requests.push(Request { at, client, cost });
    }
}

fn read(text: &str, seed: u64) -> Result<Vec<Traffic>> {
    let named = parse(text)?;
    let mut trace = open(&named)?;
    trace.requests.sort_by_key(|request| request.at);
    // Times count from midnight before the first: windows begin where they would on the wall.
    let first = trace.requests.first().map_or(0, |request| request.at);
    for request in &mut trace.requests {
        request.at -= first - first % DAY;
    }
    let stem = Path::new(named.path)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let as_recorded = traffic(stem.clone(), AS_RECORDED, trace.requests, named.quota);
    if trace.clients.len() > 1 {
        return Ok(vec![as_recorded]);
    }
    // No key in it: once as one client, and once dealt to many by a stated rule.
    let dealt = deal(&as_recorded.requests, seed);
    let dealt = Traffic {
        speed: false,
        ..traffic(
            format!("{stem}, dealt to clients"),
            DEALT_TO_CLIENTS,
            dealt,
            None,
        )
    };
    Ok(vec![as_recorded, dealt])
}

fn open(named: &Named) -> Result<Trace> {
    let read = |columns: &ColumnNames| -> Result<Trace, InputError> {
        let mut trace = Trace::default();
        let file = File::open(named.path).map_err(|source| InputError::Read {
            input: named.path.into(),
            source,
        })?;
        let options = InputOptions {
            columns: columns.clone(),
            ..InputOptions::default()
        };
        requests(named.path, file, &options, |at, key, cost| {
            trace.add(at, key, cost)
        })?;
        Ok(trace)
    };
    let first = read(&named.columns);
    // The error tells its cause itself: no chain, which would tell it twice.
    let told = |error: InputError| anyhow!("{error}");
    if first.is_ok() || named.columns.time.is_some() {
        return first.map_err(told);
    }
    // Other people call the column of times otherwise than `time`.
    let also_called = ["TIMESTAMP", "timestamp", "Timestamp", "ts", "date"];
    let other = also_called.into_iter().find_map(|name| {
        let columns = ColumnNames {
            time: Some(name.into()),
            ..named.columns.clone()
        };
        read(&columns).ok()
    });
    // If no name fits, the first error tells what was expected.
    match other {
        Some(trace) => Ok(trace),
        None => first.map_err(told),
    }
}

fn traffic(name: String, about: &str, requests: Vec<Request>, given: Option<Quota>) -> Traffic {
    let quota = given.unwrap_or_else(|| quota(mean_of_busy_minutes(&requests), MINUTE));
    // Speed is measured with costs of 1, so on costly requests it would be that of others.
    let speed = requests.iter().all(|request| request.cost == Cost::ONE);
    Traffic {
        speed,
        ..Traffic::new(name, about.into(), quota, requests)
    }
}

/// What the busiest client consumed on average in the minutes in which it asked at all: a quota
/// that about half of its minutes exceed. At least the largest cost, so that everyone fits.
fn mean_of_busy_minutes(requests: &[Request]) -> u64 {
    let mut clients: HashMap<u32, HashMap<Nanos, u64>> = HashMap::new();
    for request in requests {
        let minutes = clients.entry(request.client).or_default();
        *minutes.entry(request.at / MINUTE).or_default() += request.cost.get();
    }
    let busiest = clients
        .into_values()
        .max_by_key(|minutes| minutes.values().sum::<u64>());
    let mean = busiest.map_or(1, |minutes| {
        minutes.values().sum::<u64>().div_ceil(minutes.len() as u64)
    });
    let largest = requests.iter().map(|request| request.cost.get()).max();
    mean.max(largest.unwrap_or(1))
}

fn deal(requests: &[Request], seed: u64) -> Vec<Request> {
    let mut random = StdRng::seed_from_u64(seed ^ 5);
    let client = Zipf::new(DEALT, 1.0).expect("a sensible distribution");
    let dealt = requests.iter().map(|request| Request {
        client: client.sample(&mut random) as u32,
        ..*request
    });
    dealt.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn options_follow_the_path() {
        let named = parse("a.csv?time=T&cost=in+out&quota=5/1s").unwrap();
        assert_eq!(named.path, "a.csv");
        assert_eq!(named.columns.time.as_deref(), Some("T"));
        assert_eq!(named.columns.cost.as_deref(), Some("in+out"));
        assert_eq!(named.quota, Some("5/1s".parse().unwrap()));
        assert_eq!(parse("a.log").unwrap().columns, ColumnNames::default());
        assert!(
            parse("a.csv?color=red")
                .unwrap_err()
                .to_string()
                .contains("color=red")
        );
        assert!(parse("a.csv?quota=many").is_err());
    }

    fn file(name: &str, text: &str) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        File::create(&path)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        let path = path.to_str().unwrap().into();
        (folder, path)
    }

    #[test]
    fn a_trace_without_keys_is_one_client_and_many() {
        let text =
            "TIMESTAMP,n\n2024-05-12 00:00:30,1\n2024-05-12 00:01:10,2\n2024-05-12 00:01:20,3\n";
        let (_folder, path) = file("tokens.csv", text);
        let traffic = read(&path, 1).unwrap();
        assert_eq!(traffic.len(), 2);
        assert_eq!(traffic[0].name, "tokens");
        assert_eq!(traffic[0].clients(), 1);
        assert_eq!(traffic[0].requests[0].at, 30_000_000_000);
        // One request in the first minute, two in the second.
        assert_eq!(traffic[0].quota, quota(2, MINUTE));
    }

    #[test]
    fn costs_and_keys_are_taken_from_their_columns() {
        let text = "time,who,in,out\n0,a,1,2\n1000,b,10,20\n";
        let (_folder, path) = file("costs.csv", text);
        let traffic = read(&format!("{path}?key=who&cost=in+out"), 1).unwrap();
        assert_eq!(traffic.len(), 1);
        let costs: Vec<u64> = traffic[0].requests.iter().map(|r| r.cost.get()).collect();
        assert_eq!((costs, traffic[0].clients()), (vec![3, 30], 2));
        assert_eq!(traffic[0].quota.limit(), 30);
    }

    #[test]
    fn a_trace_that_cannot_be_read_says_where() {
        let (_folder, path) = file("bad.csv", "time,key\n1,a\nnever,b\n");
        let error = read(&path, 1).unwrap_err().to_string();
        assert!(error.contains("bad.csv:3"), "{error}");
        assert!(read("/nowhere.log", 1).is_err());
    }

    #[test]
    fn a_run_tells_the_names_of_the_traces_with_their_options_and_without_their_folders() {
        assert_eq!(
            without_folders("/a/b/x.log:c/y.csv?time=t&quota=10/60s"),
            "x.log:y.csv?time=t&quota=10/60s"
        );
        assert_eq!(without_folders(""), "");
    }
}
