//! Untrusted text for a terminal.

/// How many characters are shown.
const MOST: usize = 60;

/// The text in one line, shortened, without characters that would move a terminal's cursor.
pub(super) fn excerpt(text: &str) -> String {
    let mut excerpt = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == MOST {
            excerpt.push('…');
            break;
        }
        match character.is_control() {
            true => excerpt.extend(character.escape_default()),
            false => excerpt.push(character),
        }
    }
    excerpt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_or_could_move_a_cursor_is_not_shown_as_it_is() {
        assert_eq!(excerpt("a \"key\", it's é"), "a \"key\", it's é");
        assert_eq!(excerpt("\u{1b}[2J\r\nx"), "\\u{1b}[2J\\r\\nx");
        assert_eq!(excerpt(&"é".repeat(MOST)), "é".repeat(MOST));
        assert_eq!(excerpt(&"é".repeat(MOST + 1)), "é".repeat(MOST) + "…");
    }
}
