//! The command is ended from outside.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::support::Folder;

const ARGUMENTS: &str =
    "--quota 3/10s --algorithm mutex-log --decisions out.csv --report page.html -";

/// How long anything may take on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        sleep(Duration::from_millis(5));
    }
}

/// The command in the midst of its input, with an output begun and the rest of the input to come.
fn begun(folder: &Folder, mut command: Command) -> (Child, ChildStdin) {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"time\n0\n").unwrap();
    until("no output was begun", || !folder.names().is_empty());
    (child, stdin)
}

fn send(signal: &str, child: &Child) {
    let process = child.id().to_string();
    let mut kill = Command::new("kill");
    let sent = kill.arg(format!("-{signal}")).arg(process).status();
    assert!(sent.unwrap().success());
}

#[test]
fn no_half_written_file_is_left() {
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        if signal == "HUP" && hang_ups_are_ignored() {
            // The tests themselves run under `nohup`, and so does what they start.
            continue;
        }
        let folder = Folder::new();
        let (mut child, stdin) = begun(&folder, folder.command(ARGUMENTS));
        send(signal, &child);
        // It waits for input all the while, and must not wait for more.
        until(signal, || child.try_wait().unwrap().is_some());
        assert_eq!(child.wait().unwrap().code(), Some(status), "{signal}");
        drop(stdin);
        assert_eq!(folder.names(), [] as [&str; 0], "{signal}");
    }
}

fn hang_ups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| {
        mask.trim()
            .ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f'])
    })
}

#[cfg(target_os = "linux")]
#[test]
fn under_nohup_a_hang_up_is_ignored() {
    let folder = Folder::new();
    let replay = folder.command(ARGUMENTS);
    let mut command = Command::new("sh");
    command
        .args(["-c", r#"trap "" HUP; exec "$@""#, "sh"])
        .arg(replay.get_program())
        .args(replay.get_args())
        .current_dir(folder.path())
        .stdout(Stdio::null());
    let (mut child, stdin) = begun(&folder, command);
    send("HUP", &child);
    sleep(Duration::from_millis(100));
    drop(stdin);
    until("it did not end with its input", || {
        child.try_wait().unwrap().is_some()
    });
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(folder.names(), ["out.csv", "page.html"]);
}
