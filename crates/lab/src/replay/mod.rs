//! Recorded requests through the limiters, compared with the oracle.
