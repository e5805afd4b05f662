//! One number for each quota.

use core::ops::{Deref, DerefMut};

use smallvec::SmallVec;

/// One number for each quota, in the quotas' order. Up to four need no allocation.
///
/// It derefs to a slice, and is collected from numbers.
///
/// ```
/// use windowpane_core::PerQuota;
///
/// let mut left: PerQuota = [5, 3].into_iter().collect();
/// left[1] -= 1;
/// assert_eq!(left[..], [5, 2]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PerQuota(SmallVec<[u64; 4]>);

impl PerQuota {
    /// The numbers of a slice.
    #[inline]
    pub fn from_slice(numbers: &[u64]) -> PerQuota {
        PerQuota(SmallVec::from_slice(numbers))
    }

    /// The same number for each of `quotas` quotas.
    #[inline]
    pub fn from_elem(number: u64, quotas: usize) -> PerQuota {
        PerQuota(SmallVec::from_elem(number, quotas))
    }
}

impl Deref for PerQuota {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl DerefMut for PerQuota {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl FromIterator<u64> for PerQuota {
    #[inline]
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> PerQuota {
        PerQuota(numbers.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a PerQuota {
    type Item = &'a u64;
    type IntoIter = core::slice::Iter<'a, u64>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut PerQuota {
    type Item = &'a mut u64;
    type IntoIter = core::slice::IterMut<'a, u64>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}
