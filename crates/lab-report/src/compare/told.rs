//! A comparison for people: what it says first, then the counts, what differs, and what cannot be
//! compared. The text and the Markdown are made of the same parts.

use std::collections::BTreeMap;

use comfy_table::CellAlignment;
use windowpane_lab_ground::figures::{millions, percent, time, times};
use windowpane_lab_ground::spread::Spread;

use super::super::console;
use super::super::markdown::text::table_of;
use super::{Comparison, Counts, Head, Kind, Row, SameCommit, Verdict};

/// What a comparison is told by.
enum Part {
    Heading(&'static str),
    Said(String),
    /// The columns of words, the header, the rows.
    Table(usize, Vec<&'static str>, Vec<Vec<String>>),
}

/// The comparison as it is printed.
pub fn text(comparison: &Comparison) -> String {
    let part = |part: Part| match part {
        Part::Heading(heading) => format!("{heading}:\n"),
        Part::Said(said) => format!("{said}\n\n"),
        Part::Table(words, header, rows) => {
            let header = header.into_iter().map(String::from).collect();
            let mut table = console::table(header, rows);
            for column in table.column_iter_mut().take(words) {
                column.set_cell_alignment(CellAlignment::Left);
            }
            format!("{table}\n\n")
        }
    };
    let told: String = parts(comparison).into_iter().map(part).collect();
    told.trim_end().to_string() + "\n"
}

/// The comparison as Markdown, for a design review.
pub fn markdown(comparison: &Comparison) -> String {
    let part = |part: Part| match part {
        Part::Heading(heading) => format!("## {heading}\n\n"),
        Part::Said(said) => format!("{said}\n\n"),
        Part::Table(words, header, rows) => {
            let header: Vec<String> = header.into_iter().map(String::from).collect();
            let cells = |row: Vec<String>| row.iter().map(|cell| plain(cell)).collect();
            let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
            table_of(words, &header, &rows)
        }
    };
    let told: String = parts(comparison).into_iter().map(part).collect();
    format!("# Two runs compared\n\n{}\n", told.trim_end())
}

/// A cell that is text and no markup, whatever a traffic is called.
fn plain(cell: &str) -> String {
    let mut text = String::new();
    for character in cell.chars() {
        match character {
            '|' | '<' | '*' | '_' | '[' | ']' | '\\' | '`' => text.extend(['\\', character]),
            other => text.push(other),
        }
    }
    text
}

fn parts(comparison: &Comparison) -> Vec<Part> {
    let mut parts = vec![Part::Said(verdict(comparison))];
    parts.push(heads(comparison));
    parts.push(Part::Said(HOW.into()));
    parts.push(counts(comparison));
    let (changed, shown): (Vec<&Row>, Vec<&Row>) = comparison
        .rows
        .iter()
        .filter(|row| row.verdict.differs())
        .partition(|row| matches!(row.verdict, Verdict::Changed(_)));
    if !shown.is_empty() {
        parts.push(Part::Heading("Faster or slower"));
        parts.push(timed(&shown));
    }
    if !changed.is_empty() {
        parts.push(Part::Heading("Changed"));
        parts.push(exact(&changed));
    }
    let why = reasons(comparison);
    if !why.is_empty() {
        parts.push(Part::Heading("What cannot be compared"));
        parts.push(Part::Table(2, vec!["rows of", "why", "rows"], why));
    }
    parts
}

const HOW: &str = "A timed row is faster or slower if the interval of its ratio is beyond the A/A of the row in both runs, \
the drift of `clock-only` between them, 2 %, and for a time a step of the clock. It is equal if its 95 % interval is within 5 %. Otherwise the runs cannot tell, \
and the smallest difference says what they would have shown. Intervals are of Hodges and Lehmann, corrected for the number of rows and widened by the spread between launches. \
Bytes and decisions are equal or changed; stores whose hasher is seeded at random are of another size each time.";

/// What the comparison says, in a few sentences.
fn verdict(comparison: &Comparison) -> String {
    let all = &comparison.all;
    let mut said = match comparison.same_commit {
        SameCommit::Yes => "Same commit. ".to_string(),
        SameCommit::Unclean => {
            "The same revision, but not certainly the same code: a work tree differed from it, or nobody knows. ".into()
        }
        SameCommit::No => "Two commits. ".into(),
    };
    if !comparison.same_machine {
        said += "The machines differ: ratios below are of machines as much as of code. ";
    }
    for (which, head) in [("first", &comparison.before), ("second", &comparison.after)] {
        if !head.partial.is_empty() {
            said += &format!("The {which} run is partial: {}. ", plain(&head.partial));
        }
    }
    said += &match comparison.share_without_difference {
        None => "No row can be compared.".into(),
        Some(share) => format!(
            "In {} of {} rows ({}) no difference is shown: {} are equal, of {} the runs cannot tell; {} are faster, {} slower, {} changed.",
            all.same(),
            all.compared(),
            percent(share),
            all.equal,
            all.cannot_tell,
            all.faster,
            all.slower,
            all.changed
        ),
    };
    said += &match comparison.aim_met() {
        None => String::new(),
        Some(met) => format!(
            " Of two runs of one commit that is aimed at in {} of the rows: {}.",
            percent(comparison.aim),
            if met { "met" } else { "not met" }
        ),
    };
    said
}

fn heads(comparison: &Comparison) -> Part {
    let row = |(which, head): (&str, &Head)| {
        vec![
            which.to_string(),
            head.run.clone(),
            head.began.clone(),
            head.revision.get(..12).unwrap_or(&head.revision).into(),
            format!("{}, {} cores", head.cpu, head.cores),
            head.mode.clone(),
            head.rounds.to_string(),
        ]
    };
    let heads = [("before", &comparison.before), ("after", &comparison.after)];
    Part::Table(
        6,
        vec!["", "run", "began", "revision", "machine", "mode", "rounds"],
        heads.into_iter().map(row).collect(),
    )
}

fn counts(comparison: &Comparison) -> Part {
    let row = |word: &str, counts: Counts, smallest: Option<f64>| {
        let mut row = vec![word.to_string(), counts.share().map_or("—".into(), percent)];
        let figures = [
            counts.compared(),
            counts.equal,
            counts.cannot_tell,
            counts.faster,
            counts.slower,
            counts.changed,
            counts.cannot_be_compared,
        ];
        row.extend(figures.map(|count| count.to_string()));
        row.push(smallest.map_or("—".into(), |ratio| percent(ratio - 1.0)));
        row
    };
    let smallest = |kind: Kind| {
        let of_kind = comparison.rows.iter().filter(|row| row.kind == kind);
        Some(Spread::of(of_kind.filter_map(|row| row.smallest))?.median)
    };
    let kinds = Kind::ALL.into_iter().filter_map(|kind| {
        let counts = comparison.counts(kind);
        (counts != Counts::default()).then(|| row(kind.word(), counts, smallest(kind)))
    });
    let mut rows: Vec<Vec<String>> = kinds.collect();
    rows.push(row("all", comparison.all, None));
    let header = vec![
        "rows of",
        "no difference",
        "compared",
        "equal",
        "cannot tell",
        "faster",
        "slower",
        "changed",
        "not compared",
        "smallest difference, median",
    ];
    Part::Table(1, header, rows)
}

fn timed(rows: &[&Row]) -> Part {
    let row = |row: &&Row| {
        let figure = |value: Option<f64>| match value {
            None => "—".to_string(),
            Some(value) if row.quantity.ends_with("/s") => format!("{} M/s", millions(value)),
            Some(value) => time(value),
        };
        vec![
            row.contestant.clone(),
            row.kind.word().into(),
            row.cell.clone(),
            row.quantity.into(),
            row.verdict.word().into(),
            figure(row.before),
            figure(row.after),
            row.ratio.map_or("—".into(), times),
            match (row.low, row.high) {
                (Some(low), Some(high)) => format!("{} to {}", times(low), times(high)),
                _ => "—".into(),
            },
        ]
    };
    let header = vec![
        "who",
        "rows of",
        "where",
        "what",
        "verdict",
        "before",
        "after",
        "after ÷ before",
        "interval",
    ];
    Part::Table(5, header, rows.iter().map(row).collect())
}

fn exact(rows: &[&Row]) -> Part {
    let row = |row: &&Row| {
        let how = match &row.verdict {
            Verdict::Changed(how) => how.clone(),
            other => other.word().into(),
        };
        vec![
            row.contestant.clone(),
            row.kind.word().into(),
            row.cell.clone(),
            how,
        ]
    };
    Part::Table(
        4,
        vec!["who", "rows of", "where", "how"],
        rows.iter().map(row).collect(),
    )
}

/// Kind, reason and how many rows.
fn reasons(comparison: &Comparison) -> Vec<Vec<String>> {
    let mut counted: BTreeMap<(Kind, &str), u64> = BTreeMap::new();
    for row in &comparison.rows {
        if let Verdict::CannotBeCompared(why) = &row.verdict {
            *counted.entry((row.kind, why)).or_default() += 1;
        }
    }
    let row = |((kind, why), count): ((Kind, &str), u64)| {
        vec![kind.word().to_string(), why.to_string(), count.to_string()]
    };
    counted.into_iter().map(row).collect()
}
