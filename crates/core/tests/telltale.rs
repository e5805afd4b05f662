//! Whoever hands a call on hands on all of it: pointers, wrappers, limiters with a clock, reservations.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windowpane_core::clock::ManualClock;
use windowpane_core::{
    AcquireError, BuildError, ChangeQuotas, Changeable, Charge, Clock, Cost, Decision, Denied,
    Detailed, FromQuotas, Limiter, Nanos, PerQuota, Quotas, RateLimiter, Settle,
};

/// A limiter whose every method answers something that no other does.
struct Telltale {
    quotas: Quotas,
    /// What the last call said that answers nothing; it is idle at that time alone.
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

    fn acquire_at(&self, now: Nanos, cost: Cost) -> Result<Decision, AcquireError> {
        let at = now + cost.get();
        Ok(Decision::Allowed { at })
    }

    fn acquire_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        Ok(self.detailed(now, cost.get()))
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        Ok(self.detailed(now, 10 * cost.get()))
    }

    fn reset(&self) {
        self.told.store(1, Ordering::Relaxed);
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        now == self.told.load(Ordering::Relaxed)
    }

    fn acquire_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Decision, AcquireError> {
        let wait = clock.now() + cost.get();
        Ok(Decision::Denied(Denied::new(3, Some(wait))))
    }

    fn acquire_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<Detailed, AcquireError> {
        Ok(self.detailed(clock.now(), 100 * cost.get()))
    }

    fn peek_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Detailed, AcquireError> {
        Ok(self.detailed(clock.now(), 1_000 * cost.get()))
    }
}

impl Settle for Telltale {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        let told = at + 10 * estimate.get() + 100 * actual;
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

    fn acquire_at(&self, now: Nanos, cost: Cost) -> Result<Decision, AcquireError> {
        self.0.acquire_at(now, cost)
    }

    fn acquire_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        self.0.acquire_detailed_at(now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
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

/// `wrapped` answers whatever it is asked as the telltale in it does.
fn answers_as_itself<L: FromQuotas + Settle>() {
    let (plain, wrapped) = both::<L>();
    let cost = Cost::of::<2>();
    assert_eq!(L::NAME, Telltale::NAME);
    assert_eq!(wrapped.quotas(), plain.quotas());
    assert_eq!(wrapped.acquire_at(50, cost), plain.acquire_at(50, cost));
    assert_eq!(
        wrapped.acquire_detailed_at(50, cost),
        plain.acquire_detailed_at(50, cost)
    );
    assert_eq!(wrapped.peek_at(50, cost), plain.peek_at(50, cost));
    assert!(wrapped.is_idle_at(4) && !wrapped.is_idle_at(325));
    let clock = ManualClock::new(60);
    assert_eq!(
        wrapped.acquire_with(&clock, cost),
        plain.acquire_with(&clock, cost)
    );
    assert_eq!(
        wrapped.acquire_detailed_with(&clock, cost),
        plain.acquire_detailed_with(&clock, cost)
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

/// `wrapped` is changed as the telltale in it is: not at all, where that refuses.
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

/// A limiter reads the time where no method of its own does, in each of the three calls.
#[test]
fn the_clock_is_read_for_those_who_are_told_the_time() {
    let (plain, cost) = (both::<Telltale>().0, Cost::of::<2>());
    let limiter = Limiter::with_clock(Allows(both::<Telltale>().1), ManualClock::new(60));
    assert_eq!(limiter.acquire(cost), plain.acquire_at(60, cost));
    assert_eq!(
        limiter.acquire_detailed(cost),
        plain.acquire_detailed_at(60, cost)
    );
    assert_eq!(limiter.peek(cost), plain.peek_at(60, cost));
    assert_eq!(limiter.quotas(), plain.quotas());
    limiter.clock().set(4);
    assert!(limiter.is_idle());
    limiter.reset();
    assert!(!limiter.is_idle());
    limiter.clock().set(1);
    assert!(limiter.is_idle());
}

#[test]
fn a_reservation_settles_what_was_charged_when_it_was() {
    let limiter = Limiter::with_clock(Allows(both::<Telltale>().1), ManualClock::new(4));
    let reservation = limiter.reserve(Cost::of::<2>()).unwrap().unwrap();
    assert_eq!(reservation.at(), 6);
    assert_eq!(reservation.estimate(), Cost::of::<2>());
    reservation.settle(3);
    assert!(limiter.algorithm().is_idle_at(326));
    let denies = Limiter::with_clock(both::<Telltale>().1, ManualClock::new(4));
    let Err(denied) = denies.reserve(Cost::of::<2>()).unwrap() else {
        panic!("what was denied is not charged")
    };
    assert_eq!(denied, Denied::new(3, Some(6)));
}

#[test]
fn a_charge_is_of_an_allowed_decision() {
    let estimate = Cost::of::<5>();
    let charge = Charge::of(Decision::Allowed { at: 7 }, estimate).unwrap();
    assert_eq!((charge.at(), charge.estimate()), (7, estimate));
    let denied = Decision::Denied(Denied::new(0, Some(7)));
    assert_eq!(Charge::of(denied, estimate), None);
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
