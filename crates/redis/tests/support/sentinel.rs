//! One sentinel, which fails over on its own.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::Server;

/// A sentinel that watches the server named `quotas`.
pub struct Sentinel {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Sentinel {
    /// A sentinel of `primary`, when it knows that `replica` follows.
    pub fn of(primary: &Server, replica: &Server) -> Sentinel {
        until("the replica follows", || {
            let info: String = redis::cmd("INFO").query(&mut replica.connection()).unwrap();
            info.contains("master_link_status:up")
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sentinel.conf");
        let settings = format!(
            "bind 127.0.0.1\nport {port}\nsentinel monitor quotas 127.0.0.1 {} 1\nsentinel \
             down-after-milliseconds quotas 300\nsentinel failover-timeout quotas 3000\n",
            primary.port()
        );
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new(primary.program());
        command.arg(&file).arg("--sentinel");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let sentinel = Sentinel {
            child: command.spawn().unwrap(),
            port,
            _folder: folder,
        };
        until("the sentinel knows both", || {
            let client = redis::Client::open(sentinel.url()).unwrap();
            let info: redis::RedisResult<String> = client
                .get_connection()
                .and_then(|mut connection| redis::cmd("INFO").query(&mut connection));
            info.is_ok_and(|info| info.contains("slaves=1"))
        });
        sentinel
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "not in time: {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
