//! The summary as people read it.

use std::fmt::Write;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use indicatif::HumanCount;
use windowpane_core::format_nanos;
use windowpane_lab_input::{excerpt, one_line};

use super::report::instant;
use super::retries::RetryModel;
use super::steps_back::StepsBackSummary;
use super::summary::{AlgorithmSummary, Comparison, InputSummary, MOST_DENIED, Summary};

/// The summary as text: what was read, a table of the algorithms, how to read it, and the clients
/// that were denied most.
pub fn render(summary: &Summary) -> String {
    let mut text = String::new();
    let input = &summary.input;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {} of {} in {}; quota {}\n\n{}\n",
        one_line(&input.name),
        count(input.requests, "request"),
        count(input.keys, "key"),
        span(input.latest_ns - input.earliest_ns),
        summary.quotas.join(" and "),
        algorithms(summary),
    );
    text.push_str(&steps_back(summary));
    text.push_str(&who(summary));
    text.push_str(&model_and_service(summary));
    text.push_str(&notes(summary));
    text.push_str(&most_denied(summary));
    text
}

fn algorithms(summary: &Summary) -> String {
    let mut table = table();
    table.set_header([
        "algorithm",
        "allowed",
        "denied",
        "errors",
        "false\nallows",
        "false\ndenies",
        "differ",
        "over-\nshoot",
        "bytes\n/key",
        "ns/de-\ncision",
    ]);
    for algorithm in &summary.algorithms {
        table.add_row(row(algorithm));
    }
    align(&mut table);
    table.trim_fmt()
}

fn row(algorithm: &AlgorithmSummary) -> Vec<String> {
    let figures = figures(algorithm, "-");
    [algorithm.name.into()].into_iter().chain(figures).collect()
}

/// The figures of an algorithm, from the allowed to the time of a decision; `unseen` stands where
/// there is none.
pub(super) fn figures(algorithm: &AlgorithmSummary, unseen: &str) -> [String; 9] {
    let compared = |of: fn(&Comparison) -> String| match &algorithm.against_oracle {
        Some(comparison) => of(comparison),
        None => unseen.into(),
    };
    let bytes = algorithm.bytes_per_key;
    [
        number(algorithm.allowed),
        number(algorithm.denied),
        number(algorithm.errors),
        compared(|oracle| number(oracle.false_allows)),
        compared(|oracle| number(oracle.false_denies)),
        compared(|oracle| number(oracle.differ)),
        compared(|oracle| match &oracle.worst_overshoot {
            None => "0 %".into(),
            Some(worst) => percent(worst.share),
        }),
        bytes.map_or(unseen.into(), |bytes| number(bytes.round() as u64)),
        format!("{:.1}", algorithm.ns_per_decision),
    ]
}

/// The requests that come after later ones, of the input and by limiter.
fn steps_back(summary: &Summary) -> String {
    let Some(all) = &summary.input.steps_back else {
        return String::new();
    };
    let mut text = format!("time steps back: {}\n", step_back(all, &summary.input));
    for algorithm in &summary.algorithms {
        if let Some(of) = &algorithm.steps_back {
            let _ = writeln!(
                text,
                "  {}: {} before the latest accepted of their key, at most by {}, first in line {}",
                algorithm.name,
                number(of.requests),
                span(of.furthest_ns),
                of.first_line,
            );
        }
    }
    text + "\n"
}

/// How many clients each limiter denies, for how long, and in which hour most.
fn who(summary: &Summary) -> String {
    let mut text = String::new();
    for algorithm in summary.algorithms.iter().filter(|of| of.denied > 0) {
        let _ = write!(
            text,
            "{} denies {} of {} ({:.2} %), one of them for {}",
            algorithm.name,
            number(algorithm.keys_denied),
            count(summary.input.keys, "client"),
            algorithm.keys_denied as f64 / summary.input.keys as f64 * 100.0,
            span(algorithm.longest_block_ns),
        );
        let busiest = algorithm
            .denied_by_hour
            .iter()
            .max_by_key(|hour| hour.denied);
        if let Some(hour) = busiest {
            const HOUR: u64 = 3_600_000_000_000;
            let width = match hour.width_ns {
                HOUR => "hour".into(),
                width => span(width),
            };
            let (denied, from) = (number(hour.denied), instant(hour.from_ns, 0));
            let _ = write!(text, "; most in the {width} from {from}: {denied}");
        }
        text.push('\n');
    }
    match text.is_empty() {
        true => text,
        false => text + "\n",
    }
}

/// What the model of retries gave, and the limiters beside the service's own decisions.
fn model_and_service(summary: &Summary) -> String {
    let mut text = String::new();
    for algorithm in &summary.algorithms {
        if let Some(of) = &algorithm.retries {
            let how = match of.model {
                RetryModel::Hammer => "each second",
                _ => "when retry_after has passed",
            };
            let _ = writeln!(
                text,
                "a model: denied requests come again {how}, at most 10 times: {} sent to {}, {} of them allowed, {} given up",
                number(of.sent),
                algorithm.name,
                number(of.allowed),
                number(of.given_up),
            );
        }
        if let Some(of) = &algorithm.against_service {
            let _ = writeln!(
                text,
                "the service denied {}; {} denies {} of them, and {} that it did not",
                number(of.both_deny + of.service_alone_denies),
                algorithm.name,
                number(of.both_deny),
                number(of.limiter_alone_denies),
            );
        }
    }
    match text.is_empty() {
        true => text,
        false => text + "\n",
    }
}

/// Steps back of an input in words.
pub fn step_back(steps: &StepsBackSummary, input: &InputSummary) -> String {
    let nth = usize::try_from(steps.first_input).unwrap_or(usize::MAX) - 1;
    let of = match input.names.get(nth).filter(|_| input.names.len() > 1) {
        Some(name) => format!(" of {}", one_line(name)),
        None => String::new(),
    };
    format!(
        "{} of {}, at most by {}, first in line {}{of}",
        number(steps.requests),
        count(input.requests, "request"),
        span(steps.furthest_ns),
        steps.first_line,
    )
}

/// How to read the table.
fn notes(summary: &Summary) -> String {
    let mut notes = String::new();
    if summary.compared {
        notes.push_str(
            "false allows, false denies: by the oracle (mutex-log) fed what that limiter accepted\n\
             differ: decisions unlike those of the oracle's own run\n\
             overshoot: the worst of all windows, beyond the limit, as a share of it\n",
        );
    }
    let _ = writeln!(
        notes,
        "bytes/key: what its store of limiters has allocated at the end, without the keys\n\
         ns/decision: {} in a keyed store on one thread, without reading the input; rough",
        summary.call
    );
    notes
}

fn most_denied(summary: &Summary) -> String {
    if summary.most_denied.is_empty() {
        return "no client was denied\n".into();
    }
    let names: Vec<&str> = summary.algorithms.iter().map(|a| a.name).collect();
    let mut table = table();
    table.set_header([&["key", "requests"], &names[..]].concat());
    for client in &summary.most_denied {
        let denied = names.iter().map(|name| number(client.denied[name]));
        let first = [shown(&client.key), number(client.requests)];
        table.add_row(first.into_iter().chain(denied));
    }
    align(&mut table);
    let title = match summary.most_denied.len() {
        MOST_DENIED => format!("the {MOST_DENIED} clients denied most"),
        _ => "the clients denied".into(),
    };
    format!("\n{title}, and how often\n{}\n", table.trim_fmt())
}

/// A rule under the header and no other lines: the table is wide enough as it is.
const RULED: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

fn table() -> Table {
    let mut table = Table::new();
    table.load_style(RULED);
    table
}

/// Names to the left, numbers to the right.
fn align(table: &mut Table) {
    let last = table.column_count() - 1;
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index < last { 1 } else { 0 }));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// A number with its thousands divided.
pub fn number(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A number of things in words.
pub fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", HumanCount(number))
}

/// A share of the limit. What is above 0 does not read as 0.
pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent < 0.01 => "<0.01 %".into(),
        percent if percent < 10.0 => format!("{percent:.2} %"),
        percent => format!("{percent:.0} %"),
    }
}

/// A span of time to about three digits.
pub fn span(nanos: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let (unit, name) = match nanos {
        n if n >= 172_800 * SECOND => (86_400 * SECOND, "d"),
        n if n >= 7_200 * SECOND => (3_600 * SECOND, "h"),
        n if n >= 120 * SECOND => (60 * SECOND, "min"),
        n if n >= SECOND => (SECOND, "s"),
        n => return format_nanos(n),
    };
    format!("{:.1} {name}", nanos as f64 / unit as f64)
}

/// A key for a terminal.
fn shown(key: &str) -> String {
    match key {
        "" => "(none)".into(),
        key => excerpt(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_spans_read_well() {
        let shares = [0.5, 1.0, 0.02, 0.000_123, 0.000_000_1].map(percent);
        assert_eq!(shares, ["50 %", "100 %", "2.00 %", "0.01 %", "<0.01 %"]);
        const SECOND: u64 = 1_000_000_000;
        let spans = [
            0,
            1_500_000,
            SECOND,
            150 * SECOND,
            9_000 * SECOND,
            864_000 * SECOND,
        ]
        .map(span);
        assert_eq!(
            spans,
            ["0ns", "1500us", "1.0 s", "2.5 min", "2.5 h", "10.0 d"]
        );
        assert_eq!(
            [count(1, "key"), count(1_234, "key")],
            ["1 key", "1,234 keys"]
        );
    }
}
