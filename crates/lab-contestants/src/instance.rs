//! A contestant that has been built: loops over it are compiled for its type.

use windowpane_core::{Cost, Nanos};
use windowpane_lab_ground::clock::SimulatedClock;
use windowpane_lab_ground::latency::{ClosedLoop, OpenLoop};

use super::Cannot;

/// What a contestant answered, as far as the judging needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Whether the request was allowed.
    pub allowed: bool,
    /// The wait that came with a denial, in nanoseconds; `None` where none is told.
    pub retry_after: Option<Nanos>,
}

impl Told {
    /// An allowance.
    pub const ALLOWED: Told = Told {
        allowed: true,
        retry_after: None,
    };

    /// A denial with this wait.
    pub const fn denied(retry_after: Option<Nanos>) -> Told {
        Told {
            allowed: false,
            retry_after,
        }
    }
}

/// The decision of one built contestant. Implementations inline, and pass what the limiter
/// answered, whole, through [`std::hint::black_box`], so that no part of an answer is optimised
/// away for anyone.
pub trait Decide: Send + Sync {
    /// Decides a request of cost 1 now; whether it was allowed.
    fn decide(&self) -> bool;

    /// Decides a request of `cost` now, and tells the wait if it can. Not used where speed is
    /// measured.
    ///
    /// # Errors
    /// [`Cannot`] if it cannot express such a cost.
    fn decide_cost(&self, cost: Cost) -> Result<Told, Cannot> {
        if cost == Cost::ONE {
            Ok(match self.decide() {
                true => Told::ALLOWED,
                false => Told::denied(None),
            })
        } else {
            Err(Cannot(format!("a cost of {cost}: it counts requests")))
        }
    }
}

/// A built contestant of whichever type. One virtual call runs many decisions, so that dispatch is
/// no part of what is measured.
pub trait Instance: Send + Sync {
    /// Makes `decisions` decisions of cost 1, one after the other; how many were allowed.
    fn batch(&self, decisions: u32) -> u32;

    /// Runs a closed loop over it.
    fn run_closed(&self, run: &mut ClosedLoop);

    /// Runs an open loop over it.
    fn run_open(&self, run: &mut OpenLoop);

    /// Makes one decision of cost 1 at each of `times`, moved on by `later`, on the simulated clock
    /// that it was built on; how many were allowed.
    fn replay(&self, times: &[Nanos], later: Nanos) -> u64;

    /// One decision, not for measuring, and the wait if it tells one.
    ///
    /// # Errors
    /// [`Cannot`] if it cannot express such a cost.
    fn decide_cost(&self, cost: Cost) -> Result<Told, Cannot>;
}

impl<D: Decide> Instance for D {
    fn batch(&self, decisions: u32) -> u32 {
        (0..decisions).map(|_| u32::from(self.decide())).sum()
    }

    fn run_closed(&self, run: &mut ClosedLoop) {
        run.drive(|| self.decide());
    }

    fn run_open(&self, run: &mut OpenLoop) {
        run.drive(|| self.decide());
    }

    fn replay(&self, times: &[Nanos], later: Nanos) -> u64 {
        let decide = |at: &Nanos| {
            SimulatedClock::set(at + later);
            u64::from(self.decide())
        };
        times.iter().map(decide).sum()
    }

    fn decide_cost(&self, cost: Cost) -> Result<Told, Cannot> {
        Decide::decide_cost(self, cost)
    }
}
