//! The long run of one target: `cargo xtask fuzz` builds and calls it.
//!
//! Its arguments are a target, a seed and seconds. It stops at the first input that panics and keeps
//! it in a file.

use std::time::{Duration, Instant};

use windowpane_fuzz::change::Inputs;
use windowpane_fuzz::targets::{TARGETS, find};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seed, seconds] = &arguments[..] else {
        return Err("expected a target, a seed and seconds".into());
    };
    let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>();
    let target = find(name).ok_or_else(|| format!("no target `{name}`: {:?}", names()))?;
    let (seed, seconds): (u64, u64) = (seed.parse()?, seconds.parse()?);
    let corpus = windowpane_fuzz::corpus(target)?;
    let corpus = corpus.into_iter().map(|(_, input)| input).collect();
    let mut inputs = Inputs::new(target, corpus, seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut count = 0_u64;
    while Instant::now() < end {
        for _ in 0..64 {
            let input = inputs.next_input();
            let held = std::panic::catch_unwind(|| (target.run)(&input)).is_ok();
            if !held {
                let file = format!("fuzz-{name}-{seed}-{count}");
                std::fs::write(&file, &input)?;
                return Err(format!("input {count} of seed {seed} is kept in {file}").into());
            }
            count += 1;
        }
    }
    println!("{name}: {count} inputs from seed {seed}");
    Ok(())
}
