//! What all definitions share: how they are read, and what an error tells.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use windowpane_core::{Nanos, Quota, parse_nanos};

/// A definition that cannot be used: which file, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}: {what}")]
pub struct DefinitionError {
    file: String,
    what: String,
}

impl DefinitionError {
    pub(super) fn new(file: &str, what: impl Into<String>) -> DefinitionError {
        DefinitionError {
            file: file.into(),
            what: what.into(),
        }
    }
}

/// Which kind of workload a file defines.
pub(super) fn workload(file: &str, text: &str) -> Result<String, DefinitionError> {
    #[derive(Deserialize)]
    struct Kind {
        workload: String,
    }
    read::<Kind>(file, text).map(|kind| kind.workload)
}

/// Reads a file as `T`.
pub(super) fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, DefinitionError> {
    toml::from_str(text).map_err(|error| DefinitionError::new(file, error.to_string()))
}

/// A span of time as quotas write it: `"100ms"`, `"10s"`, `"1h"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Time(pub Nanos);

impl Time {
    /// In seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-9
    }
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Time, String> {
        parse_nanos(&text)
            .map(Time)
            .map_err(|error| error.to_string())
    }
}

/// A quota as the command line writes it: `"100/10s"`.
pub(super) fn quota<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Quota, D::Error> {
    let text = String::deserialize(from)?;
    let quota: Quota = text.parse().map_err(serde::de::Error::custom)?;
    if quota.limit() == 0 {
        return Err(serde::de::Error::custom(format!(
            "the quota `{text}` allows nothing; expected a limit of at least 1"
        )));
    }
    Ok(quota)
}
