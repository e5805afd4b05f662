//! Errors, as a program prints them with their causes.

use std::error::Error;

use windowpane_core::{AcquireError, BuildError, StoreError};

/// The texts of an error and of all its causes.
fn chain(error: &dyn Error) -> Vec<String> {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect()
}

#[test]
fn a_chain_of_causes_names_each_cause_once() {
    let store = StoreError::from(BuildError::NoQuotas);
    let acquire = AcquireError::of_store(store.clone(), |_| unreachable!("no quota is named"));
    for error in [&store as &dyn Error, &acquire] {
        let texts = chain(error);
        let named = texts.iter().filter(|text| text.contains("no quota given"));
        assert_eq!(named.count(), 1, "{texts:?}");
    }
}
