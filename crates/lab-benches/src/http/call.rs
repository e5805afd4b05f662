//! The processor time of one call of a layer, in this process: ours and tower_governor's, over a
//! service that does nothing.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::hint::black_box;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use anyhow::{Context as _, Result, ensure};
use axum::body::Body;
use axum::extract::ConnectInfo;
use cpu_time::ThreadTime;
use http::{Request, Response};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use tower::util::ServiceFn;
use tower::{Layer, Service};
use tower_governor::GovernorLayer;
use tower_governor::governor::GovernorConfigBuilder;
use tower_governor::key_extractor::PeerIpKeyExtractor;
use windowpane_baselines::GcraRule;
use windowpane_cas_ring::CasRing;
use windowpane_keyed::{ForKeys, KeyedLimiter, SharedRule};
use windowpane_lab_ground::spread::Spread;
use windowpane_lab_report::console::markdown_table;
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::PackedCounter;
use windowpane_tower::{ClientAddress, Everyone, Limit, RateLimitBuilder, RateLimitLayer};

/// What filters look for.
pub(crate) const PATH: &str = "http/call";

type Inner = ServiceFn<fn(Request<Body>) -> Ready<Result<Response<Body>, Infallible>>>;

/// A layer before the service that does nothing: one call of it, which returns the status.
struct Contestant {
    name: String,
    status: u16,
    call: Box<dyn FnMut() -> u16>,
}

impl Contestant {
    fn new<S, B>(name: impl Into<String>, status: u16, mut service: S) -> Contestant
    where
        S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + 'static,
    {
        let call = move || {
            let response = pin!(service.call(request()));
            match response.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(response)) => black_box(response).status().as_u16(),
                Poll::Pending => 0,
            }
        };
        Contestant {
            name: name.into(),
            status,
            call: Box::new(call),
        }
    }

    /// Nanoseconds of the thread's processor time a call.
    ///
    /// # Errors
    /// If the last status is another than it should be.
    fn measure(&mut self, calls: u32) -> Result<f64> {
        let started = ThreadTime::try_now().context("no clock of the thread's processor time")?;
        let mut status = 0;
        for _ in 0..calls {
            status = (self.call)();
        }
        let took = started.elapsed().as_nanos() as f64;
        let (name, expected) = (&self.name, self.status);
        ensure!(
            status == expected,
            "{name}: expected {expected}, got {status}"
        );
        Ok(took / f64::from(calls))
    }
}

fn request() -> Request<Body> {
    let mut request = Request::new(Body::empty());
    let peer = ConnectInfo(SocketAddr::from(([192, 0, 2, 1], 4711)));
    request.extensions_mut().insert(peer);
    request
}

fn inner() -> Inner {
    tower::service_fn(|_| ready(Ok(Response::new(Body::empty()))))
}

fn client() -> ClientAddress {
    ClientAddress::from_extension(|peer: &ConnectInfo<SocketAddr>| peer.0)
}

/// Limits in an hour, and the status of all answers but the first: no measurement uses up the larger.
const STATES: [(u32, u16, &str); 2] = [(1_000_000_000, 200, "allowed"), (1, 429, "denied")];

/// A ring has room for each permit, so its quota is smaller and its window shorter.
const RING: &str = "1000/1us";

fn ours<L: ForKeys + 'static>(name: &str, allowed: Option<&str>) -> Result<Vec<Contestant>> {
    let mut contestants = Vec::new();
    for (limit, status, state) in STATES {
        for headers in [false, true] {
            let quota = match allowed {
                Some(quota) if status == 200 => quota.to_owned(),
                _ => format!("{limit}/1h"),
            };
            let store = KeyedLimiter::<IpAddr, L>::new(quota.as_str())?;
            let layer = RateLimitBuilder::new(store, client()).draft_headers(headers);
            let name = format!("windowpane {name}, {state}{}", with(headers));
            contestants.push(Contestant::new(name, status, layer.build().layer(inner())));
        }
    }
    Ok(contestants)
}

const fn with(headers: bool) -> &'static str {
    if headers { ", headers" } else { "" }
}

fn stack() -> Result<Vec<Contestant>> {
    let layer = |headers: bool| -> Result<RateLimitLayer> {
        let by_user = KeyedLimiter::<IpAddr, MutexLog>::new(RING)?;
        let by_address = KeyedLimiter::<IpAddr, PackedCounter>::new("1000000/1h")?;
        let everyone = KeyedLimiter::<(), CasRing>::new(RING)?;
        let layer = RateLimitLayer::stack()
            .and(Limit::new("user", by_user, client())?)
            .and(Limit::new("address", by_address, client())?)
            .and_last(Limit::new("all", everyone, Everyone)?)
            .draft_headers(headers);
        Ok(layer.build()?)
    };
    let contestant = |headers| -> Result<Contestant> {
        let name = format!("windowpane stack of three, allowed{}", with(headers));
        Ok(Contestant::new(name, 200, layer(headers)?.layer(inner())))
    };
    Ok(vec![contestant(false)?, contestant(true)?])
}

fn tower_governor() -> Result<Vec<Contestant>> {
    let mut contestants = Vec::new();
    for (burst, status, state) in STATES {
        let mut config = GovernorConfigBuilder::default().key_extractor(PeerIpKeyExtractor);
        // One permit comes back in an hour, or in a nanosecond.
        config.burst_size(burst.min(1_000));
        match status {
            200 => config.per_nanosecond(1),
            _ => config.per_second(3_600),
        };
        let plain = config.finish().context("a quota of tower_governor")?;
        let layer = GovernorLayer::new(plain).layer(inner());
        let name = |headers| format!("tower_governor, {state}{}", with(headers));
        contestants.push(Contestant::new(name(false), status, layer));
        let headers = config.use_headers().finish();
        let headers = headers.context("a quota of tower_governor")?;
        let layer = GovernorLayer::new(headers).layer(inner());
        contestants.push(Contestant::new(name(true), status, layer));
    }
    Ok(contestants)
}

/// The rounds of a run, and the calls of one measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calls {
    pub(crate) rounds: u32,
    pub(crate) calls: u32,
}

/// Measures all contestants in rounds, each in an order of its own, and returns the table.
///
/// # Errors
/// If a status is wrong.
pub(crate) fn run(extent: Calls, seed: u64) -> Result<String> {
    let mut contestants = vec![
        Contestant::new("no layer", 200, inner()),
        Contestant::new("no layer, again", 200, inner()),
    ];
    contestants.extend(ours::<SharedRule<GcraRule>>("gcra", None)?);
    contestants.extend(ours::<CasRing>("cas-ring", Some(RING))?);
    contestants.extend(stack()?);
    contestants.extend(tower_governor()?);
    let mut times = vec![Vec::new(); contestants.len()];
    let mut order: Vec<usize> = (0..contestants.len()).collect();
    let mut random = StdRng::seed_from_u64(seed);
    // One round is discarded: it warms up, and uses up the quotas of one.
    for round in 0..=extent.rounds {
        order.shuffle(&mut random);
        for index in &order {
            let time = contestants[*index].measure(extent.calls)?;
            if round > 0 {
                times[*index].push(time);
            }
        }
    }
    Ok(table(&contestants, &times, extent))
}

fn table(contestants: &[Contestant], times: &[Vec<f64>], extent: Calls) -> String {
    let mut table = markdown_table(&["layer", "a call", "over no layer", "from to"]);
    for (contestant, own) in contestants.iter().zip(times) {
        let over = own.iter().zip(&times[0]).map(|(own, none)| own - none);
        let (Some(spread), Some(over)) = (Spread::of(own.iter().copied()), Spread::of(over)) else {
            continue;
        };
        table.add_row([
            contestant.name.clone(),
            format!("{:.0} ns", spread.median),
            format!("{:.0} ns", over.median),
            format!("{:.0} to {:.0} ns", over.min, over.max),
        ]);
    }
    format!(
        "\n## One call\n\nProcessor time of the thread, {} rounds of {} calls each, interleaved; medians. \
         The service does nothing, and all requests have one address.\n\n{table}\n",
        extent.rounds, extent.calls,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contestant_answers_as_it_is_called() {
        let extent = Calls {
            rounds: 1,
            calls: 50,
        };
        let text = run(extent, 1).unwrap();
        for name in [
            "no layer, again",
            "windowpane gcra, allowed",
            "windowpane cas-ring, denied, headers",
            "windowpane stack of three, allowed, headers",
            "tower_governor, allowed",
            "tower_governor, denied, headers",
        ] {
            assert!(text.contains(name), "{name}: {text}");
        }
    }
}
