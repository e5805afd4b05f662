//! Random requests in every format, order and option are decided as an independent count over sorted
//! requests says.

use std::io::{Cursor, Write};

use proptest::prelude::*;
use windowpane_core::Quotas;
use windowpane_lab::replay::{Options, replay_inputs};
use windowpane_lab_contestants::registry::find;
use windowpane_lab_input::{Filter, Input, InputOptions, KeyOptions, Order};

/// A request: seconds after noon, the last part of the client's address, and the status.
type Asked = (u64, u8, u16);

const FORMATS: [&str; 9] = [
    "csv",
    "tsv",
    "common",
    "vhost",
    "json",
    "w3c",
    "cloudfront",
    "alb",
    "haproxy",
];

fn header(format: &str) -> &'static str {
    match format {
        "csv" => "time,key,status\n",
        "tsv" => "status\tkey\ttime\n",
        "w3c" => "#Fields: date time c-ip sc-status\n",
        "cloudfront" => "#Version: 1.0\n#Fields: date time sc-status c-ip\n",
        _ => "",
    }
}

fn line(format: &str, (at, client, status): Asked) -> String {
    let clock = format!("12:{:02}:{:02}", at / 60, at % 60);
    let ip = format!("10.0.{}.{}", client % 2, client);
    match format {
        "csv" => format!("2024-05-12 {clock},{ip},{status}\n"),
        "tsv" => format!("{status}\t{ip}:80\t2024-05-12T{clock}Z\n"),
        "common" => format!("{ip} - a b [12/May/2024:{clock} +0000] \"\" {status} -\n"),
        "vhost" => format!(
            "h.example:80 {ip} - - [12/May/2024:{clock} +0000] \"GET / HTTP/1.1\" {status} 5 \"-\" \"x\"\n"
        ),
        "json" => format!(
            "{{\"ts\":{}.5,\"request\":{{\"client_ip\":\"{ip}\"}},\"status\":{status}}}\n",
            1_715_515_200 + at
        ),
        "w3c" => format!("2024-05-12 {clock} {ip} {status}\n"),
        "cloudfront" => format!("2024-05-12\t{clock}\t{status}\t{ip}\n"),
        "alb" => format!(
            "http 2024-05-12T{clock}.5Z app/lb/1 {ip}:5 10.1.1.1:80 0 0 0 {status} 200 1 1 \"GET http://h:80/ HTTP/1.1\" \"x\" - - arn\n"
        ),
        _ => format!(
            "{ip}:5 [12/May/2024:{clock}.5] in back/srv 1/1/1/1/1 {status} 5 - - ---- 1/1/1/1/0 0/0 \"GET / HTTP/1.1\"\n"
        ),
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// What is asked for beside the quota of 2 in 10 seconds.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    is_grouped: bool,
    no_429: bool,
    order: Order,
}

/// Requests and denials, counted by hand.
fn expected(files: &[Vec<Asked>], chosen: Chosen) -> (u64, u64) {
    let mut all = files.concat();
    all.retain(|(_, _, status)| !chosen.no_429 || *status != 429);
    all.sort_by_key(|(at, ..)| *at);
    let mut accepted: Vec<(u64, u8)> = Vec::new();
    let mut denied = 0;
    for (at, client, _) in &all {
        let key = if chosen.is_grouped {
            client % 2
        } else {
            *client
        };
        let counted = accepted
            .iter()
            .filter(|(then, of)| *of == key && then + 10 > *at);
        match counted.count() < 2 {
            true => accepted.push((*at, key)),
            false => denied += 1,
        }
    }
    (all.len() as u64, denied)
}

proptest! {
    #[test]
    fn every_format_order_and_option_agrees_with_a_sort_and_count(
        files in prop::collection::vec(
            prop::collection::vec((0..90_u64, 0..4_u8, prop::sample::select(&[200_u16, 429][..])), 1..30),
            1..3,
        ),
        format in prop::sample::select(&FORMATS[..]),
        is_compressed: bool,
        is_grouped: bool,
        no_429: bool,
        order in prop::sample::select(&[Order::Sorted, Order::Reordered(90_000_000_000)][..]),
    ) {
        let chosen = Chosen { is_grouped, no_429, order };
        let (requests, denied) = expected(&files, chosen);
        let inputs = files.iter().enumerate().map(|(nth, file)| {
            let lines: String = file.iter().map(|asked| line(format, *asked)).collect();
            let text = format!("{}{lines}", header(format)).into_bytes();
            let text = if is_compressed { gzip(&text) } else { text };
            Input::new(nth.to_string(), move || Ok(Box::new(Cursor::new(text))))
        });
        let options = Options {
            order: chosen.order,
            input: InputOptions {
                keys: KeyOptions {
                    group_v4: is_grouped.then_some(24),
                    ..KeyOptions::default()
                },
                filter: Filter {
                    statuses: if no_429 { vec![(200, 299)] } else { Vec::new() },
                    ..Filter::default()
                },
                ..InputOptions::default()
            },
            ..Options::new(Quotas::parse(["2/10s"]).unwrap(), vec![find("mutex-log").unwrap()])
        };
        let replayed = replay_inputs(inputs.collect(), &options, &mut [], &mut |_| {});
        match replayed {
            Ok(summary) => {
                prop_assert_eq!(summary.input.requests, requests, "{} {:?}", format, chosen);
                prop_assert_eq!(summary.algorithms[0].denied, denied, "{} {:?}", format, chosen);
                prop_assert_eq!(summary.input.steps_back, None);
            }
            Err(error) => prop_assert!(requests == 0, "{} {:?}: {}", format, chosen, error),
        }
    }
}
