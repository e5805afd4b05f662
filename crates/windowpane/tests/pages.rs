//! The pages: their links lead somewhere, here and on docs.rs, and each example is on one of them.
//! And the names of modules, which no page can check.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The pages that docs.rs shows.
const SHOWN: [&str; 4] = ["README.md", "WHICH.md", "COMING_FROM.md", "CHANGELOG.md"];

/// Where docs.rs shows the files of this crate.
const FILES: &str = "https://docs.rs/crate/windowpane/latest/source/";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn page(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The definitions `[label]: target` of a page.
fn definitions(text: &str) -> BTreeMap<&str, &str> {
    let definition = |line| {
        let (label, target) = str::strip_prefix(line, "[")?.split_once("]: ")?;
        Some((label, target))
    };
    text.lines().filter_map(definition).collect()
}

/// The targets of the links `](target)` of a page.
fn inline(text: &str) -> Vec<&str> {
    let links = text.split("](").skip(1);
    links.filter_map(|rest| rest.split(')').next()).collect()
}

/// The labels of the links `[text][label]` of a page.
fn labels(text: &str) -> Vec<&str> {
    let links = text.split("][").skip(1);
    links.filter_map(|rest| rest.split(']').next()).collect()
}

fn is_relative(target: &str) -> bool {
    !target.starts_with("https://") && !target.starts_with('#')
}

/// A page without the figures that `cargo lab publish` writes.
fn without_figures(text: &str) -> String {
    let Some((before, rest)) = text.split_once("<!-- figures:begin -->") else {
        return text.to_owned();
    };
    let (_, after) = rest.split_once("<!-- figures:end -->").unwrap();
    [before, after].concat()
}

#[test]
fn every_link_of_a_page_leads_to_a_file() {
    for name in SHOWN.into_iter().chain(["../../README.md"]) {
        let text = page(name);
        let definitions = definitions(&text);
        for label in labels(&text) {
            assert!(definitions.contains_key(label), "{name}: [{label}]");
        }
        let base = folder().join(name);
        let base = base.parent().unwrap();
        let targets = definitions.into_values().chain(inline(&text));
        for target in targets.filter(|target| is_relative(target)) {
            let file = target.split('#').next().unwrap();
            assert!(base.join(file).exists(), "{name}: {target}");
        }
    }
}

#[test]
fn every_link_leads_somewhere_on_docs_rs_too() {
    let links = page("src/links.md");
    let shown = definitions(&links);
    for name in SHOWN {
        let text = without_figures(&page(name));
        for (label, target) in definitions(&text) {
            if is_relative(target) {
                assert!(shown.contains_key(label), "{name}: [{label}]: {target}");
            }
        }
        // `results` is no part of a package.
        for target in inline(&text) {
            let is_elsewhere = target.starts_with("../../results");
            assert!(is_elsewhere || !is_relative(target), "{name}: {target}");
        }
    }
    for (label, target) in shown {
        if let Some(file) = target.strip_prefix(FILES) {
            assert!(folder().join(file).exists(), "[{label}]: {target}");
        }
    }
}

#[test]
fn every_example_is_on_a_page() {
    let own = SHOWN.map(page).concat();
    for name in ["../tower", "../redis", "."] {
        let pages = own.clone() + &page(&format!("{name}/README.md"));
        let examples = fs::read_dir(folder().join(name).join("examples")).unwrap();
        let examples: Vec<PathBuf> = examples.map(|entry| entry.unwrap().path()).collect();
        assert!(!examples.is_empty(), "{name}");
        for example in examples {
            let file = example.file_name().and_then(|name| name.to_str()).unwrap();
            let link = format!("examples/{file}");
            let command = format!("--example {}", file.trim_end_matches(".rs"));
            let is_named = pages.contains(&link) || name != "." && pages.contains(&command);
            assert!(is_named, "{name}: {file} is on no page");
        }
    }
}

/// The code of each fenced block of Rust: whether it is quoted from elsewhere, and its lines.
fn programs(text: &str) -> Vec<(bool, usize)> {
    let mut programs = Vec::new();
    let mut blocks = text.split("\n```rust").skip(1);
    for block in &mut blocks {
        let (kind, rest) = block.split_once('\n').unwrap();
        let code = rest.split("\n```").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim().is_empty()).count();
        programs.push((kind == ",ignore", lines));
    }
    programs
}

#[test]
fn no_program_is_longer_than_with_governor() {
    let programs = programs(&page("COMING_FROM.md"));
    assert!(programs.len() >= 14);
    for pair in programs.chunks(2) {
        let [(true, theirs), (false, ours)] = *pair else {
            panic!("theirs comes first, then ours: {pair:?}")
        };
        assert!(ours <= theirs, "{ours} lines, with governor {theirs}");
    }
}

/// Pages show whole programs, without lines that a reader does not see.
#[test]
fn every_program_is_whole() {
    for name in ["README.md", "COMING_FROM.md", "../../README.md"] {
        let text = page(name);
        for block in text.split("\n```rust\n").skip(1) {
            let code = block.split("\n```").next().unwrap();
            assert!(code.contains("fn main()"), "{name}: {code}");
            assert!(!code.contains("\n# "), "{name}: {code}");
        }
    }
}

/// The features of a crate: their names, and what each enables.
fn features(manifest: &str) -> BTreeMap<String, String> {
    let (_, rest) = manifest.split_once("[features]\n").unwrap();
    let feature = |line: &str| {
        let (name, enabled) = line.split_once(" = ")?;
        (!line.starts_with('#')).then(|| (name.to_owned(), enabled.to_owned()))
    };
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    lines.filter_map(feature).collect()
}

#[test]
fn every_feature_of_the_layer_and_the_store_is_reachable() {
    let ours = features(&page("Cargo.toml"));
    for name in ["tower", "redis"] {
        let theirs = features(&page(&format!("../{name}/Cargo.toml")));
        assert!(!theirs.is_empty(), "{name}");
        for feature in theirs.into_keys().filter(|feature| feature != "default") {
            let enabled = ours.get(&format!("{name}-{feature}"));
            let forwards = format!("\"windowpane-{name}?/{feature}\"");
            assert!(
                enabled.is_some_and(|enabled| enabled.contains(&forwards)),
                "{name}: {feature}"
            );
        }
    }
}

/// `use windowpane::*` beside a crate of the same name as a module makes that name ambiguous.
#[test]
fn no_module_is_named_as_a_crate() {
    let lock = page("../../Cargo.lock");
    let crates: Vec<String> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .map(|name| name.replace('-', "_"))
        .collect();
    assert!(crates.iter().any(|name| name == "redis"));
    let root = page("src/lib.rs");
    let modules: Vec<&str> = root
        .lines()
        .filter_map(|line| {
            let name = match line.strip_prefix("pub mod ") {
                Some(name) => name,
                None => line.strip_prefix("pub use ")?.split_once(" as ")?.1,
            };
            Some(name.trim_end_matches([';', ' ', '{']))
        })
        .collect();
    assert!(modules.contains(&"on_redis") && modules.contains(&"wait"));
    for module in modules {
        assert!(!crates.iter().any(|name| name == module), "{module}");
    }
}
