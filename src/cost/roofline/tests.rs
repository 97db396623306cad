use proptest::prelude::*;

use super::*;
use crate::model::KvFormat;

/// An RTX PRO 6000 Server: 0.83 of 1,792 GB/s, 128 MB of L2, 4 µs a kernel, 0.64 of 468 TFLOPS.
fn rtx_pro_6000() -> Roofline {
    let bf16 = FlopRate::from_tflops(467.8 * COMPUTE_EFFICIENCY);
    Roofline {
        bandwidth: Bandwidth::from_gb_s(0.83 * 1792.0),
        floor: Seconds::from_us(4.0),
        least: Seconds::from_us(2.2),
        l2: Bytes::new(128e6),
        source: Source::Roofline,
        rates: Rates { bf16, fp8: bf16 * 2.0, fp4: bf16 * 4.0 },
    }
}

fn gemm(rows: u32, n: u32, k: u32) -> OpKind {
    OpKind::Gemm { rows, n, k, weights: WeightFormat::Bf16 }
}

fn time(kind: &OpKind) -> Cost {
    rtx_pro_6000().time(&demand(kind).expect("a kernel"))
}

fn row(us: f64) -> Cost {
    let time = Seconds::from_us(us);
    Cost { time, bound: Bound::Table, source: Source::Measured, extrapolated: false, alone: false }
}

/// Rows of aiconfigurator-core 0.12.0, bf16, one row, RTX PRO 6000 Server, whose matrices its benchmark (which
/// rotates several copies) cannot hold in L2.
#[test]
fn the_roofline_meets_measured_projections_that_stream_from_memory() {
    for (n, k, measured) in
        [(2048, 7168, 23.67), (4096, 7168, 43.34), (4096, 8192, 47.51), (8192, 7168, 85.9)]
    {
        let predicted = time(&gemm(1, n, k)).time.us();
        assert!((predicted / measured - 1.0).abs() < 0.06, "{n}x{k}: {predicted} against {measured}");
    }
}

/// 12 MB timed at 1.8 TB/s came from L2; 29 MB at 1.24 TB/s did not.
#[test]
fn rows_read_from_l2_are_lifted_to_memory_and_others_kept() {
    let lifted = rtx_pro_6000().beyond_l2(row(6.92), &demand(&gemm(1, 4096, 1536)).expect("gemm"));
    assert!((lifted.time.us() - (4096.0 * 1536.0 * 2.0 / 1_487_360.0 + 2.2)).abs() < 1e-9);
    assert_eq!((lifted.bound, lifted.source), (Bound::Memory, Source::Roofline));
    let kept = rtx_pro_6000().beyond_l2(row(24.3), &demand(&gemm(8, 2048, 7168)).expect("gemm"));
    assert_eq!(kept, row(24.3));
    let large = rtx_pro_6000().beyond_l2(row(60.0), &demand(&gemm(1, 8192, 8192)).expect("gemm"));
    assert_eq!(large, row(60.0));
}

/// PHYSICS of MLA: 1,152 B of cache a token, 2·64·(576 + 512) operations per row and token.
#[test]
fn absorbed_attention_reads_the_latent_cache_once_per_request() {
    let kind = |rows| OpKind::MlaAttention {
        requests: 1,
        rows,
        context: 1,
        heads: 64,
        kv_lora: 512,
        rope: 64,
        kv: KvFormat::Bf16,
    };
    let (one, three) = (demand(&kind(1)).expect("mla"), demand(&kind(3)).expect("mla"));
    assert_eq!((one.other, one.flops), (Bytes::new(1152.0), Flops::new(139_264.0)));
    assert_eq!((three.other, three.flops), (one.other, 3.0 * one.flops));
}

/// Kimi-K2.5 on eight ranks: one token touches 8 experts of 3·7168·2048/8 weights at 4.5 bit.
#[test]
fn experts_read_the_distinct_ones_at_their_stored_width() {
    let kind = OpKind::Experts {
        tokens: 1,
        hidden: 7168,
        width: 2048,
        shards: 8,
        experts: 384,
        per_token: 8,
        distinct: 8.0,
        pairs: 8.0,
        weights: WeightFormat::Int4 { group: 32 },
    };
    let demand = demand(&kind).expect("experts");
    assert!((60.0 * demand.weights.get() - 1.486e9).abs() < 1e6);
}

proptest! {
    #[test]
    fn time_never_falls_with_rows_or_shapes(
        rows in 1..4096u32, n in 1..20_000u32, k in 1..20_000u32, more in 1..64u32,
    ) {
        let base = time(&gemm(rows, n, k)).time;
        prop_assert!(time(&gemm(rows + more, n, k)).time >= base);
        prop_assert!(time(&gemm(rows, n + more, k)).time >= base);
        prop_assert!(time(&gemm(rows, n, k + more)).time >= base);
    }

    #[test]
    fn time_never_falls_with_context_or_requests(
        requests in 1..256u32, rows in 1..16u32, context in 1..200_000u32, more in 1..64u32,
    ) {
        let kind = |requests, rows, context| OpKind::Attention {
            requests, rows, context, heads: 8, kv_heads: 1, head_dim: 128, kv: KvFormat::Fp8,
        };
        let base = time(&kind(requests, rows, context)).time;
        prop_assert!(time(&kind(requests + more, rows, context)).time >= base);
        prop_assert!(time(&kind(requests, rows + more, context)).time >= base);
        prop_assert!(time(&kind(requests, rows, context + more)).time >= base);
    }

    #[test]
    fn no_kernel_beats_its_floor_or_its_bytes(bytes in 0.0..1e12f64) {
        let cost = time(&OpKind::Elementwise { bytes: Bytes::new(bytes) });
        let roofline = rtx_pro_6000();
        prop_assert!(cost.time >= roofline.floor.max(roofline.stream(Bytes::new(bytes))));
    }
}
