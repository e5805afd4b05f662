//! Encrypted connections, with certificates made for the test.

#![cfg(any(feature = "tls-rustls", feature = "tls-native"))]

mod support;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use support::server::free_port;
use support::{AMPLE, Server};
use windowpane_core::Cost;
use windowpane_redis::{By, ConfigError, Log, RedisLimiter, Store, Tls};

/// Makes `name.pem` and `name.key` in `folder`, signed by `authority.pem` or by itself.
fn certificate(folder: &Path, name: &str, is_authority: bool) {
    let mut command = Command::new("openssl");
    command
        .current_dir(folder)
        .args(["req", "-x509", "-nodes", "-days", "2"]);
    command.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]);
    command.args(["-subj", &format!("/CN={name}")]);
    command.args([
        "-keyout",
        &format!("{name}.key"),
        "-out",
        &format!("{name}.pem"),
    ]);
    if !is_authority {
        command.args(["-CA", "authority.pem", "-CAkey", "authority.key"]);
        command.args(["-addext", "subjectAltName=IP:127.0.0.1"]);
        command.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    }
    let made = command.output().unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
}

/// A server that demands a certificate of its clients, and its encrypted address.
fn server(folder: &Path) -> Option<(Server, String)> {
    let has_openssl = Command::new("openssl").arg("version").output().is_ok();
    if !has_openssl {
        eprintln!("skipped: openssl not found, install it with `apt-get install openssl`");
        return None;
    }
    certificate(folder, "authority", true);
    certificate(folder, "other", true);
    certificate(folder, "server", false);
    certificate(folder, "client", false);
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let port = free_port();
    let settings = [
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &file("server.pem"),
        "--tls-key-file",
        &file("server.key"),
        "--tls-ca-cert-file",
        &file("authority.pem"),
        "--tls-auth-clients",
        "yes",
    ];
    let server = Server::start_with(&settings)?;
    Some((server, format!("rediss://127.0.0.1:{port}/")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_own_authority_and_a_client_certificate_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_server, url)) = server(folder.path()) else {
        return;
    };
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let both = Tls::default()
        .authority(read("authority.pem"))
        .client(read("client.pem"), read("client.key"));
    let options = |tls: &Tls| {
        let options = Store::at(&url).unwrap().tls(tls).unwrap();
        options.connect_timeout(AMPLE).deadline(AMPLE)
    };
    let store = options(&both).connect_within(AMPLE).await.unwrap();
    let limiter = RedisLimiter::<Log>::new(store, "5/60s").unwrap();
    let decided = limiter.decide("k", Cost::ONE).await.unwrap();
    assert_eq!(decided.by, By::Store);

    let refused = Duration::from_secs(1);
    let anonymous = Tls::default().authority(read("authority.pem"));
    assert!(options(&anonymous).connect_within(refused).await.is_err());
    let stranger = Tls::default()
        .authority(read("other.pem"))
        .client(read("client.pem"), read("client.key"));
    let error = options(&stranger)
        .connect_within(refused)
        .await
        .unwrap_err();
    assert!(error.reason.contains("ertificate"), "{}", error.reason);
}

#[test]
fn certificates_need_an_encrypted_address_and_pem() {
    let plain = Store::at("redis://user:secret@127.0.0.1/").unwrap();
    let error = plain.tls(&Tls::default()).unwrap_err();
    assert!(matches!(error, ConfigError::Address { .. }), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
    let encrypted = Store::at("rediss://127.0.0.1/").unwrap();
    let broken = Tls::default().client("no certificate", "no key");
    assert!(encrypted.tls(&broken).is_err());
}
