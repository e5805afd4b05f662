//! Pieces of Markdown: tables, code, and text that is shown as it is.

/// A Markdown table whose first column is words and whose others are figures.
pub(crate) fn table(header: &[String], rows: &[Vec<String>]) -> String {
    table_of(1, header, rows)
}

/// A Markdown table whose first columns are words and whose others are figures.
pub(crate) fn table_of(words: usize, header: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header);
    let mut rule = vec!["---".to_string(); words];
    rule.resize(header.len(), "---:".into());
    text += &line(&rule);
    rows.iter().for_each(|row| text += &line(row));
    text + "\n"
}

/// A name as code. One that would end the code or the table's cell is escaped instead.
pub(crate) fn code(name: &str) -> String {
    match name.contains(['`', '|', '\n', '\r']) {
        true => words(name),
        false => format!("`{name}`"),
    }
}

/// Text that comes from the data, a file's name for example, so that it is shown as it is: no
/// letter of it is a mark, a tag or the end of a table's cell.
pub(crate) fn words(text: &str) -> String {
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
pub(crate) fn block(language: &str, text: &str) -> String {
    let mut fence = "```".to_string();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{language}\n{text}\n{fence}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::{Event, Parser};

    /// What a reader sees of Markdown.
    fn shown(text: &str) -> String {
        let parts = Parser::new(text).filter_map(|event| match event {
            Event::Text(text) | Event::Code(text) => Some(text.to_string()),
            _ => None,
        });
        parts.collect()
    }

    #[test]
    fn text_of_the_data_is_shown_as_it_is() {
        for text in [
            "<script>alert(1)</script>",
            "a_b *c* _d_ `e` [f](g) | h & \\ i #",
            "![x](y) &lt; ~~z~~ $1$",
        ] {
            assert_eq!(shown(&words(text)), text, "{}", words(text));
        }
        assert_eq!(words("a_file 1.log"), "a_file 1.log");
        assert_eq!(words("two\nlines"), "two lines");
        assert_eq!(shown(&code("cas-ring")), "cas-ring");
        assert_eq!(shown(&code("a`b|c")), "a`b|c");
        assert_eq!(block("sh", "a```b"), "````sh\na```b\n````\n\n");
    }
}
