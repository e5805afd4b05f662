//! What the Markdown of the laboratory is made of.

pub(crate) mod text;
