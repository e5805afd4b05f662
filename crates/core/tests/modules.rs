//! The modules of this crate: arrows one way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Adds the modules that a source file uses, without what only its tests use.
fn used(file: &Path, used: &mut BTreeSet<String>) {
    let text = fs::read_to_string(file).unwrap();
    let shipped = text.split("#[cfg(test)]").next().unwrap();
    let code = shipped
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    for line in code {
        for rest in line.split("crate::").skip(1) {
            let name = rest
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next();
            used.insert(name.unwrap().to_owned());
        }
    }
}

fn used_below(path: &Path, names: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            used_below(&entry.unwrap().path(), names);
        }
    } else {
        used(path, names);
    }
}

#[test]
fn no_module_depends_on_itself_through_others() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if name != "lib" {
            let mut names = BTreeSet::new();
            used_below(&path, &mut names);
            names.remove(&name);
            arrows.insert(name, names);
        }
    }
    assert!(arrows["limiter"].contains("rate_limiter"), "{arrows:?}");
    // Modules that only use modules already removed are removed, until none is left.
    while !arrows.is_empty() {
        let left: BTreeSet<String> = arrows.keys().cloned().collect();
        let count = arrows.len();
        arrows.retain(|_, used| used.iter().any(|name| left.contains(name)));
        assert!(arrows.len() < count, "a circle among {arrows:#?}");
    }
}
