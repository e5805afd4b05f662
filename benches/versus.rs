//! first light
use std::time::Duration;
use windowpane_lab::contestants::{ClockOnly, Contestant, all};
use windowpane_lab::measure::state::State;
use windowpane_lab::measure::throughput::{Cell, Times, measure};

fn main() {
    let mut everyone = all();
    everyone.push(Box::new(ClockOnly));
    let times = Times {
        warm_up: Duration::from_millis(20),
        measure: Duration::from_millis(100),
    };
    for state in State::ALL {
        for threads in [1, 2, 4, 8] {
            for c in &everyone {
                let m = measure(&**c, Cell { state, threads }, times).unwrap();
                println!(
                    "{:8} {threads} {:24} {:8.2} M/s  {:6.2} ns  allowed {:.4} pace {:.3} fair {:.2} ok {}",
                    state.word(),
                    c.info().name,
                    m.throughput.per_second() / 1e6,
                    1e9 / m.throughput.per_second(),
                    m.allowed,
                    m.pace.ratio(),
                    m.throughput.fairness(),
                    m.share_ok
                );
            }
        }
    }
}
