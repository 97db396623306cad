//! Keys whose value is one field of [`Written`] and nothing more: a sweep changes them without going through the tree.
//!
//! Left to the tree are keys whose change looks something up or drops another key: names of boxes, models and files, the
//! method, topk, whole maps, variables, and whatever says what was observed.

use serde::Deserialize;
use serde_json::Value;

use super::written::Written;

/// Such a key.
#[derive(Debug, Clone, Copy)]
pub struct Direct {
    path: &'static str,
    put: fn(&mut Written, &Value) -> Result<(), serde_json::Error>,
}

impl Direct {
    /// The key with this path, if it is one.
    pub fn of(path: &str) -> Option<Self> {
        KEYS.iter().find(|key| key.path == path).copied()
    }

    /// Sets it to a value that the schema allows.
    pub(super) fn put(self, written: &mut Written, value: &Value) {
        (self.put)(written, value).expect("the value was checked against the schema");
    }
}

macro_rules! keys {
    ($($first:ident $(. $rest:ident)*,)*) => {
        &[$(Direct {
            path: concat!(stringify!($first) $(, ".", stringify!($rest))*),
            put: |written, value| {
                written.$first$(.$rest)* = Deserialize::deserialize(value)?;
                Ok(())
            },
        },)*]
    };
}

const KEYS: &[Direct] = keys! {
    workload.batch,
    workload.context,
    parallel.tensor,
    parallel.expert,
    parallel.data_attention,
    parallel.decode_context,
    runtime,
    baseline.execution,
    baseline.time,
    baseline.allreduce.backend,
    baseline.allreduce.opt_in,
    baseline.allreduce.algorithm,
    baseline.allreduce.protocol,
    baseline.allreduce.transport,
    baseline.allreduce.time,
    speculation.steps,
    speculation.draft_tokens,
    speculation.acceptance.accept_length,
    speculation.acceptance.rate,
    speculation.acceptance.mean_rate,
    speculation.acceptance.conditional,
    speculation.acceptance.cumulative,
    speculation.acceptance.histogram,
    speculation.scheduler.overlap,
    speculation.host.time,
    speculation.draft_pass.execution,
    speculation.draft_pass.time,
    speculation.draft_pass.allreduce.backend,
    speculation.draft_pass.allreduce.opt_in,
    speculation.draft_pass.allreduce.algorithm,
    speculation.draft_pass.allreduce.protocol,
    speculation.draft_pass.allreduce.transport,
    speculation.draft_pass.allreduce.time,
    speculation.verify.execution,
    speculation.verify.time,
    speculation.verify.allreduce.backend,
    speculation.verify.allreduce.opt_in,
    speculation.verify.allreduce.algorithm,
    speculation.verify.allreduce.protocol,
    speculation.verify.allreduce.transport,
    speculation.verify.allreduce.time,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::key_doc;

    #[test]
    fn every_direct_key_is_a_key() {
        for key in KEYS {
            assert!(key_doc(key.path).is_some(), "{}", key.path);
            assert!(!key.path.contains("observed"), "{}", key.path);
        }
    }
}
