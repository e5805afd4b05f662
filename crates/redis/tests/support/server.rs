//! A server of a test's own: on a free port of loopback, with a temporary folder, ended with it.

#![allow(dead_code, unreachable_pub)]

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What runs the protocol, in the order in which they are looked for.
const SERVERS: [&str; 2] = ["redis-server", "valkey-server"];

/// A running server.
pub struct Server {
    child: Child,
    program: &'static str,
    arguments: Vec<String>,
    port: u16,
    folder: TempDir,
}

/// The program that serves; `None`, and said plainly, where there is none.
fn program() -> Option<&'static str> {
    let runs = |program: &&&str| {
        Command::new(program)
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    let found = SERVERS.iter().find(runs).copied();
    if found.is_none() {
        // Past the harness, which keeps what a passing test prints to itself.
        let line =
            "skipped: redis-server not found, install it with `apt-get install redis-server`";
        let name = std::thread::current().name().unwrap_or("test").to_owned();
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            format!("{name}: {line}\n").as_bytes(),
        );
    }
    found
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}

impl Server {
    /// A server, or `None` (told on stderr) where none is installed.
    pub fn start() -> Option<Server> {
        Server::start_with(&[])
    }

    /// A server with further settings, such as `["--maxmemory", "2mb"]`.
    pub fn start_with(settings: &[&str]) -> Option<Server> {
        let program = program()?;
        let arguments: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
        // The port was free a moment ago; if somebody else took it, another is tried.
        for _ in 0..5 {
            let port = free_port();
            let folder = tempfile::tempdir().expect("a temporary folder");
            let mut child = spawn(program, port, &folder, &arguments);
            if answers(&mut child, port) {
                return Some(Server {
                    child,
                    program,
                    arguments,
                    port,
                    folder,
                });
            }
            end(&mut child);
        }
        panic!("{program} does not start on any of five ports");
    }

    /// A node of a cluster that knows no other yet.
    pub fn start_cluster_node() -> Option<Server> {
        let bus = free_port().to_string();
        let mut settings = vec!["--cluster-enabled", "yes", "--cluster-port", &bus];
        settings.extend(["--cluster-node-timeout", "500"]);
        settings.extend(["--cluster-require-full-coverage", "no"]);
        Server::start_with(&settings)
    }

    /// Where the other nodes of a cluster reach it.
    pub fn cluster_port(&self) -> u16 {
        let bus = self.arguments.iter().skip_while(|a| *a != "--cluster-port");
        bus.skip(1)
            .find_map(|port| port.parse().ok())
            .expect("a cluster's node")
    }

    /// What runs it.
    pub fn program(&self) -> &'static str {
        self.program
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address, as a client takes it.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// A plain connection, for what a test does behind the limiter's back.
    pub fn connection(&self) -> redis::Connection {
        let client = redis::Client::open(self.url()).expect("an address");
        client.get_connection().expect("a connection")
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        end(&mut self.child);
    }

    /// Starts it again after [`kill`](Self::kill), on the same port, and waits until it answers.
    pub fn restart(&mut self) {
        for _ in 0..5 {
            self.child = spawn(self.program, self.port, &self.folder, &self.arguments);
            if answers(&mut self.child, self.port) {
                return;
            }
            end(&mut self.child);
        }
        panic!("{} does not start again", self.program);
    }

    /// Stops it where it stands; connections stay up and nothing is answered.
    pub fn suspend(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on after [`suspend`](Self::suspend).
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args([signal, &id]).status();
        assert!(status.is_ok_and(|s| s.success()), "kill {signal} {id}");
    }

    /// Every key has a time to live, and none above two windows (in whole milliseconds, at least 2).
    /// Answers how many keys there are.
    pub fn check_lives(&self, window: Duration) -> usize {
        let mut connection = self.connection();
        let mut keys: Vec<Vec<u8>> = redis::cmd("KEYS").arg("*").query(&mut connection).unwrap();
        // That of a probe lives for two milliseconds.
        keys.retain(|key| !key.ends_with(b":probe"));
        let two_windows = (2 * window.as_micros()).div_ceil(1_000).max(2) as i64;
        for key in &keys {
            let life: i64 = redis::cmd("PTTL").arg(key).query(&mut connection).unwrap();
            let name = String::from_utf8_lossy(key);
            // −2: it went between the two commands.
            assert_ne!(life, -1, "{name} lives forever");
            assert!(
                life <= two_windows,
                "{name} lives {life} ms, two windows are {two_windows} ms"
            );
        }
        keys.len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn spawn(program: &str, port: u16, folder: &TempDir, settings: &[String]) -> Child {
    Command::new(program)
        .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
        .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
        .arg("--dir")
        .arg(folder.path())
        .args(settings)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts")
}

/// Waits until it answers; `false` if it ended instead.
fn answers(child: &mut Child, port: u16) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        if child.try_wait().is_ok_and(|ended| ended.is_some()) {
            return false;
        }
        let answer = redis::Client::open(format!("redis://127.0.0.1:{port}/"))
            .and_then(|client| client.get_connection_with_timeout(Duration::from_secs(1)))
            .and_then(|mut connection| redis::cmd("PING").query::<String>(&mut connection));
        if answer.is_ok() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
