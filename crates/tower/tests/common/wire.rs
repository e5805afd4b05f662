//! A server and a client that talk over the loopback interface.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{HeaderName, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use windowpane_tower::ClientAddress;

/// A service on a port of the loopback interface.
pub struct Server {
    pub address: SocketAddr,
    client: Client<HttpConnector, Body>,
    stop: Option<oneshot::Sender<()>>,
    done: JoinHandle<()>,
}

/// The client's address as axum tells it.
pub fn by_axum_peer() -> ClientAddress {
    ClientAddress::from_extension(|peer: &ConnectInfo<SocketAddr>| peer.0)
}

/// Serves until it is stopped, and then until what was begun has ended.
pub async fn serve(app: Router) -> Server {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    let done = tokio::spawn(async move {
        let stopped = async {
            let _ = stopped.await;
        };
        let server = axum::serve(listener, app).with_graceful_shutdown(stopped);
        server.await.unwrap();
    });
    Server {
        address,
        client: Client::builder(TokioExecutor::new()).build_http(),
        stop: Some(stop),
        done,
    }
}

impl Server {
    /// Gets a path; the body is still to be read.
    pub async fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(HeaderName, &[u8])],
    ) -> Result<Response<hyper::body::Incoming>, hyper_util::client::legacy::Error> {
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        self.client
            .request(request.body(Body::empty()).unwrap())
            .await
    }

    /// Gets a path, body and all.
    pub async fn get(&self, path: &str, headers: &[(HeaderName, &[u8])]) -> Response<String> {
        super::read(self.open("GET", path, headers).await.unwrap()).await
    }

    /// Begins a graceful shutdown.
    pub fn begin_stop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }

    /// Shuts down and waits for its end.
    pub async fn stop(mut self) {
        self.begin_stop();
        // Idle connections of the client would keep it up.
        drop(self.client);
        self.done.await.unwrap();
    }
}
