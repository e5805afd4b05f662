//! The clients nearest to a suggested limit, as CSV.

use std::cmp::Reverse;

use windowpane_core::{Quota, Quotas, Unit, parse_nanos};
use windowpane_lab_contestants::registry::{BuildOptions, ORACLE, find};
use windowpane_lab_ground::output::Output;

use super::outcome::of_client;
use super::summary::Suggestion;
use super::traffic::Traffic;
use crate::replay::ReplayError;

/// A client is at risk from this share of the limit on.
const AT_RISK: f64 = 0.8;

/// Writes the clients whose busiest window holds at least 80 % of the limit suggested for an exact
/// limiter, the busiest first: `window,limit,key,requests,busiest_window,share_of_limit,denied`.
///
/// # Errors
/// [`ReplayError::Output`].
pub fn write_keys_at_risk(
    traffic: &Traffic,
    suggestion: &Suggestion,
    given: &[Quota],
    output: Output,
) -> Result<Output, ReplayError> {
    let name = output.name().to_string();
    let mut csv = csv::Writer::from_writer(output);
    write(traffic, suggestion, given, &mut csv)
        .and_then(|()| csv.into_inner().map_err(|error| error.into_error().into()))
        .map_err(|error| ReplayError::output(&name, error.into()))
}

fn write(
    traffic: &Traffic,
    suggestion: &Suggestion,
    given: &[Quota],
    csv: &mut csv::Writer<Output>,
) -> csv::Result<()> {
    csv.write_record([
        "window",
        "limit",
        "key",
        "requests",
        "busiest_window",
        "share_of_limit",
        "denied",
    ])?;
    for of in &suggestion.windows {
        let exact = of.algorithms.iter().find(|algorithm| algorithm.exact);
        let limit = exact.or(of.algorithms.first()).and_then(|of| of.limit);
        let window = parse_nanos(&of.window);
        let (Some(limit), Ok(window), Some(oracle)) = (limit, window, find(ORACLE)) else {
            continue;
        };
        let own = Quota::from_nanos(limit, window, Unit::Permits);
        let Ok(quotas) = Quotas::new(given.iter().copied().chain(own)) else {
            continue;
        };
        let peaks = traffic.peaks(window);
        let mut clients: Vec<usize> = (0..traffic.clients())
            .filter(|client| peaks[*client] as f64 >= AT_RISK * limit as f64)
            .collect();
        clients.sort_by_key(|client| (Reverse(peaks[*client]), *client));
        for client in clients {
            let requests = traffic.client(client);
            let denied = of_client(requests, oracle, &quotas, BuildOptions::default());
            csv.write_record([
                of.window.as_bytes(),
                limit.to_string().as_bytes(),
                traffic.key(client),
                requests.times.len().to_string().as_bytes(),
                peaks[client].to_string().as_bytes(),
                format!("{:.3}", peaks[client] as f64 / limit as f64).as_bytes(),
                denied
                    .map_or(0, |of| of.requests_denied)
                    .to_string()
                    .as_bytes(),
            ])?;
        }
    }
    Ok(())
}
