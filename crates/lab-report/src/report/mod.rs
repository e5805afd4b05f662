//! The report of a run: one content, rendered as a page and as Markdown.
//!
//! Texts name limiters, options and files between backticks; what comes from the data and may hold
//! any letter goes through [`plain`].

mod advice;
mod answers;
mod first;
mod html;
mod losses;
mod markdown;
mod sections;

pub(crate) use advice::advice;
pub(crate) use first::{glance, where_measured};
pub(crate) use html::page;
pub(crate) use markdown::{item, rows, text as markdown};

use windowpane_lab_ground::spread::Spread;

use crate::run::Run;

/// What a report says, in order.
pub(crate) struct Report {
    pub(crate) title: String,
    pub(crate) sections: Vec<Section>,
}

/// A section: a heading, unless it is the first screen, and what stands below.
pub(crate) struct Section {
    pub(crate) id: &'static str,
    pub(crate) heading: &'static str,
    pub(crate) blocks: Vec<Block>,
}

/// A piece of a report.
pub(crate) enum Block {
    /// A paragraph.
    Text(String),
    /// Items.
    List(Vec<Item>),
    /// A chart.
    Chart(Chart),
    /// A table.
    Table(Table),
    /// The files that the figures above are from.
    Data(Vec<&'static str>),
    /// What is folded below a line.
    Folded(&'static str, Vec<Block>),
    /// A command line.
    Command(String),
}

/// An item of a list: an id for links, what it is about, and the words.
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) lead: String,
    pub(crate) text: String,
}

/// A chart in a file of its own.
pub(crate) struct Chart {
    pub(crate) file: &'static str,
    /// What it shows, for who does not see it.
    pub(crate) about: String,
    pub(crate) svg: String,
}

/// A table; the first cell of a row names it.
pub(crate) struct Table {
    pub(crate) label: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
}

/// A column of a table, and what a filter knows of it.
#[derive(Clone, Default)]
pub(crate) struct Column {
    pub(crate) title: String,
    pub(crate) state: Option<&'static str>,
    pub(crate) threads: Option<usize>,
    /// `one` or `many`.
    pub(crate) keys: Option<&'static str>,
}

/// A row of a table.
pub(crate) struct Row {
    pub(crate) is_exact: Option<bool>,
    pub(crate) cells: Vec<Cell>,
}

/// A cell: its text, the figure that sorts it, and an interval to be drawn.
#[derive(Clone, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) sort: Option<f64>,
    /// Low, middle and high, each from 0 to 1 along the column.
    pub(crate) bar: Option<[f64; 3]>,
}

impl Column {
    pub(crate) fn new(title: impl Into<String>) -> Column {
        Column {
            title: title.into(),
            ..Column::default()
        }
    }
}

impl Cell {
    pub(crate) fn words(text: impl Into<String>) -> Cell {
        Cell {
            text: text.into(),
            ..Cell::default()
        }
    }

    /// A figure, or a dash.
    pub(crate) fn figure(value: Option<f64>, write: impl Fn(f64) -> String) -> Cell {
        Cell {
            text: value.map_or_else(|| "—".into(), write),
            sort: value,
            bar: None,
        }
    }
}

/// Text of the data without the marks of this module.
pub(crate) fn plain(text: &str) -> String {
    text.replace(['`', '\n', '\r'], "'")
}

/// Returns the report of a run.
pub(crate) fn report(run: &Run) -> Report {
    let environment = &run.environment;
    let title = format!(
        "Rate limiters on {}, {} cores",
        plain(&environment.cpu),
        environment.cores
    );
    let mut sections = vec![first::first(run)];
    sections.extend(sections::sections(run));
    // A run that measured nothing of a subject says nothing of it.
    sections.retain(|section| !section.blocks.is_empty());
    Report { title, sections }
}

impl Report {
    /// All charts, folded ones too.
    pub(crate) fn charts(&self) -> Vec<&Chart> {
        fn of<'a>(blocks: &'a [Block], charts: &mut Vec<&'a Chart>) {
            for block in blocks {
                match block {
                    Block::Chart(chart) => charts.push(chart),
                    Block::Folded(_, blocks) => of(blocks, charts),
                    _ => {}
                }
            }
        }
        let mut charts = Vec::new();
        self.sections
            .iter()
            .for_each(|section| of(&section.blocks, &mut charts));
        charts
    }
}

/// The interval of a median of these rates, at 95 % by the order of the rates; the range if they are
/// too few for one.
pub(crate) fn interval(mut rates: Vec<f64>) -> Option<Spread> {
    let spread = Spread::of(rates.iter().copied())?;
    rates.sort_by(f64::total_cmp);
    let n = rates.len() as f64;
    let rank = ((n - 1.96 * n.sqrt()) / 2.0).floor();
    Some(match rates.len() {
        6.. => {
            let rank = rank.max(0.0) as usize;
            Spread {
                min: rates[rank],
                max: rates[rates.len() - 1 - rank],
                ..spread
            }
        }
        _ => spread,
    })
}
