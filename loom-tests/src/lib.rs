//! The loom models of windowpane; run them with `cargo loom`.
