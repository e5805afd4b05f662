//! Certificates for encrypted connections.

use redis::{Client, ClientTlsConfig, TlsCertificates};

use super::endpoint::{Endpoint, malformed};
use crate::error::ConfigError;

/// The certificates of encrypted connections, for [`StoreOptions::tls`](super::StoreOptions::tls).
///
/// By default the system's authorities are trusted, and the client has no certificate.
#[derive(Clone, Debug)]
#[must_use = "`StoreOptions::tls` takes it"]
pub struct Tls {
    certificates: TlsCertificates,
}

impl Default for Tls {
    fn default() -> Tls {
        Tls {
            certificates: TlsCertificates {
                client_tls: None,
                root_cert: None,
            },
        }
    }
}

impl Tls {
    /// Trusts the authorities whose certificates are in `pem`, and no other.
    pub fn authority(mut self, pem: impl Into<Vec<u8>>) -> Tls {
        self.certificates.root_cert = Some(pem.into());
        self
    }

    /// Presents the certificate and the key in these PEM texts to the server.
    pub fn client(mut self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Tls {
        self.certificates.client_tls = Some(ClientTlsConfig {
            client_cert: certificate.into(),
            client_key: key.into(),
        });
        self
    }
}

impl Endpoint {
    /// Uses these certificates.
    ///
    /// # Errors
    /// [`ConfigError::Address`] if the address is not one of an encrypted connection, or if a text is
    /// not PEM.
    pub(super) fn set_tls(&mut self, tls: &Tls) -> Result<(), ConfigError> {
        let certificates = tls.certificates.clone();
        let built = Client::build_with_tls(self.info.clone(), certificates);
        let client = built.map_err(|error| malformed(&self.place(), &error))?;
        self.info = client.get_connection_info().clone();
        self.certificates = Some(tls.certificates.clone());
        Ok(())
    }
}

/// Chooses a provider of cryptography, if the program has not. Without one, rustls panics.
#[cfg(feature = "tls-rustls")]
pub(super) fn choose_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // It fails if another thread has chosen meanwhile, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}
