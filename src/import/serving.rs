//! What a running server prints about its decoding: batches, throughput, accepted tokens.
//!
//! Every source becomes the same record, a [`DecodeInterval`]: a stretch of decoding with the requests that ran, the
//! tokens per second, and how many drafted tokens were accepted. Accept lengths count the bonus token throughout. What a
//! server prints under the same word in different versions is told apart here and nowhere else.
//!
//! ```text
//! step   = running / throughput                              without speculation
//! cycle  = running · accept length / throughput              SGLang; vLLM where only that is printed
//! cycle  = running · interval / drafts                       vLLM, where drafts and the length of the interval are known
//! ```
//!
//! Left out: prefill work inside an interval makes its cycle too long; such intervals are marked, not corrected.
//! `running` is the value at the end of an interval; intervals whose predecessor had another are marked too.

mod batch;
mod clock;
mod digest;
mod distribution;
mod flags;
mod interval;
mod llama_cpp;
mod log;
pub(super) mod objects;
mod printed;
mod prometheus;
mod ranks;
mod rate;
mod responses;
mod scan;
mod sglang;
mod sglang_state;
mod tensorrt;
mod timeline;
mod vllm;
mod vllm_state;

pub use batch::BatchRow;
pub use digest::{Digest, DigestBatch, Sums};
pub use distribution::Distribution;
pub use flags::ServerFlags;
pub use interval::{Basis, Counted, DecodeInterval, Server};
pub(super) use log::{LLAMA_CPP, SGLANG, VLLM};
pub use printed::Printed;
pub(super) use prometheus::DUMPS;
pub use rate::{RateForm, RateSegment};
pub(super) use responses::RESPONSES;
pub(super) use tensorrt::ITERATIONS;
pub use timeline::{Timeline, Window};

/// The intervals that a reader makes of a text.
#[cfg(test)]
fn intervals_of(
    read: impl Fn(&mut dyn std::io::BufRead, &mut super::Sink) -> super::Summary,
    text: &str,
) -> (Vec<DecodeInterval>, super::Summary) {
    let mut found = Vec::new();
    let summary = read(&mut text.as_bytes(), &mut |observation| {
        if let super::What::Decode(interval) = observation.what {
            found.push(*interval);
        }
    });
    (found, summary)
}
