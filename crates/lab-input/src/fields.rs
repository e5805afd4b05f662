//! Which fields of a line are the time, the key, the cost and what filters ask for.

use windowpane_core::Cost;

use crate::bad_line::{BadKind, Unexpected};
use crate::columns::{Defaults, Missing};
use crate::date::parse_log_time;
use crate::filter::{self, Filter};
use crate::input::{Fields, InputOptions};
use crate::key::{self, KeyOptions};
use crate::time::{TimeError, TimeUnit, number, parse_time};
use crate::unit::{UnitWatch, likely_unit};

/// Fields by their indices.
#[derive(Debug)]
pub(crate) struct Selection {
    times: Vec<usize>,
    keys: Vec<usize>,
    costs: Vec<usize>,
    /// The names of the cost fields, joined by `+`.
    cost_names: String,
    status: Option<usize>,
    method: Option<usize>,
    path: Option<usize>,
    forwarded: Option<usize>,
    pub(crate) unit: TimeUnit,
    filter: Filter,
    is_filtered: bool,
    denied: Vec<u16>,
    keying: KeyOptions,
    /// The names of the key's fields, where a line without any of them is not a request.
    needed_keys: Option<String>,
    watch: UnitWatch,
    say: Option<fn(&str)>,
    time_text: Vec<u8>,
    key_text: Vec<u8>,
}

/// Finds a field by its name.
pub(crate) type Find<'a> = &'a mut dyn FnMut(&str) -> Option<usize>;

impl Selection {
    /// Finds the fields, or says which of them is missing from `what`.
    pub(crate) fn find(
        find: Find<'_>,
        defaults: &Defaults,
        options: &InputOptions,
        what: &str,
    ) -> Result<Selection, String> {
        let names = &options.columns;
        let missing = |name: &str| format!("{what} with a column `{name}`");
        let times = match &names.time {
            Some(name) => several(find, name, '+').map_err(|name| missing(&name))?,
            None => first(find, defaults.time).ok_or_else(|| {
                let name = defaults.time.first().unwrap_or(&"time");
                missing(name)
            })?,
        };
        let keys = match names.key.as_deref() {
            Some("") => Vec::new(),
            Some(name) => several(find, name, ',').map_err(|name| missing(&name))?,
            None => first(find, defaults.key).unwrap_or_default(),
        };
        let costs = match names.cost.as_deref() {
            Some("") => Vec::new(),
            Some(name) => several(find, name, '+').map_err(|name| missing(&name))?,
            None => first(find, defaults.cost).unwrap_or_default(),
        };
        let mut optional =
            |name: &Option<String>, defaults: &[&str], needed: bool, option: &str| {
                let found = match name {
                    Some(name) => find(name).ok_or_else(|| missing(name))?,
                    None if !needed => return Ok(None),
                    None => defaults.iter().find_map(|name| find(name)).ok_or_else(|| {
                        let name = defaults.first().unwrap_or(&option);
                        format!("{} (or name another: --{option}-column)", missing(name))
                    })?,
                };
                Ok::<_, String>(Some(found))
            };
        let filter = options.filter.clone();
        let needs_status = !filter.statuses.is_empty() || !options.denied.is_empty();
        let status = optional(&names.status, defaults.status, needs_status, "status")?;
        let method = optional(
            &names.method,
            defaults.method,
            !filter.methods.is_empty(),
            "method",
        )?;
        let path = optional(&names.path, defaults.path, !filter.paths.is_empty(), "path")?;
        let forwarded = optional(&names.forwarded, &[], false, "forwarded")?;
        Ok(Selection {
            times,
            keys,
            costs,
            cost_names: names.cost.clone().unwrap_or_else(|| "cost".into()),
            status,
            method,
            path,
            forwarded,
            unit: options.unit,
            is_filtered: filter != Filter::default(),
            filter,
            denied: options.denied.clone(),
            keying: options.keys.clone(),
            needed_keys: None,
            watch: UnitWatch::new(options.unit),
            say: options.say,
            time_text: Vec::new(),
            key_text: Vec::new(),
        })
    }

    /// Which fields are what, for people; `name` returns a field's name.
    pub(crate) fn description<'a>(&self, name: impl Fn(usize) -> &'a str) -> String {
        let names = |fields: &[usize], by: &str| {
            let names: Vec<&str> = fields.iter().map(|field| name(*field)).collect();
            format!("`{}`", names.join(by))
        };
        let mut text = format!("time {}", names(&self.times, "+"));
        text += &match (self.forwarded, &self.keys[..]) {
            (Some(field), _) => format!(", key from `{}`", name(field)),
            (None, []) => ", one key".into(),
            (None, keys) => format!(", key {}", names(keys, ",")),
        };
        text += &match &self.costs[..] {
            [] => ", cost 1".into(),
            costs => format!(", cost {}", names(costs, "+")),
        };
        text
    }

    /// Whether each of `count` columns is a time, a key or a cost.
    pub(crate) fn uses_all(&self, count: usize) -> bool {
        let mut used = [&self.times[..], &self.keys, &self.costs].concat();
        used.extend(self.forwarded);
        (0..count).all(|column| used.contains(&column))
    }

    /// Rejects lines without a key; `name` returns a field's name.
    pub(crate) fn need_keys<'a>(&mut self, name: impl Fn(usize) -> &'a str) {
        if !self.keys.is_empty() {
            let names: Vec<&str> = self.keys.iter().map(|key| name(*key)).collect();
            self.needed_keys = Some(names.join(","));
        }
    }

    /// Whether no field is named or found for these.
    pub(crate) fn lacks(&self, missing: Missing) -> bool {
        match missing {
            Missing::Time => self.times.is_empty(),
            Missing::Key => self.keys.is_empty() && self.forwarded.is_none(),
            Missing::Cost => self.costs.is_empty(),
        }
    }

    /// The request in a line whose fields `field` returns; `None` if no filter takes it.
    #[inline]
    pub(crate) fn request<'a>(
        &'a mut self,
        field: impl Fn(usize) -> &'a [u8],
    ) -> Result<Option<Fields<'a>>, Unexpected<'a>> {
        if self.is_filtered && !self.takes(&field) {
            return Ok(None);
        }
        let time_text = match self.times[..] {
            [only] => field(only),
            _ => {
                self.time_text.clear();
                for (nth, index) in self.times.iter().enumerate() {
                    if nth > 0 {
                        self.time_text.push(b' ');
                    }
                    self.time_text.extend_from_slice(field(*index));
                }
                &self.time_text
            }
        };
        let time = time_of(time_text, self.unit).map_err(|error| not_a_time(error, time_text))?;
        if self.is_filtered && !self.filter.takes_time(time) {
            return Ok(None);
        }
        if self.watch.is_on() {
            let likely = self.watch.see(time_text);
            warn(self.say, self.unit, likely);
        }
        let cost = match self.costs[..] {
            [] => Cost::ONE,
            _ => cost(&self.costs, &self.cost_names, &field)?,
        };
        let status = self.status.filter(|_| !self.denied.is_empty()).map(&field);
        let denied = status
            .and_then(filter::number)
            .map(|status| self.denied.contains(&status));
        let listed = self.forwarded.map(&field);
        let listed = listed.and_then(|list| key::forwarded(list, self.keying.trusted_hops));
        if let (Some(names), None) = (&self.needed_keys, listed)
            && self.keys.iter().all(|key| field(*key).is_empty())
        {
            return Err(Unexpected {
                kind: BadKind::Key,
                expected: format!("a key in `{names}`"),
                found: None,
            });
        }
        self.key_text.clear();
        let key = match (listed, &self.keys[..]) {
            (Some(part), _) => one_key(part, &self.keying, &mut self.key_text),
            (None, []) => b"",
            (None, [only]) => one_key(field(*only), &self.keying, &mut self.key_text),
            (None, several) => {
                let mut part = Vec::new();
                for (nth, index) in several.iter().enumerate() {
                    part.clear();
                    let part = one_key(field(*index), &self.keying, &mut part);
                    key::join(part, nth == 0, &mut self.key_text);
                }
                &self.key_text
            }
        };
        Ok(Some(Fields {
            time,
            time_text,
            key,
            cost,
            denied,
        }))
    }

    fn takes<'a>(&self, field: &impl Fn(usize) -> &'a [u8]) -> bool {
        let of = |index: Option<usize>| index.map_or(&b""[..], field);
        self.filter.takes_status(of(self.status))
            && self.filter.takes_method(of(self.method))
            && self.filter.takes_path(of(self.path))
    }

    /// Ends the input: what the first times say of their unit, if there were few.
    pub(crate) fn end(&mut self) {
        let likely = self.watch.end();
        warn(self.say, self.unit, likely);
    }
}

/// The key that a field means, with a text of its own if need be.
fn one_key<'a>(part: &'a [u8], keying: &KeyOptions, text: &'a mut Vec<u8>) -> &'a [u8] {
    match key::write(part, keying, text) {
        true => text,
        false => part,
    }
}

/// The fields of a name, or of several in one; the name that is missing.
fn several(find: Find<'_>, name: &str, by: char) -> Result<Vec<usize>, String> {
    if let Some(whole) = find(name) {
        return Ok(vec![whole]);
    }
    name.split(by)
        .map(|part| find(part).ok_or_else(|| part.to_string()))
        .collect()
}

/// The fields of the first default that there is.
fn first(find: Find<'_>, defaults: &[&str]) -> Option<Vec<usize>> {
    defaults
        .iter()
        .find_map(|name| several(find, name, '+').ok())
}

/// A time of any form.
fn time_of(text: &[u8], unit: TimeUnit) -> Result<u64, TimeError> {
    match text {
        // The third byte tells a day from a number or a year.
        [_, _, b'/', ..] => parse_log_time(text),
        _ => parse_time(text, unit),
    }
}

#[cold]
fn not_a_time(error: TimeError, text: &[u8]) -> Unexpected<'_> {
    let mut expected = error.to_string();
    if error == TimeError::OutOfRange
        && let Some(unit) = likely_unit(text)
    {
        expected += &format!(" (in {unit} it is a time of these days: --time-unit {unit})");
    }
    Unexpected {
        kind: BadKind::Time,
        expected,
        found: Some(text),
    }
}

fn warn(say: Option<fn(&str)>, unit: TimeUnit, likely: Option<TimeUnit>) {
    if let (Some(say), Some(likely)) = (say, likely) {
        say(&format!(
            "warning: the times are not of these days in {unit}, but they are in {likely}; expected \
             --time-unit {likely}"
        ));
    }
}

fn cost<'a>(
    costs: &[usize],
    names: &str,
    field: &impl Fn(usize) -> &'a [u8],
) -> Result<Cost, Unexpected<'a>> {
    let count = costs.len();
    let mut sum = Some(0_u64);
    for index in costs {
        let text = field(*index);
        let digits = text.trim_ascii();
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        let cost = number(digits).filter(|_| is_number);
        let cost = cost.ok_or_else(|| not_a_cost(count, text))?;
        sum = sum.and_then(|sum| sum.checked_add(cost));
    }
    let cost = sum.and_then(Cost::new);
    cost.ok_or_else(|| match (costs, sum) {
        ([index], _) => not_a_cost(count, field(*index)),
        (_, sum) => Unexpected {
            kind: BadKind::Cost,
            expected: format!(
                "a cost from 1 to {} as the sum of the columns {names}, not {}",
                u64::MAX,
                sum.map_or("more", |_| "0"),
            ),
            found: None,
        },
    })
}

/// The error of a cost field that does not hold one.
fn not_a_cost(count: usize, field: &[u8]) -> Unexpected<'_> {
    let most = u64::MAX;
    Unexpected {
        kind: BadKind::Cost,
        expected: match count {
            1 => format!("a cost: a whole number from 1 to {most}"),
            _ => format!("parts of a cost: whole numbers up to {most}"),
        },
        found: Some(field),
    }
}
