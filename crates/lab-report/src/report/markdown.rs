//! A report as Markdown.

use super::{Block, Item, Report, Table};
use crate::markdown::text::{block, table, words};

/// Returns the Markdown of a report; the charts are files beside it.
pub(crate) fn text(report: &Report) -> String {
    let mut text = format!("# {}\n\n", marked(&report.title));
    for section in &report.sections {
        if !section.heading.is_empty() {
            text += &format!("## {}\n\n", section.heading);
        }
        blocks(&section.blocks, &mut text);
    }
    text.trim_end().to_string() + "\n"
}

fn blocks(blocks: &[Block], text: &mut String) {
    for one in blocks {
        *text += &match one {
            Block::Text(words) => marked(words) + "\n\n",
            Block::List(items) => items.iter().map(item).collect::<String>() + "\n",
            Block::Chart(chart) => format!("![{}]({})\n\n", marked(&chart.about), chart.file),
            Block::Table(table) => rows(table),
            Block::Data(files) => {
                let links = files.iter().map(|file| format!("[{file}]({file})"));
                format!("Data: {}\n\n", links.collect::<Vec<_>>().join(", "))
            }
            Block::Folded(summary, inside) => {
                let mut folded = format!("<details><summary>{summary}</summary>\n\n");
                self::blocks(inside, &mut folded);
                folded + "</details>\n\n"
            }
            Block::Command(command) => block("sh", command),
        };
    }
}

/// An item of a list as Markdown.
pub(crate) fn item(item: &Item) -> String {
    format!("- **{}** {}\n", marked(&item.lead), marked(&item.text))
}

/// A table as Markdown.
pub(crate) fn rows(of: &Table) -> String {
    let header: Vec<String> = of
        .columns
        .iter()
        .map(|column| marked(&column.title))
        .collect();
    let rows = of.rows.iter();
    let rows = rows.map(|row| row.cells.iter().map(|cell| marked(&cell.text)).collect());
    table(&header, &rows.collect::<Vec<_>>())
}

/// Text with its code marked, and every other letter shown as it is.
pub(crate) fn marked(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let part = |(nth, part): (usize, &str)| match nth % 2 {
        // Spaces at the ends of a part are between it and the code.
        0 => {
            let inner = part.trim();
            part.replacen(inner, &words(inner), usize::from(!inner.is_empty()))
        }
        _ => format!("`{}`", part.replace('|', "\\|")),
    };
    parts.map(part).collect()
}
