//! The formats of inputs.

/// The format of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A header, and fields divided by commas, tabs, semicolons, bars or blanks.
    Csv,
    /// The common or combined log format, with a virtual host before it or not.
    #[value(alias = "combined", alias = "common")]
    Clf,
    /// JSON lines, such as those of Caddy, Traefik, nginx and Envoy.
    #[value(alias = "jsonl", alias = "ndjson")]
    Json,
    /// W3C extended log files: IIS and CloudFront.
    #[value(alias = "iis", alias = "cloudfront")]
    W3c,
    /// Access logs of an Application Load Balancer.
    Alb,
    /// HAProxy's HTTP log.
    Haproxy,
    /// Found by the first hundred lines.
    #[default]
    Auto,
}

impl Format {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Clf => "clf",
            Format::Json => "json",
            Format::W3c => "w3c",
            Format::Alb => "alb",
            Format::Haproxy => "haproxy",
            Format::Auto => "auto",
        }
    }

    /// What a line of it is called.
    pub(crate) fn line(self) -> &'static str {
        match self {
            Format::Clf => "a line of the common or combined log format",
            Format::Json => "a line of one JSON object",
            Format::W3c => "a line with the columns of `#Fields`",
            Format::Alb => "a line of an Application Load Balancer's access log",
            Format::Haproxy => "a line of HAProxy's HTTP log",
            Format::Csv | Format::Auto => "a record",
        }
    }
}
