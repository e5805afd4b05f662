//! The scripts, as their source tells them.

/// The source of each group of scripts.
const GROUPS: &[(&str, &str)] = &[
    ("any", include_str!("../../src/scripts/any.rs")),
    ("exact", include_str!("../../src/scripts/exact.rs")),
    ("log", include_str!("../../src/scripts/log.rs")),
    ("changes", include_str!("../../src/scripts/changes.rs")),
    ("windows", include_str!("../../src/scripts/windows.rs")),
    ("ring", include_str!("../../src/scripts/ring.rs")),
    ("buckets", include_str!("../../src/scripts/buckets.rs")),
    ("keys", include_str!("../../src/scripts/keys.rs")),
];

/// One script.
pub(crate) struct Script {
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    /// What its doc comment says.
    pub(crate) race: String,
    /// The bound on preemptions, if it has one.
    pub(crate) bound: Option<&'static str>,
}

impl Script {
    /// Its name in the table.
    pub(crate) fn path(&self) -> String {
        format!("{}::{}", self.group, self.name)
    }
}

/// All scripts, in the order of their source.
pub(crate) fn all() -> impl Iterator<Item = Script> {
    GROUPS
        .iter()
        .flat_map(|(group, source)| of_group(group, source))
}

fn of_group(group: &'static str, source: &'static str) -> Vec<Script> {
    let (mut scripts, mut doc): (Vec<Script>, Vec<&str>) = Default::default();
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("/// ") {
            doc.push(text);
        } else if let Some(name) = line.strip_prefix("pub fn ") {
            scripts.push(Script {
                group,
                name: name.split('(').next().unwrap_or(name),
                race: std::mem::take(&mut doc).join(" "),
                bound: None,
            });
        } else if let Some((_, bound)) = line.split_once(".preemptions(") {
            let script = scripts.last_mut().expect("a bound stands in a script");
            script.bound = bound.split(')').next();
        }
    }
    scripts
}
