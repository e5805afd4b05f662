//! What columns are called: by the caller, by default, and by a name that is near the default.

/// What the columns are called. A column that is named must be there; of those that are not, the
/// time must, and the others may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnNames {
    /// The column of times, or several joined by `+` whose texts are joined by a blank.
    pub time: Option<String>,
    /// The column of keys, or several joined by `,`. An empty name: all requests are of one key.
    pub key: Option<String>,
    /// The columns whose sum is the cost, joined by `+`. An empty name: every cost is 1.
    pub cost: Option<String>,
    /// The column of the response's status.
    pub status: Option<String>,
    /// The column of the request's method.
    pub method: Option<String>,
    /// The column of the request's path.
    pub path: Option<String>,
    /// The column of the addresses that proxies forwarded the request for: the key is from there.
    pub forwarded: Option<String>,
}

/// What columns are called where the caller names none: the first of the names that there is.
pub(crate) struct Defaults {
    pub(crate) time: &'static [&'static str],
    pub(crate) key: &'static [&'static str],
    pub(crate) cost: &'static [&'static str],
    pub(crate) status: &'static [&'static str],
    pub(crate) method: &'static [&'static str],
    pub(crate) path: &'static [&'static str],
}

pub(crate) const CSV: Defaults = Defaults {
    time: &["time"],
    key: &["key"],
    cost: &["cost"],
    status: &["status"],
    method: &["method"],
    path: &["path"],
};

/// Access logs of every kind: `client` and `time` are names of ours.
pub(crate) const LOG: Defaults = Defaults {
    time: &["time"],
    key: &["client"],
    cost: &[],
    status: &["status"],
    method: &["method"],
    path: &["path"],
};

/// W3C: IIS and CloudFront.
pub(crate) const W3C: Defaults = Defaults {
    time: &["date+time"],
    key: &["c-ip"],
    cost: &[],
    status: &["sc-status"],
    method: &["cs-method"],
    path: &["cs-uri-stem"],
};

/// JSON lines: our own names, Caddy, Traefik, nginx, Envoy.
pub(crate) const JSON: Defaults = Defaults {
    time: &[
        "time",
        "ts",
        "StartUTC",
        "time_iso8601",
        "msec",
        "time_local",
        "start_time",
        "timestamp",
        "@timestamp",
    ],
    key: &[
        "key",
        "request.client_ip",
        "request.remote_ip",
        "request.remote_addr",
        "ClientHost",
        "remote_addr",
        "downstream_remote_address",
        "client_ip",
        "client",
    ],
    cost: &["cost"],
    status: &["status", "DownstreamStatus", "response_code"],
    method: &[
        "request.method",
        "RequestMethod",
        "request_method",
        "method",
    ],
    path: &["request.uri", "RequestPath", "request_uri", "path"],
};

/// Names that mean a time, a key or a cost, without case, blanks and dashes.
const TIMES: &[&str] = &["time", "timestamp", "ts", "datetime", "date", "starttime"];
const KEYS: &[&str] = &[
    "key",
    "keys",
    "client",
    "clientid",
    "clientip",
    "ip",
    "ipaddress",
    "address",
    "remoteaddr",
    "user",
    "userid",
    "account",
    "accountid",
    "tenant",
    "tenantid",
    "customer",
    "apikey",
];
const COSTS: &[&str] = &["cost", "costs", "weight", "tokens", "permits", "units"];

/// A column of a default name that is missing.
#[derive(Clone, Copy)]
pub(crate) enum Missing {
    Time,
    Key,
    Cost,
}

impl Missing {
    /// The first of these columns that may be meant by it.
    pub(crate) fn near<'a>(self, mut columns: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        let names = match self {
            Missing::Time => TIMES,
            Missing::Key => KEYS,
            Missing::Cost => COSTS,
        };
        columns.find(|column| {
            let plain = column.chars().filter(|c| c.is_alphanumeric());
            let plain: String = plain.flat_map(char::to_lowercase).collect();
            names.contains(&&plain[..])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_differ_by_case_and_dashes_or_mean_the_same() {
        let near =
            |missing: Missing, columns: &[&'static str]| missing.near(columns.iter().copied());
        assert_eq!(near(Missing::Key, &["time", "client"]), Some("client"));
        assert_eq!(near(Missing::Key, &["Time", "Key"]), Some("Key"));
        assert_eq!(near(Missing::Key, &["API-Key"]), Some("API-Key"));
        assert_eq!(near(Missing::Cost, &["time", "Cost"]), Some("Cost"));
        assert_eq!(near(Missing::Time, &["Timestamp"]), Some("Timestamp"));
        let trace = ["TIMESTAMP", "ContextTokens", "GeneratedTokens"];
        assert_eq!(near(Missing::Key, &trace), None);
        assert_eq!(near(Missing::Cost, &trace), None);
    }
}
