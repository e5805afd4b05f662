//! Which lines are requests that count: by status, method, path and time.

use windowpane_core::Nanos;

/// Which requests are taken. What is empty takes all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Statuses, from and to.
    pub statuses: Vec<(u16, u16)>,
    /// Methods, in any case.
    pub methods: Vec<String>,
    /// Paths without a query; one that ends in `*` takes all that begin like it.
    pub paths: Vec<String>,
    /// The first time.
    pub from: Option<Nanos>,
    /// The time before which a request is.
    pub to: Option<Nanos>,
}

/// Reads a status such as `429`, or a class of them such as `4xx`.
///
/// # Errors
/// What was expected.
pub fn parse_statuses(text: &str) -> Result<(u16, u16), String> {
    let class = text
        .strip_suffix("xx")
        .and_then(|class| class.parse::<u16>().ok());
    let range = match class {
        Some(class @ 1..=9) => Some((class * 100, class * 100 + 99)),
        Some(_) => None,
        None => text.parse().ok().map(|status| (status, status)),
    };
    range.ok_or_else(|| "expected a status such as 429, or a class such as 4xx".into())
}

impl Filter {
    pub(crate) fn takes_time(&self, time: Nanos) -> bool {
        self.from.is_none_or(|from| time >= from) && self.to.is_none_or(|to| time < to)
    }

    pub(crate) fn takes_status(&self, status: &[u8]) -> bool {
        let status = number(status);
        let within = |(from, to): &(u16, u16)| status.is_some_and(|s| (*from..=*to).contains(&s));
        self.statuses.is_empty() || self.statuses.iter().any(within)
    }

    pub(crate) fn takes_method(&self, method: &[u8]) -> bool {
        let same = |name: &String| name.as_bytes().eq_ignore_ascii_case(method);
        self.methods.is_empty() || self.methods.iter().any(same)
    }

    pub(crate) fn takes_path(&self, path: &[u8]) -> bool {
        if self.paths.is_empty() {
            return true;
        }
        let path = without_host(path);
        let path = path.split(|byte| *byte == b'?').next().unwrap_or_default();
        self.paths
            .iter()
            .any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => path.starts_with(start.as_bytes()),
                None => path == pattern.as_bytes(),
            })
    }
}

/// The number of a status.
pub(crate) fn number(status: &[u8]) -> Option<u16> {
    std::str::from_utf8(status).ok()?.trim().parse().ok()
}

/// A URL without its scheme and host.
fn without_host(url: &[u8]) -> &[u8] {
    let Some(at) = url.windows(3).take(8).position(|part| part == b"://") else {
        return url;
    };
    let rest = &url[at + 3..];
    let path = rest.iter().position(|byte| *byte == b'/');
    path.map_or(b"/", |path| &rest[path..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_methods_paths_and_times() {
        let filter = Filter {
            statuses: vec![
                parse_statuses("2xx").unwrap(),
                parse_statuses("429").unwrap(),
            ],
            methods: vec!["get".into()],
            paths: vec!["/a".into(), "/api/*".into()],
            from: Some(5),
            to: Some(9),
        };
        let statuses: [&[u8]; 5] = [b"200", b"299", b"429", b"404", b"-"];
        assert_eq!(
            statuses.map(|s| filter.takes_status(s)),
            [true, true, true, false, false]
        );
        assert!(filter.takes_method(b"GET") && !filter.takes_method(b"POST"));
        let paths: [&[u8]; 5] = [
            b"/a",
            b"/a?x=/api/",
            b"/api/b",
            b"/ab",
            b"https://h:443/api/x",
        ];
        assert_eq!(
            paths.map(|p| filter.takes_path(p)),
            [true, true, true, false, true]
        );
        assert_eq!(
            [4, 5, 8, 9].map(|t| filter.takes_time(t)),
            [false, true, true, false]
        );
        assert!(parse_statuses("0xx").is_err() && parse_statuses("ok").is_err());
    }
}
