//! The body of a response behind the layer.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::settle::{End, Settlement};

pin_project! {
    /// The body of a response behind the layer: the handler's, as it comes, or the layer's own.
    pub struct ResponseBody<B> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProjected]
    enum Kind<B> {
        Rejection { whole: Option<Bytes> },
        Passed { #[pin] body: B },
        Counted { #[pin] body: B, settlement: Settlement },
    }
}

impl<B> ResponseBody<B> {
    pub(crate) fn rejection(whole: Bytes) -> ResponseBody<B> {
        // An empty frame is no frame.
        let whole = Some(whole).filter(|whole| !whole.is_empty());
        ResponseBody {
            kind: Kind::Rejection { whole },
        }
    }
}

impl<B: Body> ResponseBody<B> {
    /// The handler's body, which settles a charge when it ends, if there is one to settle.
    pub(crate) fn passed(body: B, settlement: Option<Settlement>) -> ResponseBody<B> {
        let kind = match settlement {
            None => Kind::Passed { body },
            Some(mut settlement) => {
                // Servers do not poll a body that is at its end already.
                if body.is_end_stream() {
                    settlement.end(End::Complete);
                }
                Kind::Counted { body, settlement }
            }
        };
        ResponseBody { kind }
    }
}

impl<B: Body<Data = Bytes>> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().kind.project() {
            KindProjected::Rejection { whole } => {
                Poll::Ready(whole.take().map(Frame::data).map(Ok))
            }
            KindProjected::Passed { body } => body.poll_frame(context),
            KindProjected::Counted {
                mut body,
                settlement,
            } => {
                let Poll::Ready(frame) = body.as_mut().poll_frame(context) else {
                    settlement.poll_expiry(context);
                    return Poll::Pending;
                };
                match &frame {
                    None => settlement.end(End::Complete),
                    Some(Err(_)) => settlement.end(End::Failed),
                    Some(Ok(frame)) => {
                        settlement.sent(frame.data_ref().map_or(0, Bytes::len));
                        // Servers do not poll again after the last frame.
                        if frame.is_trailers()
                            || body.is_end_stream()
                            || body.size_hint().exact() == Some(0)
                        {
                            settlement.end(End::Complete);
                        }
                    }
                }
                Poll::Ready(frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Rejection { whole } => whole.is_none(),
            Kind::Passed { body } | Kind::Counted { body, .. } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Rejection { whole } => {
                SizeHint::with_exact(whole.as_ref().map_or(0, |whole| whole.len() as u64))
            }
            Kind::Passed { body } | Kind::Counted { body, .. } => body.size_hint(),
        }
    }
}

impl<B> fmt::Debug for ResponseBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Rejection { .. } => "ResponseBody(rejection)",
            Kind::Passed { .. } => "ResponseBody(passed)",
            Kind::Counted { .. } => "ResponseBody(passed, to be settled)",
        })
    }
}
