//! Untrusted text for a terminal.

/// How many characters are shown.
const MOST: usize = 60;

/// The text in one line, without characters that would move a terminal's cursor or turn the
/// direction of what follows.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_control() || breaks_or_turns(character) {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
}

/// As [`one_line`], and shortened.
pub fn excerpt(text: &str) -> String {
    excerpt_of(text, MOST)
}

/// As [`one_line`], and shortened to `most` characters.
pub(crate) fn excerpt_of(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => one_line(&text[..end]) + "…",
        None => one_line(text),
    }
}

/// The line and paragraph separators, and the controls of bidirectional text.
fn breaks_or_turns(character: char) -> bool {
    matches!(
        character,
        '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_or_could_move_a_cursor_is_not_shown_as_it_is() {
        assert_eq!(excerpt("a \"key\", it's é"), "a \"key\", it's é");
        assert_eq!(excerpt("\u{1b}[2J\r\nx"), "\\u{1b}[2J\\r\\nx");
        assert_eq!(
            excerpt("a\u{2028}b\u{202e}c\u{2066}"),
            "a\\u{2028}b\\u{202e}c\\u{2066}"
        );
        assert_eq!(one_line(&"\n".repeat(MOST + 1)), "\\n".repeat(MOST + 1));
        assert_eq!(excerpt(&"é".repeat(MOST)), "é".repeat(MOST));
        assert_eq!(excerpt(&"é".repeat(MOST + 1)), "é".repeat(MOST) + "…");
    }
}
