//! The settings that the builders of all layers share.

/// The methods of a builder with a field `settings`.
macro_rules! common_settings {
    () => {
        /// Sets whether `RateLimit-Policy` and `RateLimit` are sent
        /// (draft-ietf-httpapi-ratelimit-headers-10), on allowed responses and on denials. The default
        /// is yes.
        pub fn draft_headers(mut self, send: bool) -> Self {
            self.settings.headers.draft = send.then_some(Draft::default());
            self
        }

        /// Sends `RateLimit-Policy` and `RateLimit` by that version of the draft. The default is
        /// [`Draft::V10`].
        pub fn header_draft(mut self, draft: Draft) -> Self {
            self.settings.headers.draft = Some(draft);
            self
        }

        /// Sends `X-RateLimit-Limit`, `-Remaining` and `-Reset` as well, of the quota that denied or has
        /// least left. Of several layers, those of the layer with least remaining are sent.
        pub fn x_headers(mut self, reset: Reset) -> Self {
            self.settings.headers.trio = Some(reset);
            self
        }

        /// Sets the policy for a request whose key finds the store full. The default is
        /// [`OnFailure::Error`]: status 503. Under [`OnFailure::Allow`], a flood of keys passes
        /// unlimited.
        pub fn on_full(mut self, policy: OnFailure) -> Self {
            self.settings.on_full = policy;
            self
        }

        /// Sets the policy for a request about which the store gives no decision. The default is
        /// [`OnFailure::Error`]: status 503. Under [`OnFailure::Allow`], nothing is limited meanwhile.
        pub fn on_unavailable(mut self, policy: OnFailure) -> Self {
            self.settings.on_unavailable = policy;
            self
        }

        /// Sets the `Retry-After` of responses to requests on which the store failed. The default is
        /// 1 s; it is rounded up to whole seconds, at least 1.
        pub fn failure_retry_after(mut self, wait: Duration) -> Self {
            self.settings.failure_retry_after = wait;
            self
        }

        /// Allows every request, without headers, while events, metrics and traces report what would
        /// have been rejected. The default is off.
        pub fn shadow(mut self, on: bool) -> Self {
            self.settings.shadow = on;
            self
        }

        /// Sets the function that writes the response to a rejected request. The default is
        /// [`Rejection::response`]. The layer adds its headers. gRPC calls always get a gRPC status.
        pub fn respond<F>(mut self, respond: F) -> Self
        where
            F: Fn(&Rejection) -> Response<Bytes> + Send + Sync + 'static,
        {
            self.settings.respond = Some(Arc::new(respond));
            self
        }

        /// Passes the [`Event`] of each request to a function, which should be quick.
        pub fn observe<F>(mut self, observer: F) -> Self
        where
            F: Fn(&Event<'_>) + Send + Sync + 'static,
        {
            self.settings.observer = Some(Arc::new(observer));
            self
        }
    };
}

/// The methods of a builder with a field `meanwhile`.
macro_rules! meanwhile_settings {
    () => {
        /// Charges while the response runs: whenever it has used `step` permits more than are charged,
        /// the charge is raised to what was used. The function given to `settle` is asked after each
        /// frame of the body, with [`End::Running`](crate::End::Running). A client that asked for one
        /// token and streams a thousand is charged as they come.
        pub fn charge_while_streaming(mut self, step: u64) -> Self {
            self.meanwhile.charge_by(step);
            self
        }

        /// Lets the estimate expire after `span`, if the response has not ended by then: the charge
        /// falls to what was used so far, at least 1 permit, and rises with each further one. A request
        /// that hangs then holds no reservation. The timer is polled while the response is waited for.
        pub fn reserve_for<T>(mut self, span: Duration, timer: T) -> Self
        where
            T: Timer + Send + Sync + 'static,
        {
            self.meanwhile.expire_after(span, timer);
            self
        }
    };
}

pub(crate) use {common_settings, meanwhile_settings};
