//! The command, in a folder of its own.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// An empty folder in which the command runs.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    /// A folder that holds one file.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Folder {
        let folder = Folder::new();
        folder.write(name, content);
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), content).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8(self.read_bytes(name)).expect("text")
    }

    pub(crate) fn read_bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names of what it holds, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path())
            .expect("the folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("text")
            })
            .collect();
        names.sort();
        names
    }

    /// The command `lab replay` with arguments divided by blanks.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
        command
            .arg("replay")
            .args(arguments.split_whitespace())
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn replay(&self, arguments: &str) -> Replayed {
        Replayed(self.command(arguments).output().expect("the command runs"))
    }

    /// The same with `input` on its standard input.
    pub(crate) fn replay_from(&self, input: &[u8], arguments: &str) -> Replayed {
        let mut child = self.spawn(arguments);
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // It may end before it has read all.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().expect("the command runs");
        writer.join().expect("written");
        Replayed(output)
    }

    /// Starts it with pipes on all sides.
    pub(crate) fn spawn(&self, arguments: &str) -> Child {
        self.command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts")
    }
}

/// What the command did.
pub(crate) struct Replayed(Output);

impl Replayed {
    pub(crate) fn status(&self) -> Option<i32> {
        self.0.status.code()
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// What it printed, having succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.status(), Some(0), "{}", self.stderr());
        self.stdout()
    }
}

/// The rows of a CSV without its header, each field a text.
pub(crate) fn rows(csv: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let row = |record: csv::Result<csv::StringRecord>| {
        record.expect("a record").iter().map(String::from).collect()
    };
    reader.records().map(row).collect()
}

/// One column of the rows of a CSV, found by its header.
pub(crate) fn column(csv: &str, name: &str) -> Vec<String> {
    let header = csv.lines().next().unwrap_or_default();
    let index = header.split(',').position(|column| column == name);
    let index = index.unwrap_or_else(|| panic!("no column {name} in {header}"));
    rows(csv)
        .into_iter()
        .map(|mut row| row.swap_remove(index))
        .collect()
}
