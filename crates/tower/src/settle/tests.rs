use super::*;

fn used(end: End, bytes: u64) -> Used {
    Used {
        estimate: Cost::ONE,
        metered: None,
        status: None,
        bytes,
        end,
    }
}

#[test]
fn bytes_are_charged_by_the_unit_begun_but_leaving_early_is_not_free() {
    assert_eq!(used(End::Complete, 0).bytes_sent(1000), Some(0));
    assert_eq!(used(End::Complete, 1).bytes_sent(1000), Some(1));
    assert_eq!(used(End::Dropped, 1000).bytes_sent(1000), Some(1));
    assert_eq!(used(End::Failed, 1001).bytes_sent(1000), Some(2));
    assert_eq!(used(End::Complete, 7).bytes_sent(0), Some(7));
    assert_eq!(used(End::NoResponse, 0).bytes_sent(1000), None);
}

#[test]
fn a_meter_tells_nothing_from_none() {
    let meter = Meter::new();
    assert_eq!(meter.reported(), None);
    meter.add(0);
    assert_eq!(meter.reported(), Some(0));
    meter.clone().add(7);
    assert_eq!(meter.reported(), Some(7));
    meter.add(u64::MAX);
    assert_eq!(meter.reported(), Some(u64::MAX - 1));
    meter.set(u64::MAX);
    assert_eq!(meter.reported(), Some(u64::MAX - 1));
    meter.set(3);
    assert_eq!(meter.reported(), Some(3));
}

/// A settlement that notes how the response ended.
fn noting(seen: &Arc<Mutex<Vec<Used>>>) -> Settlement {
    let seen = Arc::clone(seen);
    let using: Using = Arc::new(move |used: &Used| {
        if used.end != End::Running {
            seen.lock().unwrap().push(used.clone());
        }
        None
    });
    let settling = Settling::new(Cost::ONE, using, &Meanwhile::default(), None, |_, _| {});
    Settlement::new([settling].into_iter().collect(), Meter::new())
}

#[test]
fn a_charge_is_settled_once_by_how_the_response_ended() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut settlement = noting(&seen);
    settlement.responded(&Response::new(()));
    settlement.sent(5);
    settlement.end(End::Complete);
    drop(settlement);
    drop(noting(&seen));
    let ends = |seen: &Mutex<Vec<Used>>| -> Vec<(End, u64)> {
        let seen = mem::take(&mut *seen.lock().unwrap());
        seen.iter().map(|used| (used.end, used.bytes)).collect()
    };
    assert_eq!(ends(&seen), [(End::Complete, 5), (End::NoResponse, 0)]);

    // A server that has sent the promised length drops the body without asking for its end.
    for sent in [4, 5] {
        let mut settlement = noting(&seen);
        let promised = Response::builder().header(header::CONTENT_LENGTH, 5);
        settlement.responded(&promised.body(()).unwrap());
        settlement.sent(sent);
    }
    assert_eq!(ends(&seen), [(End::Dropped, 4), (End::Complete, 5)]);
}

#[test]
fn a_panicking_hook_harms_no_other() {
    let replaced = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&replaced);
    let panics: Using = Arc::new(|_| panic!("a hook's own fault"));
    let works: Using = Arc::new(|used| Some(used.bytes));
    let meanwhile = Meanwhile::default();
    let settlings = [
        Settling::new(Cost::ONE, panics, &meanwhile, None, |_, _| {}),
        Settling::new(
            Cost::ONE,
            works,
            &meanwhile,
            None,
            move |charged, actual| {
                to.lock().unwrap().push((charged.get(), actual));
            },
        ),
    ];
    let mut settlement = Settlement::new(settlings.into_iter().collect(), Meter::new());
    settlement.sent(7);
    drop(settlement);
    assert_eq!(*replaced.lock().unwrap(), [(1, 7)]);
}
