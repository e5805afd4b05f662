//! Clocks that wrap another for one call.

use std::cell::Cell;

use windowpane_core::{Clock, Nanos};

/// A time given by the caller.
pub(crate) struct Given(pub(crate) Nanos);

impl Clock for Given {
    #[inline]
    fn now(&self) -> Nanos {
        self.0
    }
}

/// A clock that is read once, at its first reading, which it then repeats: some limiters read it
/// inside their own lock.
pub(crate) struct Kept<'c, C> {
    clock: &'c C,
    reading: Cell<Option<Nanos>>,
}

impl<'c, C: Clock> Kept<'c, C> {
    pub(crate) fn new(clock: &'c C) -> Self {
        Kept {
            clock,
            reading: Cell::new(None),
        }
    }

    /// The reading; the clock is read now if it was not before.
    pub(crate) fn reading(&self) -> Nanos {
        let reading = self.reading.get().unwrap_or_else(|| self.clock.now());
        self.reading.set(Some(reading));
        reading
    }
}

impl<C: Clock> Clock for Kept<'_, C> {
    #[inline]
    fn now(&self) -> Nanos {
        self.reading()
    }
}

/// A clock that reads no time before `floor`.
pub(crate) struct Floored<'c, C> {
    clock: &'c C,
    floor: Nanos,
    behind: Cell<Nanos>,
}

impl<'c, C: Clock> Floored<'c, C> {
    pub(crate) fn new(clock: &'c C, floor: Nanos) -> Self {
        Floored {
            clock,
            floor,
            behind: Cell::new(0),
        }
    }

    /// How far the last reading of the clock itself was before the floor.
    pub(crate) fn behind(&self) -> Nanos {
        self.behind.get()
    }
}

impl<C: Clock> Clock for Floored<'_, C> {
    fn now(&self) -> Nanos {
        let now = self.clock.now();
        self.behind.set(self.floor.saturating_sub(now));
        now.max(self.floor)
    }
}
