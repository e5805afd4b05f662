//! The charts, as SVG: readable narrow and wide, and without colour. Ours are filled, others hollow;
//! names stand at rows and points.

mod curves;
pub(crate) mod dots;
pub(crate) mod scatter;
pub mod shares;
pub(crate) mod svg;
pub mod timeline;

pub use curves::{Curve, curves};
