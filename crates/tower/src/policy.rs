//! The names of quotas, as clients read them.

use std::borrow::Cow;

use thiserror::Error;
use windowpane_core::Quotas;

use crate::headers::Draft;
use crate::written::{Kept, Written};

/// A name that no header can carry.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("malformed name `{}`: expected at least one character, all printable ASCII", name.escape_default())]
pub struct NameError {
    /// The given name.
    pub name: String,
}

/// The names of a limit, and the parts of its headers that depend on its quotas alone.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) policies: Policies,
    /// The draft's `qu` of quotas that count permits.
    pub(crate) permit_unit: Option<String>,
    kept: Kept,
}

impl Names {
    /// Passes the parts written for these quotas to `then`.
    pub(crate) fn written(&self, quotas: &Quotas, draft: Draft, then: impl FnOnce(&Written)) {
        let unit = self.permit_unit.as_deref();
        let write = || Written::new(&self.policies, quotas, unit, draft);
        self.kept.with(quotas, write, then);
    }
}

/// The limiter's name and its quotas' names, all of which a structured-field string can hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policies {
    limiter: Option<String>,
    quotas: Vec<String>,
}

impl Policies {
    pub(crate) fn set_limiter(&mut self, name: &str) -> Result<(), NameError> {
        self.limiter = Some(checked(name)?.into());
        Ok(())
    }

    pub(crate) fn set_quotas<'n>(
        &mut self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), NameError> {
        self.quotas = names
            .into_iter()
            .map(|name| checked(name).map(str::to_owned))
            .collect::<Result<_, _>>()?;
        Ok(())
    }

    /// The limiter's name, `limiter` if it was given none.
    pub(crate) fn limiter(&self) -> &str {
        self.limiter.as_deref().unwrap_or("limiter")
    }

    /// The name of a quota: the one given for its index, else its text behind the limiter's name.
    /// A number distinguishes equal quotas.
    pub(crate) fn name(&self, quotas: &Quotas, index: usize) -> Cow<'_, str> {
        if let Some(name) = self.quotas.get(index) {
            return Cow::Borrowed(name);
        }
        let Some(quota) = quotas.get(index) else {
            return Cow::Borrowed("quota");
        };
        let mut name = match &self.limiter {
            Some(limiter) => format!("{limiter} {quota}"),
            None => quota.to_string(),
        };
        let equal = quotas[..index].iter().filter(|other| *other == quota);
        let equal = equal.count();
        if equal > 0 {
            name.push_str(&format!(" ({})", equal + 1));
        }
        Cow::Owned(name)
    }
}

pub(crate) fn checked(name: &str) -> Result<&str, NameError> {
    match !name.is_empty() && name.bytes().all(|byte| matches!(byte, 0x20..=0x7e)) {
        true => Ok(name),
        false => Err(NameError { name: name.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_named_by_its_text_unless_said_otherwise() {
        let quotas = Quotas::parse(["10/1s", "60req/60s", "10/1s"]).unwrap();
        let mut policies = Policies::default();
        assert_eq!(policies.name(&quotas, 0), "10/1s");
        assert_eq!(policies.name(&quotas, 2), "10/1s (2)");
        policies.set_limiter("by address").unwrap();
        assert_eq!(policies.name(&quotas, 1), "by address 60req/60s");
        policies.set_quotas(["burst"]).unwrap();
        assert_eq!(policies.name(&quotas, 0), "burst");
        assert_eq!(policies.name(&quotas, 1), "by address 60req/60s");
        // Of quotas that have just been changed there may be fewer.
        assert_eq!(policies.name(&quotas, 9), "quota");
    }

    #[test]
    fn a_name_that_no_header_can_carry_is_an_error() {
        for name in ["", "a\nb", "caf\u{e9}", "\u{7f}", "\t"] {
            let error = Policies::default().set_limiter(name).unwrap_err();
            assert_eq!(error.name, name);
            assert!(error.to_string().is_ascii());
            assert!(Policies::default().set_quotas(["a", name]).is_err());
        }
        assert!(Policies::default().set_limiter("a \"b\" \\c").is_ok());
    }
}
