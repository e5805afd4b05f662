//! What a run becomes: CSV, Markdown, SVG.
