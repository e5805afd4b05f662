//! Shipped source as text that can be changed in one place.

/// The code of one file: no comments on lines of their own, no attributes of the crate, no tests.
pub(crate) struct Source(String);

impl Source {
    pub(crate) fn new(text: &str) -> Source {
        let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
        // An empty line in its place, so that the lines keep their numbers.
        let is_dropped =
            |line: &str| line.trim_start().starts_with("//") || line.starts_with("#![");
        let kept = code.map(|line| if is_dropped(line) { "" } else { line });
        Source(kept.map(|line| format!("{line}\n")).collect())
    }

    /// The source with `seeded` where `shipped` stands.
    ///
    /// # Errors
    /// How often `shipped` is found, unless that is once.
    pub(crate) fn replaced(self, shipped: &str, seeded: &str) -> Result<Source, usize> {
        let [(start, end)] = self.find(shipped)[..] else {
            return Err(self.find(shipped).len());
        };
        let (before, after) = (&self.0[..start], &self.0[end..]);
        Ok(Source(format!("{before}{seeded}{after}")))
    }

    /// Every exact text replaced, whether it is there or not.
    pub(crate) fn with(self, from: &str, to: &str) -> Source {
        Source(self.0.replace(from, to))
    }

    /// The source without what stands from the first text up to the second.
    pub(crate) fn without(self, from: &str, to: &str) -> Source {
        let start = self.0.find(from).unwrap_or(self.0.len());
        let end = self.0.find(to).unwrap_or(self.0.len()).max(start);
        Source(format!("{}{}", &self.0[..start], &self.0[end..]))
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }

    /// Where `pattern` stands, blind to how either is formatted: to white space, and to commas
    /// before a closing parenthesis.
    fn find(&self, pattern: &str) -> Vec<(usize, usize)> {
        let text = significant(&self.0);
        let pattern: Vec<char> = significant(pattern).into_iter().map(|(_, c)| c).collect();
        text.windows(pattern.len())
            .filter(|window| window.iter().map(|(_, c)| c).eq(&pattern))
            .map(|window| {
                let (last, c) = window[window.len() - 1];
                (window[0].0, last + c.len_utf8())
            })
            .collect()
    }
}

/// The characters that matter, each with its place.
fn significant(text: &str) -> Vec<(usize, char)> {
    let mut kept: Vec<(usize, char)> = Vec::new();
    for (place, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        if c == ')' && kept.last().is_some_and(|(_, c)| *c == ',') {
            kept.pop();
        }
        kept.push((place, c));
    }
    kept
}
