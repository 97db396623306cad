//! The sources of the kernels, compiled once a GPU and process.

use super::super::ffi;
use super::super::{Failure, ffi::Module};
use std::sync::Arc;

/// All kernels, in one translation unit.
pub(super) const SOURCE: &str = concat!(
    include_str!("kernels/common.cu"),
    include_str!("kernels/basic.cu"),
    include_str!("kernels/gemv.cu"),
    include_str!("kernels/attention.cu"),
    include_str!("kernels/mla.cu"),
    include_str!("kernels/peers.cu"),
);

/// Oldest compute capability that has what they use: bf16 tensor cores and `cp.async`.
pub(super) const OLDEST: [u32; 2] = [8, 0];

/// Compiles and loads them.
///
/// # Errors
/// NVRTC is missing, or the GPU is older than [`OLDEST`].
pub(super) fn load(context: &Arc<ffi::Context>, capability: [u32; 2]) -> Result<Arc<Module>, Failure> {
    if capability < OLDEST {
        let [major, minor] = capability;
        return Err(super::unsupported(format!(
            "the kernels want compute capability 8.0 or newer, this GPU has {major}.{minor}"
        )));
    }
    Module::load(context, &ffi::compile(SOURCE, capability)?)
}

#[cfg(test)]
mod tests {
    use super::SOURCE;

    #[test]
    fn the_sources_hold_no_zero_and_their_brackets_close() {
        assert!(!SOURCE.contains('\0'));
        let mut open = Vec::new();
        let code = SOURCE.lines().map(|line| line.split("//").next().unwrap_or_default());
        let mut quoted = false;
        for character in code.flat_map(str::chars) {
            match character {
                '"' => quoted = !quoted,
                _ if quoted => {}
                '(' | '[' | '{' => open.push(character),
                ')' => assert_eq!(open.pop(), Some('(')),
                ']' => assert_eq!(open.pop(), Some('[')),
                '}' => assert_eq!(open.pop(), Some('{')),
                _ => {}
            }
        }
        assert!(open.is_empty() && !quoted);
    }

    #[test]
    fn every_name_that_is_launched_is_a_kernel() {
        for name in ["fill", "empty", "spin", "stream_read", "add_rms_norm", "twice", "silu_mul", "arg_max"] {
            assert!(SOURCE.contains(&format!(" {name}(")), "{name}");
        }
        for name in ["gemv_int4_8", "gemv_bf16_64"] {
            assert!(SOURCE.contains(&format!("GEMV({name},")), "{name}");
        }
    }

    #[test]
    fn no_header_and_no_multicast() {
        assert!(!SOURCE.contains("#include") && !SOURCE.contains("multimem"));
    }
}
