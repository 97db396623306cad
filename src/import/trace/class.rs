//! What a kernel is, by its name.

use serde::Serialize;

/// Classes of work, as the breakdown of a pass has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkClass {
    /// All-reduce, of NCCL or a server's own.
    AllReduce,
    /// Other collectives.
    Collective,
    /// Matrix products.
    Gemm,
    /// Routed experts, and their routing.
    Moe,
    /// Attention.
    Attention,
    /// Norms.
    Norm,
    /// Sampling and argmax.
    Sampling,
    /// Element by element: activations, additions, rotary encoding.
    Elementwise,
    /// Copies and fills.
    Copy,
    /// None of these.
    Other,
}

/// Parts of names, in lower case, in the order in which they are looked for: a fused kernel counts as the first.
const PARTS: &[(WorkClass, &[&str])] = &[
    (
        WorkClass::AllReduce,
        &["allreduce", "all_reduce", "all-reduce", "cross_device_reduce", "one_shot", "two_shot", "multimem"],
    ),
    (
        WorkClass::Collective,
        &[
            "nccl",
            "allgather",
            "all_gather",
            "reducescatter",
            "reduce_scatter",
            "alltoall",
            "all_to_all",
            "mscclpp",
        ],
    ),
    (WorkClass::Moe, &["moe", "expert", "topk_gating", "grouped_topk", "grouped_gemm", "permute_tokens"]),
    (WorkClass::Norm, &["norm"]),
    (WorkClass::Sampling, &["sampling", "argmax", "top_k_top_p", "topp", "topk", "logits"]),
    (
        WorkClass::Attention,
        &[
            "attention",
            "attn",
            "fmha",
            "flash_fwd",
            "mla",
            "paged_kv",
            "batchdecode",
            "batchprefill",
            "decode_kernel",
        ],
    ),
    (
        WorkClass::Gemm,
        &[
            "gemm",
            "gemv",
            "cutlass",
            "cublas",
            "nvjet",
            "marlin",
            "machete",
            "splitk",
            "matmul",
            "xmma",
            "s16816",
            "projection",
        ],
    ),
    (
        WorkClass::Elementwise,
        &[
            "elementwise",
            "act_and_mul",
            "silu",
            "gelu",
            "rotary",
            "rope",
            "triton_poi",
            "add_",
            "mul_",
            "cast",
            "quant",
            "softmax",
            "embedding",
        ],
    ),
    (WorkClass::Copy, &["memcpy", "memset", "copy", "fill", "cat"]),
];

/// Whole names: operations as specplan's own traces call them.
const OPERATIONS: &[(WorkClass, &[&str])] = &[
    (
        WorkClass::Gemm,
        &[
            "qkv",
            "qkv_a",
            "q_b",
            "o",
            "gate_up",
            "down",
            "shared_gate_up",
            "shared_down",
            "router",
            "head",
            "fc",
            "absorb_k",
            "absorb_v",
        ],
    ),
    (WorkClass::Moe, &["topk"]),
    (WorkClass::Elementwise, &["act", "shared_act", "kv_write"]),
    (WorkClass::Sampling, &["accept", "draft_topk"]),
];

impl WorkClass {
    /// By the name of a kernel.
    pub(super) fn of(name: &str) -> Self {
        if let Some((class, _)) = OPERATIONS.iter().find(|(_, names)| names.contains(&name)) {
            return *class;
        }
        let name = name.to_ascii_lowercase();
        let found = PARTS.iter().find(|(_, parts)| parts.iter().any(|part| name.contains(part)));
        found.map_or(Self::Other, |(class, _)| *class)
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::Collective => "other collectives",
            Self::Gemm => "GEMM",
            Self::Moe => "experts",
            Self::Attention => "attention",
            Self::Norm => "norm",
            Self::Sampling => "sampling",
            Self::Elementwise => "elementwise",
            Self::Copy => "copy",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WorkClass;

    #[test]
    fn names_of_servers_and_libraries() {
        for (name, class) in [
            (
                "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                WorkClass::AllReduce,
            ),
            ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>", WorkClass::AllReduce),
            ("ncclDevKernel_AllGather_RING_LL", WorkClass::Collective),
            ("fused_moe_kernel", WorkClass::Moe),
            ("void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>", WorkClass::Norm),
            ("void flashinfer::sampling::TopKTopPSamplingFromProbKernel", WorkClass::Sampling),
            ("void flashinfer::BatchDecodeWithPagedKVCacheKernel", WorkClass::Attention),
            ("nvjet_tst_64x8_64x16_4x1_v_bz_TNT", WorkClass::Gemm),
            ("ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_stages_64x5_tn", WorkClass::Gemm),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add>",
                WorkClass::Elementwise,
            ),
            ("Memcpy DtoH (Device -> Pinned)", WorkClass::Copy),
            ("mystery", WorkClass::Other),
        ] {
            assert_eq!(WorkClass::of(name), class, "{name}");
        }
    }
}
