use super::*;

fn print(pass: &PricedPass, name: &str) {
    eprintln!(
        "{name}: {:.3} ms device {:.3} issue {:.3} spread {:?} {:?}",
        pass.time.value.ms(),
        pass.device_time.ms(),
        pass.issue_time.ms(),
        pass.time.spread.map(|s| (s.low.ms(), s.high.ms())),
        pass.time.source
    );
    for row in pass.breakdown() {
        eprintln!("   {:?} {} {:.3} ms {:?}", row.share, row.count, row.time.ms(), row.source);
    }
}

#[test]
fn scratch() {
    let case = Case::kimi(RuntimeKind::Sglang);
    for rows in [1, 3] {
        let p = case.price(batch(1, rows, 2048), Execution::Graph);
        print(&p, "sglang graph");
        for op in &p.blocks[2].ops {
            eprintln!(
                "      {} {:.2} us {:?} {:?} {}",
                op.label,
                op.device.us(),
                op.bound,
                op.source,
                op.extrapolated
            );
        }
    }
    print(&case.price(batch(1, 3, 2048), Execution::Eager), "sglang eager 3 rows");
    for calibration in ["rtx-pro-6000-x8", "rtx-pro-6000-x8-dual-turin-graphfile", "rtx-pro-6000-x8-switch"] {
        let mut case = Case::new("kimi-k2.6", RuntimeKind::Vllm, calibration, calibration);
        case.model.kv = KvFormat::Fp8;
        for context in [1, 256, 1024] {
            for (b, measured) in [(1, 10.82), (2, 13.22), (4, 16.70), (8, 22.80), (16, 25.15), (32, 33.41)] {
                let p = case.price(batch(b, 1, context), Execution::Graph);
                eprintln!(
                    "{calibration} ctx {context} B {b}: {:.2} against {measured} {:+.1} %",
                    p.time.value.ms(),
                    100.0 * (p.time.value.ms() / measured - 1.0)
                );
            }
        }
        for (b, cycle, al) in [(1, 20.34, 2.482), (2, 23.32, 2.059), (4, 24.92, 2.104), (8, 40.26, 2.479)] {
            let p = case.price(batch(b, 4, 256), Execution::Graph);
            eprintln!(
                "{calibration} verify B {b}: {:.2} of cycle {cycle} ({:.2} at 2.22)",
                p.time.value.ms(),
                cycle * 2.22 / al
            );
        }
        let p = case.price(batch(1, 1, 256), Execution::Graph);
        print(&p, "vllm");
        for op in &p.blocks[2].ops {
            eprintln!(
                "      {} {:.2} us {:?} {:?} {}",
                op.label,
                op.device.us(),
                op.bound,
                op.source,
                op.extrapolated
            );
        }
    }
}
