//! The limiters of this workspace: all ways to build one derive from its entry in the
//! [table](crate::table).

pub(crate) mod replayed;
pub(crate) mod sharded;
pub mod soaked;
pub(crate) mod stores;

use std::hint::black_box;

use windowpane_core::{Cost, Decision, Quota, Quotas, RateLimiter, RequestError};
use windowpane_lab_ground::clock::{LabClock, SimulatedClock};

use crate::registry::{Algorithm, BuildOptions};
use crate::{Cannot, ContestClock, Contestant, Decide, Info, Instance, Told};

/// A built limiter beside a clock, its type known.
struct OnClock<L, C> {
    limiter: L,
    clock: C,
}

impl<L: RateLimiter, C: ContestClock> Decide for OnClock<L, C> {
    #[inline]
    fn decide(&self) -> bool {
        black_box(self.limiter.decide_with(&self.clock, Cost::ONE))
            .is_ok_and(|decision| decision.is_allowed())
    }

    fn decide_cost(&self, cost: Cost) -> Result<Told, Cannot> {
        match self.limiter.decide_with(&self.clock, cost) {
            Ok(Decision::Allowed { .. }) => Ok(Told::ALLOWED),
            Ok(Decision::Denied(denied)) => Ok(Told::denied(denied.retry_after_nanos())),
            Err(RequestError::NeverFits { .. }) => Ok(Told::denied(None)),
            Err(error) => Err(Cannot(error.to_string())),
        }
    }
}

/// A limiter of ours on a clock of the laboratory: loops over it are compiled for `L`.
pub fn on_clock<L: RateLimiter + 'static>(limiter: L, clock: LabClock) -> Box<dyn Instance> {
    match clock {
        LabClock::Bench(clock) => Box::new(OnClock { limiter, clock }),
        LabClock::Stalling(clock) => Box::new(OnClock { limiter, clock }),
        LabClock::Simulated => Box::new(OnClock {
            limiter,
            clock: SimulatedClock,
        }),
    }
}

impl Contestant for Algorithm {
    fn info(&self) -> Info {
        self.info
    }

    fn build(&self, quota: Quota, clock: LabClock) -> Result<Box<dyn Instance>, Cannot> {
        self.build_for(&quota.into(), clock)
    }

    fn build_for(&self, quotas: &Quotas, clock: LabClock) -> Result<Box<dyn Instance>, Cannot> {
        let options = BuildOptions::starting_at(clock.now());
        (self.on_clock)(quotas, options, clock).map_err(|error| Cannot(error.to_string()))
    }
}

/// Declares the limiters of ours as the static `OURS`: an entry says once how its limiter is built,
/// and all other ways to build it follow. `many_keys` is `limiter`, a type that stores hold for each
/// key, or `rule`, a rule of one word that the flat table holds, too. The entry's identifier is the
/// stem of its code's files.
macro_rules! ours {
    ($($stem:ident {
        name: $name:literal,
        $(variant: $variant:literal,)?
        limiter: |$quotas:pat_param, $options:pat_param| $limiter:expr,
        $(soaked: |$soak_quotas:pat_param| $soaked:expr,)?
        many_keys: $kind:ident $type:ty,
        in_a_store: $in_a_store:literal,
        rule: $rule:expr,
        promise: $promise:expr,
        costs_take_long: $costs_take_long:literal,
        lock_free: $lock_free:literal,
        $(target: $target:literal,)?
        about: $about:literal,
        cannot: $cannot:literal,
        memory: $memory:literal,
        memory_at_most: $memory_at_most:expr,
        bytes_of_a_key: $bytes_of_a_key:expr,
    })*) => {
        /// The limiters of this workspace, the oracle first.
        pub(crate) static OURS: &[$crate::table::Entry] = &[$({
            use windowpane_core::Quotas;
            use $crate::ours::soaked::Promise;
            use $crate::registry::BuildOptions;

            const PROMISE: Promise = $promise;
            static ALGORITHM: $crate::registry::Algorithm = $crate::registry::Algorithm {
                info: $crate::Info {
                    name: $name,
                    origin: $crate::Origin::Ours,
                    rule: $rule,
                    keeps_quota: PROMISE.times_the_limit == 1,
                    costs_take_long: $costs_take_long,
                    about: $about,
                    clock: $crate::SHARED_CLOCK,
                    cannot: $cannot,
                    memory: $memory,
                    memory_at_most: Some($memory_at_most),
                },
                is_variant: false $(|| $variant)?,
                target: $crate::ours::last!(None $(, Some($target))?),
                build: |$quotas, $options| Ok(Box::new($limiter)),
                on_clock: |$quotas, $options, clock| Ok($crate::ours::on_clock($limiter, clock)),
                store: $crate::ours::store!($kind $type, |$quotas, $options| $limiter),
                soaked: $crate::ours::soak!(
                    $kind $type,
                    $name,
                    PROMISE,
                    $crate::ours::last!(
                        |$quotas: &Quotas, $options: BuildOptions| Ok($limiter)
                        $(, |$soak_quotas: &Quotas, _: BuildOptions| Ok($soaked))?
                    )
                ),
            };
            static STORES: &[&dyn $crate::keyed::KeyedContestant] =
                $crate::ours::many_keys!($kind $type, $name, $in_a_store, $bytes_of_a_key);
            $crate::table::Entry {
                one_key: &ALGORITHM,
                many_keys: match ALGORITHM.is_variant {
                    true => &[],
                    false => STORES,
                },
                code: Some($crate::code::Code {
                    flat: $crate::ours::flat_code!($kind stringify!($stem)),
                    ..$crate::code::code_of!(stringify!($stem))
                }),
                algorithm: Some(&ALGORITHM),
                lock_free: $lock_free,
                exhibit: None,
            }
        }),*];

        #[cfg(test)]
        mod code_of_ours {
            $(mod $stem {
                $crate::code::test_code!(stringify!($stem));
                $crate::ours::test_flat_code!($kind stringify!($stem));
            })*
        }
    };
}

/// The last of what is given: a default, and what overrides it.
macro_rules! last {
    ($default:expr) => {
        $default
    };
    ($default:expr, $given:expr) => {
        $given
    };
}

/// How a store of a replay is built.
macro_rules! store {
    (limiter $type:ty, |$quotas:pat_param, $options:pat_param| $limiter:expr) => {
        |quotas, options| {
            $crate::ours::replayed::store_of(quotas, options, move |$quotas, start| {
                let $options = $crate::registry::BuildOptions { start, ..options };
                Ok($limiter)
            })
        }
    };
    (rule $type:ty, |$quotas:pat_param, $options:pat_param| $limiter:expr) => {
        |quotas, _| $crate::ours::replayed::store::<windowpane_keyed::SharedRule<$type>>(quotas)
    };
}

/// The limiter and its stores as they are soaked.
macro_rules! soak {
    (limiter $type:ty, $name:literal, $promise:expr, $make:expr) => {
        &[
            $crate::ours::soaked::Soaked {
                name: $name,
                promise: $promise,
                build: |quotas, clock| $crate::ours::soaked::one($make, quotas, clock),
            },
            $crate::ours::soaked::Soaked {
                name: concat!("keyed ", $name),
                promise: $promise,
                build: |quotas, clock| $crate::ours::soaked::keyed::<$type>($make, quotas, clock),
            },
        ]
    };
    (rule $type:ty, $name:literal, $promise:expr, $make:expr) => {
        &[
            $crate::ours::soaked::Soaked {
                name: $name,
                promise: $promise,
                build: |quotas, clock| $crate::ours::soaked::one($make, quotas, clock),
            },
            $crate::ours::soaked::Soaked {
                name: concat!("keyed ", $name),
                promise: $promise,
                build: $crate::ours::soaked::keyed_rule::<$type>,
            },
            $crate::ours::soaked::Soaked {
                name: concat!("flat ", $name),
                promise: $promise.of_fixed_quotas(),
                build: $crate::ours::soaked::flat::<$type>,
            },
        ]
    };
}

/// The stores of many keys that are measured.
macro_rules! many_keys {
    (limiter $type:ty, $name:literal, $in_a_store:literal, $bytes:expr) => {
        &[&$crate::ours::stores::Sharded::<$type>::new(
            concat!("store/", $name),
            concat!("the sharded map, ", $in_a_store),
            $bytes,
        )]
    };
    (rule $type:ty, $name:literal, $in_a_store:literal, $bytes:expr) => {
        &[
            &$crate::ours::stores::Flat::<$type>::new(
                concat!("flat/", $name),
                concat!("the flat table, ", $in_a_store),
            ),
            &$crate::ours::stores::Sharded::<windowpane_keyed::SharedRule<$type>>::new(
                concat!("store/", $name),
                concat!("the sharded map, ", $in_a_store, ", its constants shared"),
                $bytes,
            ),
        ]
    };
}

/// The code that builds the flat table, where the table holds the limiter.
macro_rules! flat_code {
    (limiter $stem:expr) => {
        None
    };
    (rule $stem:expr) => {
        Some(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/snippets/",
            $stem,
            "_flat.rs"
        )))
    };
}

/// Compiles and runs that code in tests.
#[cfg(test)]
macro_rules! test_flat_code {
    (limiter $stem:expr) => {};
    (rule $stem:expr) => {
        mod flat {
            include!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/snippets/",
                $stem,
                "_flat.rs"
            ));

            #[test]
            fn runs() {
                main().unwrap();
            }
        }
    };
}

#[cfg(test)]
pub(crate) use test_flat_code;
pub(crate) use {flat_code, last, many_keys, ours, soak, store};
