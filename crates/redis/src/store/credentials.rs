//! Credentials that are asked for at each connect.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

#[cfg(feature = "cluster")]
use redis::BasicAuth;
use redis::{ErrorKind, RedisConnectionInfo, RedisError, RedisResult};

/// A user's name and password, or a token in the place of the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    user: Option<String>,
    password: String,
}

impl Credentials {
    /// The credentials of `user`.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Credentials {
        Credentials {
            user: Some(user.into()),
            password: password.into(),
        }
    }

    /// The password of the default user.
    pub fn of_default_user(password: impl Into<String>) -> Credentials {
        Credentials {
            user: None,
            password: password.into(),
        }
    }

    pub(super) fn apply(&self, settings: RedisConnectionInfo) -> RedisConnectionInfo {
        let settings = settings.set_password(&self.password);
        match &self.user {
            Some(user) => settings.set_username(user),
            None => settings,
        }
    }
}

/// It prints no password.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// An error of a user's provider.
pub(super) type ProviderError = Box<dyn std::error::Error + Send + Sync>;

type Asked = Pin<Box<dyn Future<Output = Result<Credentials, ProviderError>> + Send>>;

/// The function that returns credentials.
#[derive(Clone)]
pub(super) struct Provider(Arc<dyn Fn() -> Asked + Send + Sync>);

impl Provider {
    pub(super) fn new<P, F>(provider: P) -> Provider
    where
        P: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<Credentials, ProviderError>> + Send + 'static,
    {
        Provider(Arc::new(move || Box::pin(provider())))
    }

    pub(super) async fn ask(&self) -> RedisResult<Credentials> {
        (self.0)().await.map_err(|error| {
            let what = "no credentials";
            RedisError::from((ErrorKind::AuthenticationFailed, what, error.to_string()))
        })
    }
}

/// A cluster's client asks it for each node that it connects to.
#[cfg(feature = "cluster")]
impl redis::StreamingCredentialsProvider for Provider {
    fn subscribe(
        &self,
    ) -> Pin<Box<dyn futures_util::Stream<Item = RedisResult<BasicAuth>> + Send>> {
        let provider = self.clone();
        Box::pin(futures_util::stream::once(async move {
            let credentials = provider.ask().await?;
            let user = credentials.user.unwrap_or_else(|| "default".into());
            Ok(BasicAuth::new(user, credentials.password))
        }))
    }
}
