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

mod clock;
mod distribution;
mod flags;
mod interval;
mod llama_cpp;
mod log;
mod printed;
mod ranks;
mod rate;
mod scan;
mod sglang;
mod sglang_state;
mod vllm;
mod vllm_state;

pub use distribution::Distribution;
pub use flags::ServerFlags;
pub use interval::{Basis, Counted, DecodeInterval, Server};
pub(super) use log::{LLAMA_CPP, SGLANG, VLLM};
pub use printed::Printed;
pub use rate::{RateForm, RateSegment};
