//! Pieces of Markdown: tables, pictures, links to the data, and text that is shown as it is.

use windowpane_lab_ground::spread::Spread;

use crate::page::markdown::DATA;

/// A Markdown table whose first column is words and whose others are figures.
pub(in super::super) fn table(header: &[String], rows: &[Vec<String>]) -> String {
    table_of(1, header, rows)
}

/// A Markdown table whose first columns are words and whose others are figures.
pub(in super::super) fn table_of(words: usize, header: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header);
    let mut rule = vec!["---".to_string(); words];
    rule.resize(header.len(), "---:".into());
    text += &line(&rule);
    rows.iter().for_each(|row| text += &line(row));
    text + "\n"
}

/// A table of words.
pub(super) fn left_aligned(header: &[String], rows: &[Vec<String>]) -> String {
    table_of(header.len(), header, rows)
}

pub(super) fn strings<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(String::from).to_vec()
}

/// A picture in a paragraph of its own.
pub(super) fn image(title: &str, file: &str) -> String {
    format!("![{title}]({file})\n\n")
}

/// The paragraph below a figure: the files of its rows. Every figure of a report has one.
pub(super) fn data(files: &[&str]) -> String {
    let links: Vec<String> = files
        .iter()
        .map(|file| format!("[{file}]({file})"))
        .collect();
    format!("{DATA}{}\n\n", links.join(", "))
}

/// Items of a list.
pub(super) fn items(items: impl IntoIterator<Item = String>) -> String {
    let lines = items.into_iter().map(|item| format!("- {item}\n"));
    lines.collect::<String>() + "\n"
}

/// How many measurements of the rounds do not count, if there are any; `share_ok` is theirs.
pub(super) fn count_for_nothing(share_ok: impl Iterator<Item = bool>) -> Option<String> {
    let (mut all, mut off) = (0, 0);
    for counts in share_ok {
        all += 1;
        off += usize::from(!counts);
    }
    (off > 0).then(|| {
        format!(
            "{off} of {all} measurements count for nothing, because their share of allowed decisions was not what their state's name says even at the third try; `share_ok` in the CSV is false for them"
        )
    })
}

pub(super) fn yes(is: bool) -> String {
    if is { "yes".into() } else { "no".into() }
}

/// Median, minimum and maximum.
pub(super) fn spread(rate: Spread, write: impl Fn(f64) -> String) -> String {
    format!(
        "**{}** ({}–{})",
        write(rate.median),
        write(rate.min),
        write(rate.max)
    )
}

/// Text with its first letter large.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// A name as code. One that would end the code or the table's cell is escaped instead.
pub(in super::super) fn code(name: &str) -> String {
    match name.contains(['`', '|', '\n', '\r']) {
        true => words(name),
        false => format!("`{name}`"),
    }
}

/// Text that comes from the data, a file's name for example, so that it is shown as it is: no
/// letter of it is a mark, a tag or the end of a table's cell.
pub(in super::super) fn words(text: &str) -> String {
    let letters: Vec<char> = text.trim().chars().collect();
    let mut escaped = String::new();
    for (nth, &letter) in letters.iter().enumerate() {
        let in_word = |at: Option<usize>| {
            at.and_then(|at| letters.get(at))
                .is_some_and(|letter| letter.is_alphanumeric())
        };
        match letter {
            '\n' | '\r' => escaped.push(' '),
            // Inside a word it is no mark.
            '_' if in_word(nth.checked_sub(1)) && in_word(Some(nth + 1)) => escaped.push('_'),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '#' | '$' => {
                escaped.extend(['\\', letter]);
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Text in a block of code, whatever it holds.
pub(in super::super) fn block(language: &str, text: &str) -> String {
    let mut fence = "```".to_string();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{language}\n{text}\n{fence}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::markdown::without_marks;

    #[test]
    fn text_of_the_data_is_shown_as_it_is() {
        for text in [
            "<script>alert(1)</script>",
            "a_b *c* _d_ `e` [f](g) | h & \\ i #",
            "![x](y) &lt; ~~z~~ $1$",
        ] {
            assert_eq!(without_marks(&words(text)), text, "{}", words(text));
        }
        assert_eq!(words("a_file 1.log"), "a_file 1.log");
        assert_eq!(words("two\nlines"), "two lines");
        assert_eq!(code("cas-ring"), "`cas-ring`");
        assert_eq!(without_marks(&code("a`b|c")), "a`b|c");
        assert_eq!(block("sh", "a```b"), "````sh\na```b\n````\n\n");
    }
}
