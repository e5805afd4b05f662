//! Faults that users of other limiters met, each by its number in the project's list of cases, run
//! on every limiter of the registry: the exact ones against exact values, the others against what
//! their own rule says.

mod costs;
mod every;
mod quotas;
mod threads;
mod time;
