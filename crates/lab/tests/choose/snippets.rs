//! Every piece of code that `lab choose` can print is compiled here, and run.

use std::collections::BTreeSet;

macro_rules! compiled {
    ($($name:ident)*) => {
        $(mod $name {
            include!(concat!("../../src/choose/snippets/", stringify!($name), ".rs"));

            #[test]
            fn runs() {
                main().unwrap();
            }
        })*

        const COMPILED: &[&str] = &[$(stringify!($name)),*];
    };
}

compiled! {
    bucket_ring bucket_ring_keyed
    cas_ring cas_ring_keyed
    fixed_window fixed_window_keyed
    gcra gcra_keyed
    governor governor_keyed
    mutex_log mutex_log_keyed
    mutex_log_parking_lot mutex_log_parking_lot_keyed
    packed_counter packed_counter_keyed
    plain_log plain_log_keyed
    rate_net_counter rate_net_counter_keyed
    rate_net_log rate_net_log_keyed
    ratelimit ratelimit_keyed
    trypema trypema_keyed
}

#[test]
fn none_is_left_out() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/choose/snippets");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_string()
        })
        .collect();
    let compiled: BTreeSet<String> = COMPILED.iter().map(ToString::to_string).collect();
    assert_eq!(files, compiled);
}
