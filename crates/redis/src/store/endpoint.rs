//! One server: its address, its settings, and connecting to it.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo};
use redis::{ErrorKind, ProtocolVersion, PushInfo, PushKind, RedisConnectionInfo, RedisError};
use redis::{RedisResult, io::tcp::TcpSettings};

use super::address::OnBreak;
use super::credentials::Provider;
use crate::error::ConfigError;

/// A server, or any of several that have the same settings.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) info: ConnectionInfo,
    /// Whether the address names the protocol. Then that one is used and no other.
    pub(super) names_protocol: bool,
    pub(super) credentials: Option<Provider>,
    #[cfg(any(feature = "tls-rustls", feature = "tls-native"))]
    pub(super) certificates: Option<redis::TlsCertificates>,
}

/// Removes the user and password before the `@` of an address.
pub(super) fn without_password(address: &str) -> &str {
    address.rsplit('@').next().unwrap_or(address)
}

/// The error for a malformed address.
pub(super) fn malformed(address: &str, error: &RedisError) -> ConfigError {
    ConfigError::Address {
        address: without_password(address).into(),
        reason: error.to_string(),
    }
}

impl Endpoint {
    pub(super) fn parse(address: &str) -> Result<Endpoint, ConfigError> {
        let info = address
            .into_connection_info()
            .map_err(|error| malformed(address, &error))?;
        let names_protocol = redis::parse_redis_url(address)
            .is_some_and(|url| url.query_pairs().any(|(name, _)| name == "protocol"));
        // One small command a call: waiting for more to send would only delay it.
        let info = info.set_tcp_settings(TcpSettings::default().set_nodelay(true));
        Ok(Endpoint {
            info,
            names_protocol,
            credentials: None,
            #[cfg(any(feature = "tls-rustls", feature = "tls-native"))]
            certificates: None,
        })
    }

    /// The server at `host` and `port`, with the same settings.
    pub(super) fn at(&self, host: &str, port: u16) -> Endpoint {
        let mut address = self.info.addr().clone();
        if let ConnectionAddr::Tcp(h, p)
        | ConnectionAddr::TcpTls {
            host: h, port: p, ..
        } = &mut address
        {
            (*h, *p) = (host.to_owned(), port);
        }
        Endpoint {
            info: self.info.clone().set_addr(address),
            ..self.clone()
        }
    }

    /// The address without a password.
    pub(super) fn place(&self) -> String {
        self.info.addr().to_string()
    }

    /// The protocol to try first. Protocol 3 reports a broken connection when it breaks, not at the
    /// next call.
    pub(super) fn protocol(&self) -> ProtocolVersion {
        match self.names_protocol {
            true => self.info.redis_settings().protocol(),
            false => ProtocolVersion::RESP3,
        }
    }

    /// Connects, with credentials of this moment. The caller limits the time.
    pub(super) async fn connect(
        &self,
        within: Duration,
        on_break: Option<OnBreak>,
    ) -> RedisResult<MultiplexedConnection> {
        #[cfg(feature = "tls-rustls")]
        super::tls::choose_provider();
        let mut settings = self.info.redis_settings().clone();
        if let Some(provider) = &self.credentials {
            settings = provider.ask().await?.apply(settings);
        }
        let first = settings.clone().set_protocol(self.protocol());
        match self.open(first, within, on_break).await {
            Err(error) if !self.names_protocol && refuses_hello(&error) => {
                let second = settings.set_protocol(ProtocolVersion::RESP2);
                self.open(second, within, None).await
            }
            opened => opened,
        }
    }

    async fn open(
        &self,
        settings: RedisConnectionInfo,
        within: Duration,
        on_break: Option<OnBreak>,
    ) -> RedisResult<MultiplexedConnection> {
        // The caller has a deadline; one timer per call is enough.
        let mut config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(within))
            .set_response_timeout(None);
        if let Some(on_break) = on_break.filter(|_| settings.protocol() != ProtocolVersion::RESP2) {
            config = config.set_push_sender(move |push: PushInfo| {
                if push.kind == PushKind::Disconnection {
                    on_break();
                }
                Ok::<(), std::convert::Infallible>(())
            });
        }
        let client = Client::open(self.info.clone().set_redis_settings(settings))?;
        client
            .get_multiplexed_async_connection_with_config(&config)
            .await
    }
}

/// Whether the server has no HELLO: it is old, HELLO is renamed or not allowed, or a proxy does not
/// know it, answers nothing and closes the connection.
fn refuses_hello(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::RESP3NotSupported => true,
        ErrorKind::Server(_) | ErrorKind::Extension => {
            !matches!(error.code(), Some("WRONGPASS" | "NOAUTH" | "LOADING"))
        }
        ErrorKind::Io => error.is_connection_dropped() && !error.is_connection_refusal(),
        _ => false,
    }
}
