//! Throughput, latency, memory and accuracy, by rules that the types keep.
