//! Pointers, wrappers, limiters with a clock and reservations forward each call unchanged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windowpane_core::clock::ManualClock;
use windowpane_core::{
    Allowed, BuildError, ChangeQuotas, Changeable, Charge, Clock, Cost, Decision, Denial, Detailed,
    FromQuotas, Limiter, Nanos, PerQuota, Quotas, RateLimiter, RequestError, Settle, Status,
};

/// A limiter in which each method returns something that no other method returns.
struct Telltale {
    quotas: Quotas,
    /// The argument of the last call that returns nothing. It is idle at that time alone.
    told: AtomicU64,
}

impl Telltale {
    fn detailed(&self, at: Nanos, left: u64) -> Detailed {
        let decision = Decision::Allowed { at };
        Detailed::new(decision, &self.quotas, PerQuota::from_slice(&[left]))
    }
}

impl RateLimiter for Telltale {
    fn quotas(&self) -> Quotas {
        self.quotas.clone()
    }

    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        let at = now + cost.get();
        Ok(Decision::Allowed { at })
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        Ok(self.detailed(now, cost.get()))
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        Ok(self.detailed(now, 10 * cost.get()))
    }

    fn reset(&self) {
        self.told.store(1, Ordering::Relaxed);
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        now == self.told.load(Ordering::Relaxed)
    }

    fn decide_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Decision, RequestError> {
        let wait = clock.now() + cost.get();
        Ok(Decision::Denied(Denial::new(0, Some(wait))))
    }

    fn decide_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<Detailed, RequestError> {
        Ok(self.detailed(clock.now(), 100 * cost.get()))
    }

    fn peek_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Detailed, RequestError> {
        Ok(self.detailed(clock.now(), 1_000 * cost.get()))
    }
}

impl Settle for Telltale {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        let told = at + 10 * estimate.get() + 100 * actual;
        self.told.store(told, Ordering::Relaxed);
    }

    fn cancel_at(&self, at: Nanos, cost: Cost) {
        let told = at + 10_000 * cost.get();
        self.told.store(told, Ordering::Relaxed);
    }
}

impl ChangeQuotas for Telltale {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        if now == 0 {
            return Err(BuildError::NoQuotas);
        }
        self.quotas = quotas.clone();
        Ok(())
    }
}

impl FromQuotas for Telltale {
    const NAME: &'static str = "telltale";

    fn from_quotas(quotas: &Quotas, start: Nanos) -> Result<Self, BuildError> {
        Ok(Telltale {
            quotas: quotas.clone(),
            told: AtomicU64::new(start),
        })
    }
}

/// A telltale without methods of its own that read a clock: it allows.
struct Allows(Telltale);

impl RateLimiter for Allows {
    fn quotas(&self) -> Quotas {
        self.0.quotas()
    }

    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        self.0.decide_at(now, cost)
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.0.decide_detailed_at(now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.0.peek_at(now, cost)
    }

    fn reset(&self) {
        self.0.reset();
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.0.is_idle_at(now)
    }
}

impl Settle for Allows {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        self.0.settle_at(at, estimate, actual);
    }

    fn cancel_at(&self, at: Nanos, cost: Cost) {
        self.0.cancel_at(at, cost);
    }
}

fn quotas(text: &str) -> Quotas {
    Quotas::parse([text]).unwrap()
}

/// Two telltales, the second as an `L`.
fn both<L: FromQuotas>() -> (Telltale, L) {
    let quotas = quotas("9/1s");
    let plain = Telltale::from_quotas(&quotas, 4).unwrap();
    (plain, L::from_quotas(&quotas, 4).unwrap())
}

/// Each call of `wrapped` returns what the telltale in it returns.
fn answers_as_itself<L: FromQuotas + Settle>() {
    let (plain, wrapped) = both::<L>();
    let cost = Cost::of::<2>();
    assert_eq!(L::NAME, Telltale::NAME);
    assert_eq!(wrapped.quotas(), plain.quotas());
    assert_eq!(wrapped.decide_at(50, cost), plain.decide_at(50, cost));
    assert_eq!(
        wrapped.decide_detailed_at(50, cost),
        plain.decide_detailed_at(50, cost)
    );
    assert_eq!(wrapped.peek_at(50, cost), plain.peek_at(50, cost));
    assert!(wrapped.is_idle_at(4) && !wrapped.is_idle_at(325));
    let clock = ManualClock::new(60);
    assert_eq!(
        wrapped.decide_with(&clock, cost),
        plain.decide_with(&clock, cost)
    );
    assert_eq!(
        wrapped.decide_detailed_with(&clock, cost),
        plain.decide_detailed_with(&clock, cost)
    );
    assert_eq!(
        wrapped.peek_with(&clock, cost),
        plain.peek_with(&clock, cost)
    );
    wrapped.settle_at(5, cost, 3);
    assert!(wrapped.is_idle_at(325) && !wrapped.is_idle_at(1));
    wrapped.reset();
    assert!(wrapped.is_idle_at(1) && !wrapped.is_idle_at(325));
}

/// A change of `wrapped` changes the telltale in it, or nothing if that returns an error.
fn changes_as_itself<L: RateLimiter>(
    wrapped: &mut L,
    change_at: impl Fn(&mut L, Nanos, &Quotas) -> Result<(), BuildError>,
) {
    let more = quotas("20/1s");
    assert_eq!(change_at(wrapped, 0, &more), Err(BuildError::NoQuotas));
    assert_eq!(wrapped.quotas(), quotas("9/1s"));
    change_at(wrapped, 1, &more).unwrap();
    assert_eq!(wrapped.quotas(), more);
}

#[test]
fn a_limiter_in_a_box_answers_as_itself() {
    answers_as_itself::<Box<Telltale>>();
    changes_as_itself(&mut both::<Box<Telltale>>().1, ChangeQuotas::change_at);
}

#[test]
fn a_changeable_limiter_answers_as_itself() {
    answers_as_itself::<Changeable<Telltale>>();
    let change_at =
        |limiter: &mut Changeable<Telltale>, now, quotas: &Quotas| limiter.change_at(now, quotas);
    changes_as_itself(&mut both::<Changeable<Telltale>>().1, change_at);
}

/// A limiter reads the clock for an algorithm that reads none, in each of the three calls.
#[test]
fn the_clock_is_read_for_an_algorithm_that_reads_none() {
    let (plain, cost) = (both::<Telltale>().0, Cost::of::<2>());
    let limiter = Limiter::with_clock(Allows(both::<Telltale>().1), ManualClock::new(60));
    let allowed = limiter.try_acquire_many(2).unwrap();
    let at = allowed.at().map(|at| at.as_nanos() as Nanos).unwrap();
    assert_eq!(Ok(Decision::Allowed { at }), plain.decide_at(60, cost));
    let same = |(allowed, status): (Allowed, Status), detailed: Detailed| {
        let at = allowed.at().map(|at| at.as_nanos() as Nanos).unwrap();
        assert_eq!(Decision::Allowed { at }, detailed.decision());
        assert_eq!(status.remaining(), detailed.remaining());
        assert_eq!(status.quotas(), &plain.quotas());
    };
    same(
        limiter.try_acquire_detailed(2).unwrap(),
        plain.decide_detailed_at(60, cost).unwrap(),
    );
    same(limiter.peek(2).unwrap(), plain.peek_at(60, cost).unwrap());
    assert_eq!(limiter.quotas(), plain.quotas());
    limiter.clock().set(4);
    assert!(limiter.is_idle());
    limiter.reset();
    assert!(!limiter.is_idle());
    limiter.clock().set(1);
    assert!(limiter.is_idle());
}

#[test]
fn a_reservation_settles_its_own_charge() {
    let limiter = Limiter::with_clock(Allows(both::<Telltale>().1), ManualClock::new(4));
    let reservation = limiter.try_reserve(2).unwrap();
    assert_eq!(reservation.at(), Duration::from_nanos(6));
    assert_eq!(reservation.estimate(), 2);
    reservation.settle(3);
    assert!(limiter.algorithm().is_idle_at(326));
    let denies = Limiter::with_clock(both::<Telltale>().1, ManualClock::new(4));
    let denied = denies.try_reserve(2).unwrap_err().denied().unwrap();
    assert_eq!(denied.retry_after(), Duration::from_nanos(6));
    assert_eq!(denied.quota().to_string(), "9/1s");
}

#[test]
fn a_charge_is_of_an_allowed_decision() {
    let estimate = Cost::of::<5>();
    let charge = Decision::Allowed { at: 7 }
        .at()
        .map(|at| Charge::new(at, estimate))
        .unwrap();
    assert_eq!((charge.at(), charge.estimate()), (7, estimate));
    let denied = Decision::Denied(Denial::new(0, Some(7)));
    assert_eq!(denied.at().map(|at| Charge::new(at, estimate)), None);
}

#[test]
fn a_clock_behind_a_pointer_reads_the_same() {
    fn read(clock: impl Clock) -> Nanos {
        clock.now()
    }
    let clock = Arc::new(ManualClock::new(5));
    assert_eq!((read(&*clock), read(clock.clone())), (5, 5));
    clock.advance(Duration::from_nanos(3));
    assert_eq!((read(&*clock), read(clock.clone())), (8, 8));
    clock.set(2);
    assert_eq!((read(&*clock), read(clock.clone())), (2, 2));
    clock.advance(Duration::MAX);
    assert_eq!(read(clock), Nanos::MAX);
}
