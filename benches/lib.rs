//! The benches of windowpane; run them with `cargo bench`.
