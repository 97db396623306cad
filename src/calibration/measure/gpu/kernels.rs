//! The sources of the kernels. Each is compiled when one of its kernels is first wanted, once a GPU and process: a child
//! that measures collectives alone does not wait for attention.

use std::sync::Arc;

use super::super::Failure;
use super::super::ffi::{self, Module};

/// Where a kernel stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// Small kernels.
    Basic,
    /// Products with packed weights.
    Gemv,
    /// Attention with grouped queries; merging of parts.
    Attention,
    /// Latent attention.
    Mla,
    /// What reads peers' memory.
    Peers,
}

impl Source {
    /// Of a kernel, by its name.
    pub(super) fn of(kernel: &str) -> Self {
        let named = [
            ("gemv_", Self::Gemv),
            ("moe_", Self::Gemv),
            ("attention_", Self::Attention),
            ("mla_", Self::Mla),
            ("one_shot_", Self::Peers),
            ("two_shot_", Self::Peers),
            ("ping_pong", Self::Peers),
        ];
        named
            .into_iter()
            .find(|(prefix, _)| kernel.starts_with(prefix))
            .map_or(Self::Basic, |(_, source)| source)
    }

    /// Its text.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Basic => concat!(include_str!("kernels/common.cu"), include_str!("kernels/basic.cu")),
            Self::Gemv => concat!(include_str!("kernels/common.cu"), include_str!("kernels/gemv.cu")),
            Self::Attention => {
                concat!(include_str!("kernels/common.cu"), include_str!("kernels/attention.cu"))
            }
            Self::Mla => concat!(include_str!("kernels/common.cu"), include_str!("kernels/mla.cu")),
            Self::Peers => concat!(include_str!("kernels/common.cu"), include_str!("kernels/peers.cu")),
        }
    }
}

/// Oldest compute capability that has what they use: bf16 tensor cores and `cp.async`.
const OLDEST: [u32; 2] = [8, 0];

/// Compiles and loads one source.
///
/// # Errors
/// NVRTC is missing, or the GPU is older than compute capability 8.0.
pub(super) fn load(
    context: &Arc<ffi::Context>,
    capability: [u32; 2],
    source: Source,
) -> Result<Arc<Module>, Failure> {
    if capability < OLDEST {
        let [major, minor] = capability;
        return Err(super::unsupported(format!(
            "the kernels want compute capability 8.0 or newer, this GPU has {major}.{minor}"
        )));
    }
    Module::load(context, &ffi::compile(source.text(), capability)?)
}

#[cfg(test)]
mod tests {
    use super::Source;

    const ALL: [Source; 5] = [Source::Basic, Source::Gemv, Source::Attention, Source::Mla, Source::Peers];

    #[test]
    fn the_sources_hold_no_zero_and_their_brackets_close() {
        for source in ALL {
            assert!(!source.text().contains('\0'));
            let mut open = Vec::new();
            let code = source.text().lines().map(|line| line.split("//").next().unwrap_or_default());
            let mut quoted = false;
            for character in code.flat_map(str::chars) {
                match character {
                    '"' => quoted = !quoted,
                    _ if quoted => {}
                    '(' | '[' | '{' => open.push(character),
                    ')' => assert_eq!(open.pop(), Some('('), "{source:?}"),
                    ']' => assert_eq!(open.pop(), Some('['), "{source:?}"),
                    '}' => assert_eq!(open.pop(), Some('{'), "{source:?}"),
                    _ => {}
                }
            }
            assert!(open.is_empty() && !quoted, "{source:?}");
        }
    }

    #[test]
    fn every_name_that_is_launched_is_a_kernel_of_its_source() {
        for name in [
            "fill",
            "empty",
            "stream_read",
            "add_rms_norm",
            "twice",
            "silu_mul",
            "arg_max",
            "moe_combine",
            "gemv_add",
            "attention_merge",
            "ping_pong",
        ] {
            assert!(Source::of(name).text().contains(&format!(" {name}(")), "{name}");
        }
        for (name, made) in [
            ("gemv_int4_8", "GEMV(gemv_int4_8,"),
            ("gemv_bf16_64", "GEMV(gemv_bf16_64,"),
            ("attention_128", "ATTENTION(128)"),
            ("mla_4", "MLA(4,"),
            ("one_shot_8", "ALL_REDUCE(8)"),
        ] {
            assert!(Source::of(name).text().contains(made), "{name}");
        }
    }

    #[test]
    fn no_header_and_no_multicast() {
        assert!(
            ALL.iter()
                .all(|source| !source.text().contains("#include") && !source.text().contains("multimem"))
        );
    }
}
