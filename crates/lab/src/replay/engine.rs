//! The replay itself: batch by batch through all runs.

use std::cmp::Reverse;
use std::io::Read;

use windowpane_core::{Cost, Nanos};
use windowpane_lab_contestants::registry::{self, Algorithm, BuildOptions, ORACLE};
use windowpane_lab_input::{Ahead, Batch, Input, Keys, Stream};
use windowpane_mutex_log::OnRegression;

use super::error::ReplayError;
use super::input::InputCounts;
use super::judge::Judge;
use super::options::Options;
use super::run::{Answer, Run};
use super::summary::{
    AlgorithmSummary, Client, Comparison, InputSummary, MOST_DENIED, SCHEMA, Summary,
};
use super::tally::{Service, Tally};
use super::who::DeniedClient;

/// Sees every request with its answers.
pub trait Observer {
    /// The next request, in the input's order.
    ///
    /// # Errors
    /// [`ReplayError`] ends the replay.
    fn decided(&mut self, decided: &Decided<'_>) -> Result<(), ReplayError>;
}

/// One request and what each algorithm answered.
pub struct Decided<'a> {
    /// The input's number, counting from 0.
    pub input: u32,
    /// The line's number in the input.
    pub line: u64,
    /// The time, in nanoseconds since the input's zero.
    pub time: Nanos,
    /// The time as it stood.
    pub time_text: &'a [u8],
    /// The key as it stood; empty if the input has none.
    pub key: &'a [u8],
    /// The cost.
    pub cost: Cost,
    lanes: &'a [Lane],
    oracle: Option<&'a [Answer]>,
    /// In the batch.
    index: usize,
}

impl Decided<'_> {
    /// Each algorithm's name and answer, in the order given.
    pub fn answers(&self) -> impl Iterator<Item = (&'static str, Answer)> {
        let answer = |lane: &Lane| (lane.run.algorithm.info.name, lane.run.answers[self.index]);
        self.lanes.iter().map(answer)
    }

    /// What the oracle answered in its own run; `None` if nothing is compared.
    pub fn oracle(&self) -> Option<Answer> {
        self.oracle.map(|answers| answers[self.index])
    }
}

/// How far the replay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read of the input.
    pub bytes: u64,
    /// Requests decided.
    pub requests: u64,
}

/// One algorithm: its run, its judge and its counts.
struct Lane {
    run: Run,
    /// `None` if nothing is compared, or the lane is the oracle's.
    judge: Option<Judge>,
    tally: Tally,
}

/// The oracle's own run, with which decisions are compared.
enum OwnRun {
    /// The lane of this index is the oracle.
    Lane(usize),
    /// It was not asked for, and runs beside.
    Beside(Box<Run>),
}

struct Engine {
    lanes: Vec<Lane>,
    /// `None` if nothing is compared.
    oracle: Option<OwnRun>,
    /// By lane: decisions that differ from the oracle's own run.
    differ: Vec<u64>,
    requests_by_key: Vec<u64>,
    counts: InputCounts,
}

/// Runs the requests of `source`, called `name` in messages, through the algorithms, as
/// [`replay_inputs`] does.
///
/// # Errors
/// [`ReplayError`].
pub fn replay(
    source: impl Read + Send + 'static,
    name: &str,
    options: &Options,
    observers: &mut [&mut dyn Observer],
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, ReplayError> {
    let input = Input::new(name, move || Ok(Box::new(source) as _));
    replay_inputs(vec![input], options, observers, progress)
}

/// Runs the requests of all inputs through the algorithms; several inputs are merged by time.
///
/// `observers` see every request with its answers; `progress` is called now and then.
/// Memory: what the keys, their limiters and the oracle's logs take; the input is not kept. A request
/// costs one look-up of its key, one decision an algorithm, and where it is compared one peek and
/// at most one record more. A thread of its own reads ahead, by a few batches, and looks up the keys.
///
/// # Errors
/// [`ReplayError`].
pub fn replay_inputs(
    inputs: Vec<Input>,
    options: &Options,
    observers: &mut [&mut dyn Observer],
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, ReplayError> {
    let stream = Stream::open(inputs, options.order, options.skip_bad, &options.input)?;
    let names = stream.names().to_vec();
    let mut engine = Engine::new(options)?;
    let mut ahead = Ahead::read(stream);
    let (keys, read) = loop {
        let (batch, reader) = ahead.next()?;
        ahead = reader;
        engine.decide(&batch, observers)?;
        progress(Progress {
            bytes: batch.bytes,
            requests: engine.counts.requests,
        });
        if batch.is_last {
            break ahead.end();
        }
        ahead.give_back(batch);
    };
    let input = engine.counts.summary(names, options.order, &keys, read)?;
    engine.end(keys.len());
    Ok(engine.summary(input, &keys, options))
}

impl Engine {
    fn new(options: &Options) -> Result<Engine, ReplayError> {
        let build = BuildOptions {
            buckets: options.buckets,
            on_regression: options.on_regression,
            ..BuildOptions::default()
        };
        let run = |algorithm: &'static Algorithm, meter| {
            let (detailed, retries) = (options.detailed, options.retries);
            let run = Run::new(algorithm, &options.quotas, build, detailed, retries, meter);
            run.map_err(|source| ReplayError::Build {
                algorithm: algorithm.info.name,
                source,
            })
        };
        let lane = |algorithm: &&'static Algorithm| {
            // The oracle, fed what it accepted itself, is the same log: it takes its memory once.
            let is_oracle = algorithm.info.name == ORACLE
                && matches!(options.on_regression, OnRegression::Clamp);
            Ok(Lane {
                run: run(algorithm, options.meter)?,
                judge: (options.compare && !is_oracle).then(|| Judge::new(&options.quotas)),
                tally: Tally::default(),
            })
        };
        let lanes: Vec<Lane> = options
            .algorithms
            .iter()
            .map(lane)
            .collect::<Result<_, ReplayError>>()?;
        let among = options
            .algorithms
            .iter()
            .position(|a| a.info.name == ORACLE);
        let oracle = match (options.compare, among, registry::find(ORACLE)) {
            (true, Some(index), _) => Some(OwnRun::Lane(index)),
            (true, None, Some(oracle)) => Some(OwnRun::Beside(Box::new(run(oracle, None)?))),
            _ => None,
        };
        Ok(Engine {
            oracle,
            differ: vec![0; lanes.len()],
            lanes,
            requests_by_key: Vec::new(),
            counts: InputCounts::default(),
        })
    }

    /// Decides a batch, counts, and shows it to the observers.
    fn decide(
        &mut self,
        batch: &Batch,
        observers: &mut [&mut dyn Observer],
    ) -> Result<(), ReplayError> {
        let requests = &batch.requests[..];
        let keys = batch.keys;
        self.requests_by_key.resize(keys, 0);
        for request in requests {
            self.requests_by_key[request.key as usize] += 1;
            self.counts.count(request);
        }

        let beside = match &mut self.oracle {
            Some(OwnRun::Beside(run)) => Some(&mut **run),
            _ => None,
        };
        for run in self
            .lanes
            .iter_mut()
            .map(|lane| &mut lane.run)
            .chain(beside)
        {
            run.decide(requests);
        }
        for lane in &mut self.lanes {
            let answers = &lane.run.answers;
            lane.tally.count(requests, answers, keys);
            match (&mut lane.judge, &lane.run.retries) {
                (None, _) => {}
                (Some(judge), None) => judge.judge(requests, answers, keys),
                (Some(judge), Some(retries)) => judge.judge_asked(&retries.asked, keys),
            }
        }
        let oracle = match &self.oracle {
            None => None,
            Some(OwnRun::Lane(index)) => Some(&self.lanes[*index].run.answers[..]),
            Some(OwnRun::Beside(run)) => Some(&run.answers[..]),
        };
        if let Some(oracle) = oracle {
            for (lane, differ) in self.lanes.iter().zip(&mut self.differ) {
                let pairs = lane.run.answers.iter().zip(oracle);
                *differ += pairs.filter(|(a, b)| !a.agrees_with(**b)).count() as u64;
            }
        }
        for observer in observers {
            for (index, request) in requests.iter().enumerate() {
                observer.decided(&Decided {
                    input: request.input,
                    line: request.line,
                    time: request.time,
                    time_text: batch.time_text(request),
                    key: batch.key(request),
                    cost: request.cost,
                    lanes: &self.lanes,
                    oracle,
                    index,
                })?;
            }
        }
        Ok(())
    }

    /// Lets clients send again what they still have to.
    fn end(&mut self, keys: usize) {
        for lane in &mut self.lanes {
            let asked = lane.run.send_rest();
            if let Some(judge) = &mut lane.judge {
                judge.judge_asked(asked, keys);
            }
        }
    }

    fn summary(self, input: InputSummary, names: &Keys, options: &Options) -> Summary {
        let keys = names.len() as f64;
        let decisions = self.counts.requests as f64;
        let most_denied = self.most_denied(names);
        let denied_clients = match options.clients {
            true => self.denied_clients(names),
            false => Vec::new(),
        };
        let algorithm = |(lane, differ): (Lane, u64)| AlgorithmSummary {
            name: lane.run.algorithm.info.name,
            exact: lane.run.algorithm.info.is_exact(),
            allowed: lane.tally.allowed,
            denied: lane.tally.denied,
            errors: lane.tally.errors,
            keys_denied: lane.tally.keys_denied(),
            longest_block_ns: lane.tally.who.longest(),
            denied_by_hour: lane.tally.who.by_hour(),
            retries: lane.run.retries.as_ref().map(|retries| retries.counts),
            against_service: Some(lane.tally.service).filter(|of| *of != Service::default()),
            steps_back: lane.tally.steps_back.summary(),
            against_oracle: options.compare.then(|| match &lane.judge {
                None => Comparison::default(),
                Some(judge) => Comparison {
                    false_allows: judge.false_allows,
                    false_denies: judge.false_denies,
                    differ,
                    worst_overshoot: judge.overshoot(),
                },
            }),
            ns_per_decision: lane.run.nanos as f64 / decisions,
            bytes_per_key: lane.run.end().map(|bytes| bytes as f64 / keys),
        };
        Summary {
            schema: SCHEMA,
            input,
            quotas: options.quotas.iter().map(ToString::to_string).collect(),
            on_regression: match options.on_regression {
                OnRegression::Clamp => "clamp",
                OnRegression::Reject => "reject",
            },
            buckets: options.buckets,
            compared: options.compare,
            call: if options.detailed {
                "decide_detailed"
            } else {
                "acquire"
            },
            algorithms: self
                .lanes
                .into_iter()
                .zip(self.differ)
                .map(algorithm)
                .collect(),
            skipped: options.skipped.clone(),
            most_denied,
            denied_clients,
        }
    }

    /// All clients that were denied, by algorithm.
    fn denied_clients(&self, names: &Keys) -> Vec<DeniedClient> {
        let of = |lane: &Lane| {
            let name = lane.run.algorithm.info.name;
            let denied = &lane.tally.denied_by_key;
            lane.tally
                .who
                .clients(name, names, &self.requests_by_key, denied)
        };
        self.lanes.iter().flat_map(of).collect()
    }

    /// The clients that any algorithm denied most, the worst first, of equals the first seen.
    fn most_denied(&self, names: &Keys) -> Vec<Client> {
        let denied = |lane: &Lane, key: usize| lane.tally.denied_by_key[key];
        let worst = |key: usize| self.lanes.iter().map(|lane| denied(lane, key)).max();
        let mut keys: Vec<(u64, usize)> = (0..names.len())
            .map(|key| (worst(key).unwrap_or(0), key))
            .filter(|(denials, _)| *denials > 0)
            .collect();
        keys.sort_unstable_by_key(|(denials, key)| (Reverse(*denials), *key));
        keys.truncate(MOST_DENIED);
        let client = |(_, key): (u64, usize)| Client {
            key: String::from_utf8_lossy(names.name(key as u32)).into_owned(),
            requests: self.requests_by_key[key],
            denied: self
                .lanes
                .iter()
                .map(|lane| (lane.run.algorithm.info.name, denied(lane, key)))
                .collect(),
        };
        keys.into_iter().map(client).collect()
    }
}
