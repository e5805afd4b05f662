//! Where recorded requests come from and how they are read: options that commands share.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::value_parser;
use windowpane_core::parse_nanos;
use windowpane_lab::replay::ReplayError;
use windowpane_lab_input::{
    ColumnNames, Filter, Format, Input, InputError, InputOptions, KeyOptions, Order, TimeUnit,
    parse_statuses, parse_time,
};

use super::said;

/// What is read, and in which order.
#[derive(clap::Args)]
pub(crate) struct InputArgs {
    /// The recorded requests: files, folders with such files, or `-` for the standard input.
    /// Several are merged by time
    #[arg(value_name = "INPUT|-", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    /// The unit of times that are numbers
    #[arg(long, value_name = "UNIT", default_value = "ms")]
    time_unit: TimeUnit,

    /// How the input is written; `auto` looks at the first hundred lines. gzip and zstd are known by
    /// their first bytes
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    format: Format,

    /// The column of times, or several such as date+time [default: time, or the format's own]
    #[arg(long, value_name = "NAME[+NAME...]")]
    time_column: Option<String>,

    /// The column of keys, or several [default: key, and one key without it; the client in a log].
    /// In JSON dots lead into objects. An empty name: one key for all
    #[arg(long, visible_alias = "key", value_name = "NAME[,NAME...]")]
    key_column: Option<String>,

    /// The column of costs, or several whose sum it is [default: cost, and 1 without it]. An empty
    /// name: a cost of 1
    #[arg(long, value_name = "NAME[+NAME...]")]
    cost_column: Option<String>,

    /// Take keys as they stand, rather than addresses in one spelling and without a port
    #[arg(long, conflicts_with_all = ["group_v4", "group_v6"])]
    raw_keys: bool,

    /// Give all IPv4 addresses of a network one key; the bits of the network, such as 24
    #[arg(long, value_name = "BITS", value_parser = value_parser!(u8).range(0..=32))]
    group_v4: Option<u8>,

    /// Give all IPv6 addresses of a network one key; the bits of the network, such as 64
    #[arg(long, value_name = "BITS", value_parser = value_parser!(u8).range(0..=128))]
    group_v6: Option<u8>,

    /// The column of the addresses that proxies forwarded a request for; the key is one of them, and
    /// the key's column where there is none
    #[arg(long, value_name = "NAME")]
    forwarded_column: Option<String>,

    /// How many trusted proxies added to that column: the key is the address the outermost of them
    /// saw
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        requires = "forwarded_column"
    )]
    trusted_hops: usize,

    /// Take the requests with these statuses alone: 429, 4xx
    #[arg(long, value_name = "STATUS[,STATUS...]", value_delimiter = ',', value_parser = parse_statuses)]
    status: Vec<(u16, u16)>,

    /// Take the requests with these methods alone
    #[arg(long, value_name = "METHOD[,METHOD...]", value_delimiter = ',')]
    method: Vec<String>,

    /// Take the requests for these paths alone; one that ends in * takes all that begin like it
    #[arg(long, value_name = "PATH[,PATH...]", value_delimiter = ',')]
    path: Vec<String>,

    /// Take the requests from this time on alone: a date, a date-time, or a number in the unit
    #[arg(long, value_name = "TIME")]
    from: Option<String>,

    /// Take the requests before this time alone
    #[arg(long, value_name = "TIME")]
    to: Option<String>,

    /// The column of the response's status [default: status, or the format's own]
    #[arg(long, value_name = "NAME")]
    status_column: Option<String>,

    /// The column of the request's method [default: method, or the format's own]
    #[arg(long, value_name = "NAME")]
    method_column: Option<String>,

    /// The column of the request's path [default: path, or the format's own]
    #[arg(long, value_name = "NAME")]
    path_column: Option<String>,

    /// The statuses with which the service itself denied a request, such as 429: compares its
    /// decisions with those of each limiter
    #[arg(long, value_name = "STATUS[,STATUS...]", value_delimiter = ',')]
    denied_status: Vec<u16>,

    /// Decide by time. What does not fit in memory is sorted in files
    #[arg(long, conflicts_with = "reorder")]
    pub(crate) sort: bool,

    /// Decide by time, where requests come late by at most WINDOW, such as 30s
    #[arg(long, value_name = "WINDOW", value_parser = window)]
    reorder: Option<u64>,

    /// Count and skip lines that are no requests, rather than stop at the first
    #[arg(long)]
    pub(crate) skip_bad: bool,

    /// End with status 3 if more than this share of the lines is skipped
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share)]
    pub(crate) max_bad: f64,
}

fn window(text: &str) -> Result<u64, String> {
    parse_nanos(text).map_err(|error| error.to_string())
}

/// A share: `0.5%` or `0.005`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let share = number.parse::<f64>().map(|number| number / unit);
    share
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "expected a share from 0 to 1, such as 0.5% or 0.005".into())
}

impl InputArgs {
    pub(crate) fn order(&self) -> Order {
        match (self.sort, self.reorder) {
            (true, _) => Order::Sorted,
            (_, Some(window)) => Order::Reordered(window),
            _ => Order::AsGiven,
        }
    }

    pub(crate) fn options(&self) -> Result<InputOptions, ReplayError> {
        let time = |text: &Option<String>| text.as_deref().map(|text| self.time(text)).transpose();
        Ok(InputOptions {
            format: self.format,
            unit: self.time_unit,
            columns: ColumnNames {
                time: self.time_column.clone(),
                key: self.key_column.clone(),
                cost: self.cost_column.clone(),
                status: self.status_column.clone(),
                method: self.method_column.clone(),
                path: self.path_column.clone(),
                forwarded: self.forwarded_column.clone(),
            },
            keys: KeyOptions {
                raw: self.raw_keys,
                group_v4: self.group_v4,
                group_v6: self.group_v6,
                trusted_hops: self.trusted_hops,
            },
            filter: Filter {
                statuses: self.status.clone(),
                methods: self.method.clone(),
                paths: self.path.clone(),
                from: time(&self.from)?,
                to: time(&self.to)?,
            },
            denied: self.denied_status.clone(),
            say: Some(said::note),
        })
    }

    /// A time of the command line; a date alone is its midnight in UTC.
    fn time(&self, text: &str) -> Result<u64, ReplayError> {
        let midnight = format!("{text} 00:00:00");
        parse_time(text.as_bytes(), self.time_unit)
            .or_else(|error| parse_time(midnight.as_bytes(), self.time_unit).map_err(|_| error))
            .map_err(|error| ReplayError::Usage(format!("expected {error}, found `{text}`")))
    }

    /// All inputs, folders replaced by their files; and the length of all in bytes, if it is known.
    pub(crate) fn open(&self) -> Result<(Vec<Input>, Option<u64>), ReplayError> {
        let mut inputs = Vec::new();
        let mut length = Some(0);
        let mut stdin = 0;
        for path in self.files()? {
            if path.as_os_str() == "-" {
                stdin += 1;
                length = None;
                inputs.push(Input::new("<stdin>", || Ok(Box::new(io::stdin()))));
                continue;
            }
            let name = path.display().to_string();
            let about = fs::metadata(&path).map_err(|source| InputError::Read {
                input: name.clone(),
                source,
            })?;
            // What a compressed file holds is not known before it is read.
            let is_compressed = path
                .extension()
                .is_some_and(|end| end == "gz" || end == "zst");
            length = length
                .filter(|_| about.is_file() && !is_compressed)
                .map(|sum| sum + about.len());
            inputs.push(Input::new(name, move || Ok(Box::new(File::open(path)?))));
        }
        match stdin {
            0 | 1 => Ok((inputs, length)),
            _ => Err(ReplayError::Usage(
                "- can be read once; expected it among the inputs at most once".into(),
            )),
        }
    }

    /// The files that are meant, those of a folder by name.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, ReplayError> {
        let mut files = Vec::new();
        for path in &self.inputs {
            if !path.is_dir() {
                files.push(path.clone());
                continue;
            }
            let before = files.len();
            add_folder(path, &mut files).map_err(|source| InputError::Read {
                input: path.display().to_string(),
                source,
            })?;
            if files.len() == before {
                let input = path.display().to_string();
                let found = "a folder without a file".into();
                return Err(InputError::Empty { input, found }.into());
            }
        }
        Ok(files)
    }
}

/// Adds the files of a folder and of those in it, by name, but not hidden ones.
fn add_folder(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        // A link to a folder may lead round in a circle.
        match entry.file_type()?.is_dir() {
            true => add_folder(&entry.path(), files)?,
            false if entry.path().is_file() => files.push(entry.path()),
            false => {}
        }
    }
    Ok(())
}
