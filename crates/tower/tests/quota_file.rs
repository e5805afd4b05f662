//! Quotas from a file: what is taken, what is refused and why, and that the old stay in force then.

mod common;

use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use common::bounded::bounded;
use common::fields::members;
use common::{by_peer, request, send};
use windowpane_cas_ring::CasRing;
use windowpane_core::Quotas;
use windowpane_keyed::KeyedLimiter;
use windowpane_tower::RateLimitBuilder;
use windowpane_tower::reload::{FileError, QuotaFile, Reload, Reloaded, Watch};

struct File {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl File {
    fn new(text: &str) -> File {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quotas.toml");
        fs::write(&path, text).unwrap();
        File {
            _folder: folder,
            path,
        }
    }

    fn write(&self, text: &str) {
        fs::write(&self.path, text).unwrap();
    }
}

/// Takes the quotas of `address`, which must be there.
fn taker(
    taken: &Arc<Mutex<Vec<String>>>,
) -> impl FnMut(&QuotaFile) -> Result<(), FileError> + use<> {
    let taken = Arc::clone(taken);
    move |file: &QuotaFile| {
        let quotas = file.get("address");
        let quotas = quotas.ok_or_else(|| FileError::new("there is no table [address]"))?;
        taken.lock().unwrap().push(quotas.to_string());
        Ok(())
    }
}

#[test]
fn a_file_is_read_when_it_has_changed_and_a_bad_one_leaves_the_old_quotas() {
    let file = File::new("[address]\nquotas = [\"100/60s\", \"10/1s\"]\n");
    let taken = Arc::default();
    let mut reload = Reload::new(&file.path, taker(&taken)).unwrap();
    assert_eq!(reload.check(), Reloaded::Unchanged);

    for (text, line, why) in [
        (
            "[address]\n\nquotas = [\"100/60s\",\n  \"ten\"]\n",
            4,
            "malformed quota `ten`",
        ),
        (
            "[address]\nquotas = [\"100/60\"]\n",
            2,
            "malformed window `60`",
        ),
        ("[address]\nquotas = [\"1/0s\"]\n", 2, "a window of 0"),
        ("[address]\nquotas = []\n", 2, "no quota given"),
        ("[address]\nquotas = \"100/60s\"\n", 2, "invalid type"),
        (
            "[address]\nquota = [\"100/60s\"]\n",
            2,
            "unknown field `quota`",
        ),
        ("[address\nquotas = []\n", 1, "]"),
        ("# caf\u{e9}\n[address]\n", 2, "missing field `quotas`"),
    ] {
        file.write(text);
        let Reloaded::Rejected(error) = reload.check() else {
            panic!("{text} was taken");
        };
        assert_eq!(error.line(), Some(line), "{error}");
        let told = error.to_string();
        assert!(told.contains(&format!("quotas.toml:{line}: ")), "{told}");
        assert!(told.contains(why), "{told}");
        assert_eq!(reload.check(), Reloaded::Unchanged, "told once");
    }

    // What the taker refuses, and what cannot be read.
    file.write("[adress]\nquotas = [\"100/60s\"]\n");
    let Reloaded::Rejected(error) = reload.check() else {
        panic!("a table of another name was taken");
    };
    assert!(
        error
            .to_string()
            .ends_with("quotas.toml: there is no table [address]")
    );
    fs::remove_file(&file.path).unwrap();
    assert!(matches!(reload.check(), Reloaded::Rejected(_)));
    assert_eq!(reload.check(), Reloaded::Unchanged);
    assert_eq!(taken.lock().unwrap()[..], ["100/60s and 10/1s"]);

    file.write("[address]\nquotas = [\"200/60s\"]\n");
    assert_eq!(reload.check(), Reloaded::Applied);
    assert_eq!(taken.lock().unwrap()[..], ["100/60s and 10/1s", "200/60s"]);
}

#[test]
fn a_service_does_not_start_on_a_file_that_is_missing_empty_or_wrong() {
    let file = File::new("");
    for path in [file.path.clone(), file.path.with_extension("none")] {
        let error = Reload::new(&path, |_| Ok(())).unwrap_err();
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
    }
    file.write("[address]\nquotas = 5\n");
    assert!(Reload::new(&file.path, |_| Ok(())).is_err());
}

#[test]
fn a_watch_tells_of_changes_until_it_is_dropped() {
    let file = File::new("[address]\nquotas = [\"1/60s\"]\n");
    let taken = Arc::default();
    let reload = Reload::new(&file.path, taker(&taken)).unwrap();
    let (tell, told) = mpsc::channel();
    let watch = reload
        .watch(Duration::from_millis(5), move |change| {
            tell.send(change).unwrap()
        })
        .unwrap();
    let patience = Duration::from_secs(20);
    file.write("[address]\nquotas = [\"2/60s\"]\n");
    // A write is not one step: what is seen in the middle of it is refused or taken in turn.
    while told.recv_timeout(patience).unwrap() != Reloaded::Applied {}
    file.write("[address]\nquotas = [\"2/60\"]\n");
    loop {
        match told.recv_timeout(patience).unwrap() {
            Reloaded::Rejected(error) if error.line() == Some(2) => break,
            _ => {}
        }
    }
    drop(watch);
    assert_eq!(told.recv(), Err(mpsc::RecvError), "its thread has ended");
    assert_eq!(taken.lock().unwrap().last().unwrap(), "2/60s");
}

#[test]
fn a_watch_may_be_dropped_by_the_function_it_calls() {
    bounded(|| {
        let file = File::new("[address]\nquotas = [\"1/60s\"]\n");
        let reload = Reload::new(&file.path, |_| Ok(())).unwrap();
        let own: Arc<Mutex<Option<Watch>>> = Arc::default();
        let held = Arc::clone(&own);
        let (tell, told) = mpsc::channel();
        let watch = reload.watch(Duration::from_millis(5), move |_| {
            drop(held.lock().unwrap().take());
            tell.send("dropped").unwrap();
        });
        *own.lock().unwrap() = Some(watch.unwrap());
        file.write("[address]\nquotas = [\"2/60s\"]\n");
        assert_eq!(told.recv(), Ok("dropped"));
        assert_eq!(told.recv(), Err(mpsc::RecvError), "its thread has ended");
    });
}

#[tokio::test]
async fn new_quotas_hold_from_the_next_request_on_and_what_was_used_is_kept() {
    let file = File::new("[address]\nquotas = [\"3/60s\"]\n");
    let quotas = Quotas::parse(["3/60s"]).unwrap();
    // Rings with room for larger limits, up to 16.
    let store: KeyedLimiter<IpAddr, CasRing> = KeyedLimiter::builder_with(quotas, |quotas, _| {
        CasRing::with_capacity(quotas.clone(), 16)
    })
    .build()
    .unwrap();
    let store = Arc::new(store);
    let changed = Arc::clone(&store);
    let mut reload = Reload::new(&file.path, move |file| {
        let quotas = file
            .get("address")
            .ok_or_else(|| FileError::new("no [address]"))?;
        let set = changed.set_quotas(quotas.clone());
        set.and_then(|()| changed.refresh())
            .map(drop)
            .map_err(|error| FileError::new(error.to_string()))
    })
    .unwrap();
    let layer = RateLimitBuilder::new(store, by_peer()).build();
    let ask = async || send(&layer, request("192.0.2.1", &[])).await;
    for status in [200, 200] {
        assert_eq!(ask().await.status().as_u16(), status);
    }
    file.write("[address]\nquotas = [\"2/60s\"]\n");
    assert_eq!(reload.check(), Reloaded::Applied);
    let response = ask().await;
    assert_eq!(response.status().as_u16(), 429);
    assert_eq!(
        members(&response, "ratelimit-policy")[0].integer("q"),
        Some(2)
    );
    file.write("[address]\nquotas = [\"3/60s\", \"9/1h\"]\n");
    assert_eq!(reload.check(), Reloaded::Applied);
    assert_eq!(ask().await.status().as_u16(), 200);
    assert_eq!(ask().await.status().as_u16(), 429);
    // What the algorithm cannot hold is refused, and nothing has changed.
    file.write("[address]\nquotas = [\"17/60s\"]\n");
    let Reloaded::Rejected(error) = reload.check() else {
        panic!("a ring of 16 took a limit of 17");
    };
    assert!(error.to_string().contains("limits up to 16"), "{error}");
    assert_eq!(ask().await.status().as_u16(), 429);
    let other = send(&layer, request("192.0.2.2", &[])).await;
    let limits: Vec<_> = members(&other, "ratelimit-policy");
    assert_eq!((limits.len(), limits[1].integer("q")), (2, Some(9)));
}
