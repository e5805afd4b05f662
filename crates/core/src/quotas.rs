//! The quotas of one limiter.

use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;
use core::ops::Deref;
use core::str::FromStr;

use smallvec::SmallVec;

use crate::cost::Cost;
use crate::error::{BuildError, RequestError};
use crate::quota::{Quota, Unit};

/// The quotas of one limiter, at least one; all of them must hold at once.
///
/// It derefs to a slice; a quota is named by its index in the order given.
///
/// ```
/// use windowpane_core::Quotas;
///
/// let quotas: Quotas = "100/60s, 10/1s".parse()?;
/// assert_eq!(quotas.len(), 2);
/// assert_eq!(quotas.to_string(), "100/60s and 10/1s");
/// assert_eq!(quotas, Quotas::parse(["100/60s", "10/1s"])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Quotas(SmallVec<[Quota; 1]>);

impl Quotas {
    /// Several quotas that must all hold.
    ///
    /// # Errors
    /// [`BuildError::NoQuotas`] if there is none.
    pub fn new(quotas: impl IntoIterator<Item = Quota>) -> Result<Quotas, BuildError> {
        let mut quotas: SmallVec<[Quota; 1]> = quotas.into_iter().collect();
        quotas.shrink_to_fit();
        if quotas.is_empty() {
            return Err(BuildError::NoQuotas);
        }
        Ok(Quotas(quotas))
    }

    /// Quotas from text: one text with the quotas separated by commas, or an array of texts.
    ///
    /// # Errors
    /// [`BuildError::Quota`] for the first that is malformed, [`BuildError::NoQuotas`] for none.
    pub fn parse(quotas: impl IntoQuotas) -> Result<Quotas, BuildError> {
        quotas.into_quotas()
    }

    /// Quotas from several texts, each as [`Quota`] reads it.
    fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Quotas, BuildError> {
        let quotas: Result<SmallVec<[Quota; 1]>, _> =
            texts.into_iter().map(|text| text.parse()).collect();
        Quotas::new(quotas?)
    }

    /// The only quota, for a limiter that holds one.
    ///
    /// # Errors
    /// [`BuildError::TooManyQuotas`], naming `algorithm`, if there are more.
    pub fn single(&self, algorithm: &'static str) -> Result<Quota, BuildError> {
        match self.0.as_slice() {
            [quota] => Ok(*quota),
            more => Err(BuildError::TooManyQuotas {
                algorithm,
                given: more.len(),
            }),
        }
    }

    /// Whether a request of `cost` could be allowed at some time: an error names the first quota
    /// above 0 that it exceeds. Complexity: one comparison a quota.
    ///
    /// # Errors
    /// [`RequestError::NeverFits`].
    #[inline]
    pub fn check_cost(&self, cost: Cost) -> Result<(), RequestError> {
        for (index, quota) in self.0.iter().enumerate() {
            if quota.charge(cost) > quota.limit() && quota.limit() > 0 {
                return Err(RequestError::NeverFits {
                    cost,
                    quota: index,
                    limit: quota.limit(),
                });
            }
        }
        Ok(())
    }

    /// The largest cost that fits when `left[i]` is still free of quota `i`, 0 if none does.
    ///
    /// A quota of requests bounds no cost while it has a request left. Where all quotas count
    /// requests, the cost does not matter and the answer is the requests left.
    ///
    /// # Panics
    /// If `left` has not one entry a quota.
    pub fn largest_cost(&self, left: &[u64]) -> u64 {
        assert_eq!(left.len(), self.0.len(), "one entry a quota");
        let least = |unit: Unit| {
            self.0
                .iter()
                .zip(left)
                .filter(move |(quota, _)| quota.unit() == unit)
                .map(|(_, left)| *left)
                .min()
        };
        match (least(Unit::Permits), least(Unit::Requests)) {
            (_, Some(0)) => 0,
            (Some(permits), _) => permits,
            (None, requests) => requests.unwrap_or(0),
        }
    }

    /// The longest window, in nanoseconds.
    pub fn longest_window(&self) -> u64 {
        self.0.iter().map(Quota::window).max().unwrap_or(1)
    }

    /// The largest limit.
    pub fn largest_limit(&self) -> u64 {
        self.0.iter().map(Quota::limit).max().unwrap_or(0)
    }
}

impl Deref for Quotas {
    type Target = [Quota];

    #[inline]
    fn deref(&self) -> &[Quota] {
        &self.0
    }
}

impl From<Quota> for Quotas {
    fn from(quota: Quota) -> Quotas {
        Quotas(SmallVec::from_buf([quota]))
    }
}

impl FromStr for Quotas {
    type Err = BuildError;

    /// Reads quotas separated by commas.
    fn from_str(text: &str) -> Result<Quotas, BuildError> {
        Quotas::of_texts(text.split(',').map(str::trim))
    }
}

impl TryFrom<&str> for Quotas {
    type Error = BuildError;

    fn try_from(text: &str) -> Result<Quotas, BuildError> {
        text.parse()
    }
}

impl TryFrom<&String> for Quotas {
    type Error = BuildError;

    fn try_from(text: &String) -> Result<Quotas, BuildError> {
        text.parse()
    }
}

impl<const N: usize> TryFrom<[&str; N]> for Quotas {
    type Error = BuildError;

    fn try_from(texts: [&str; N]) -> Result<Quotas, BuildError> {
        Quotas::of_texts(texts)
    }
}

impl TryFrom<&[&str]> for Quotas {
    type Error = BuildError;

    fn try_from(texts: &[&str]) -> Result<Quotas, BuildError> {
        Quotas::of_texts(texts.iter().copied())
    }
}

impl TryFrom<&[String]> for Quotas {
    type Error = BuildError;

    fn try_from(texts: &[String]) -> Result<Quotas, BuildError> {
        Quotas::of_texts(texts.iter().map(String::as_str))
    }
}

impl<const N: usize> TryFrom<[Quota; N]> for Quotas {
    type Error = BuildError;

    fn try_from(quotas: [Quota; N]) -> Result<Quotas, BuildError> {
        Quotas::new(quotas)
    }
}

impl TryFrom<Vec<Quota>> for Quotas {
    type Error = BuildError;

    fn try_from(quotas: Vec<Quota>) -> Result<Quotas, BuildError> {
        Quotas::new(quotas)
    }
}

impl From<Infallible> for BuildError {
    fn from(never: Infallible) -> BuildError {
        match never {}
    }
}

/// Whatever becomes quotas: a text such as `"100/60s"` or `"100/60s, 10/1s"`, an array of texts, a
/// [`Quota`], an array of them, or [`Quotas`].
///
/// Every type that converts into [`Quotas`] implements it.
pub trait IntoQuotas {
    /// The quotas.
    ///
    /// # Errors
    /// [`BuildError::Quota`] for the first that is malformed, [`BuildError::NoQuotas`] for none.
    fn into_quotas(self) -> Result<Quotas, BuildError>;
}

impl<Q> IntoQuotas for Q
where
    Q: TryInto<Quotas>,
    BuildError: From<Q::Error>,
{
    fn into_quotas(self) -> Result<Quotas, BuildError> {
        Ok(self.try_into()?)
    }
}

impl fmt::Display for Quotas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, quota) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" and ")?;
            }
            quota.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Quotas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quotas({self})")
    }
}
