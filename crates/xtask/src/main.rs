//! What CI and contributors run.

fn main() {}
