//! `Quota` and `Quotas` as text, for files and messages: `"100/60s"`, `"100/60s, 10/1s"`.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use serde_core::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_core::ser::{Serialize, Serializer};

use crate::quota::Quota;
use crate::quotas::Quotas;

/// As the text that [`Quota`] is read from.
impl Serialize for Quota {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quota {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quota, D::Error> {
        deserializer.deserialize_str(Text(PhantomData))
    }
}

/// As one text, the quotas separated by commas.
impl Serialize for Quotas {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Commas(self))
    }
}

/// From one text, or from a list of texts where the format says which of both it has.
impl<'de> Deserialize<'de> for Quotas {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quotas, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(TextOrList)
        } else {
            deserializer.deserialize_str(TextOrList)
        }
    }
}

struct Commas<'q>(&'q Quotas);

impl fmt::Display for Commas<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, quota) in self.0.iter().enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            write!(f, "{separator}{quota}")?;
        }
        Ok(())
    }
}

struct Text<T>(PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quota as text, LIMIT/WINDOW or LIMITreq/WINDOW, such as \"100/60s\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

struct TextOrList;

impl<'de> Visitor<'de> for TextOrList {
    type Value = Quotas;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "quotas as text, such as \"100/60s, 10/1s\", or a list such as [\"100/60s\", \"10/1s\"]",
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Quotas, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Quotas, A::Error> {
        let mut quotas: Vec<Quota> = Vec::new();
        while let Some(quota) = list.next_element()? {
            quotas.push(quota);
        }
        Quotas::new(quotas).map_err(A::Error::custom)
    }
}
