//! Defaults, and the remarks that say them aloud.

use indexmap::IndexMap;

use super::Resolver;
use crate::collective::{NcclEnvironment, Policy};
use crate::forward::Parallelism;
use crate::runtime::{Execution, Runtime};
use crate::scenario::written::{
    AllreduceKeys, BackendWord, EnvironmentValue, ExecutionWord, RuntimeWord, Written,
};

/// Context where none is given.
const CONTEXT: u32 = 1024;

impl Resolver<'_, '_> {
    pub(super) fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    pub(super) fn batch(&mut self, written: &Written) -> u32 {
        written.workload.batch.unwrap_or_else(|| {
            self.note("workload.batch not given: 1 request".to_owned());
            1
        })
    }

    pub(super) fn context(&mut self, written: &Written) -> u32 {
        written.workload.context.unwrap_or_else(|| {
            self.note(format!("workload.context not given: {CONTEXT} tokens"));
            CONTEXT
        })
    }

    pub(super) fn runtime(&mut self, written: &Written) -> Runtime {
        let word = written.runtime.unwrap_or_else(|| {
            self.note("runtime not given: sglang".to_owned());
            RuntimeWord::default()
        });
        self.library.runtime(word.into())
    }

    pub(super) fn parallel(&mut self, written: &Written, gpus: u32) -> Parallelism {
        let keys = &written.parallel;
        let tensor = keys.tensor.unwrap_or_else(|| {
            if gpus > 1 {
                self.note(format!("parallel.tensor not given: all {gpus} GPUs"));
            }
            gpus
        });
        Parallelism {
            tensor,
            expert: keys.expert.unwrap_or(1),
            data_attention: keys.data_attention.unwrap_or(1),
            decode_context: keys.decode_context.unwrap_or(1),
        }
    }
}

pub(super) fn execution(word: Option<ExecutionWord>) -> Execution {
    word.unwrap_or_default().into()
}

/// What a pass forces: its own all-reduce keys, and the variables of the scenario overlaid with its own.
pub(super) fn policy(
    written: &Written,
    allreduce: &AllreduceKeys,
    environment: &IndexMap<String, EnvironmentValue>,
) -> Policy {
    let mut variables: IndexMap<String, String> = IndexMap::new();
    for (name, value) in written.environment.iter().chain(environment) {
        variables.insert(name.clone(), value.0.clone());
    }
    Policy {
        backend: allreduce.backend.forced(),
        opt_in: allreduce.opt_in.iter().copied().filter_map(BackendWord::forced).collect(),
        algorithm: allreduce.algorithm.forced(),
        protocol: allreduce.protocol.forced(),
        transport: allreduce.transport.forced(),
        environment: NcclEnvironment { variables },
    }
}
