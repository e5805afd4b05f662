//! A proxy before a server, that cuts connections when a test says so.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A way to a server that can be cut.
pub struct Proxy {
    port: u16,
    /// How many bytes of replies pass before the cut; none is made while it is negative.
    left: Arc<AtomicI64>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub async fn before(server: u16) -> Proxy {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let left = Arc::new(AtomicI64::new(-1));
        let cut = left.clone();
        let task = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                tokio::spawn(carry(client, server, cut.clone()));
            }
        });
        Proxy { port, left, task }
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Lets `bytes` of the next reply through and cuts the connection then, once.
    pub fn cut_after(&self, bytes: u32) {
        self.left.store(bytes.into(), Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn carry(mut client: TcpStream, server: u16, cut: Arc<AtomicI64>) {
    let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await else {
        return;
    };
    let (mut asked, mut answered) = ([0; 16_384], [0; 16_384]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => match read {
                Ok(n @ 1..) if server.write_all(&asked[..n]).await.is_ok() => {}
                _ => return,
            },
            read = server.read(&mut answered) => {
                let Ok(n @ 1..) = read else { return };
                let left = cut.load(Ordering::SeqCst);
                if left >= 0 {
                    cut.store(-1, Ordering::SeqCst);
                    let passes = usize::try_from(left).unwrap().min(n - 1);
                    let _ = client.write_all(&answered[..passes]).await;
                    return;
                }
                if client.write_all(&answered[..n]).await.is_err() {
                    return;
                }
            },
        }
    }
}
