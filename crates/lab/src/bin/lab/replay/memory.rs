//! A warning before a replay takes much memory.

use windowpane_lab::replay::{Progress, number};

/// Where the first and the second look at the memory are, in requests.
const LOOKS: [u64; 2] = [50_000, 100_000];
/// What is worth a warning, in bytes.
const MUCH: u64 = 1 << 30;

/// Watches how memory grows with the input.
pub(super) struct Forecast {
    /// The input's length in bytes, if it is known.
    length: Option<u64>,
    live: fn() -> u64,
    first: Option<(u64, u64)>,
    done: bool,
}

impl Forecast {
    pub(super) fn new(length: Option<u64>, live: fn() -> u64) -> Forecast {
        Forecast {
            length,
            live,
            first: None,
            done: false,
        }
    }

    /// Looks at the memory now and then. Returns a warning, once at most.
    pub(super) fn see(&mut self, progress: Progress) -> Option<String> {
        let length = self.length.filter(|_| !self.done)?;
        let now = || (progress.bytes, (self.live)());
        match self.first {
            None if progress.requests >= LOOKS[0] => self.first = Some(now()),
            Some(first) if progress.requests >= LOOKS[1] => {
                self.done = true;
                let bytes = extrapolated(first, now(), length)?;
                return (bytes > MUCH).then(|| warning(bytes));
            }
            _ => {}
        }
        None
    }
}

/// The memory at the input's end if it goes on to grow as it did between two places; each is bytes
/// read and bytes taken. `None` if nothing was read in between.
fn extrapolated(first: (u64, u64), second: (u64, u64), length: u64) -> Option<u64> {
    let read = second.0.checked_sub(first.0).filter(|read| *read > 0)?;
    let grown = u128::from(second.1.saturating_sub(first.1));
    let left = u128::from(length.saturating_sub(second.0));
    let more = grown * left / u128::from(read);
    Some(
        second
            .1
            .saturating_add(u64::try_from(more).unwrap_or(u64::MAX)),
    )
}

fn warning(bytes: u64) -> String {
    format!(
        "warning: this will take about {} MiB, if new keys go on to come as they do; expected fewer \
         algorithms at once, or --no-compare",
        number(bytes >> 20)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_grows_with_the_input_is_warned_of_once() {
        assert_eq!(extrapolated((100, 10), (200, 30), 1_000), Some(190));
        assert_eq!(extrapolated((100, 10), (200, 10), 1_000), Some(10));
        assert_eq!(extrapolated((100, 10), (200, 10), 50), Some(10));
        assert_eq!(extrapolated((100, 10), (100, 30), 1_000), None);

        use std::sync::atomic::{AtomicU64, Ordering};
        static LIVE: AtomicU64 = AtomicU64::new(0);
        let at = |requests: u64, live: u64| {
            LIVE.store(live, Ordering::Relaxed);
            Progress {
                bytes: requests * 20,
                requests,
            }
        };
        let forecast = |length| Forecast::new(length, || LIVE.load(Ordering::Relaxed));
        let mut grows = forecast(Some(1_000_000_000));
        assert_eq!(grows.see(at(10_000, 0)), None);
        assert_eq!(grows.see(at(60_000, 10 << 20)), None);
        let warning = grows.see(at(110_000, 20 << 20)).unwrap();
        assert!(warning.contains("about 9,998 MiB"), "{warning}");
        assert_eq!(grows.see(at(200_000, 40 << 20)), None);
        for mut stays in [forecast(None), forecast(Some(3_000_000))] {
            let seen = [(60_000, 10 << 20), (110_000, 20 << 20)];
            assert!(
                seen.iter()
                    .all(|(n, live)| stays.see(at(*n, *live)).is_none())
            );
        }
    }
}
