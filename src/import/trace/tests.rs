//! Traces in the shape that Kineto writes.

use super::*;
use crate::import::What;

fn of(text: &str) -> (Vec<TraceEvent>, Summary) {
    let mut found = Vec::new();
    let summary = read(&mut text.as_bytes(), &mut |observation| {
        if let What::Trace(event) = observation.what {
            found.push(event);
        }
    });
    (found, summary)
}

const HEAD: &str = r#"{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
"baseTimeNanoseconds": 1000000000, "traceEvents": ["#;

#[test]
fn kernels_launches_and_the_rank() {
    let text = format!(
        r#"{HEAD}{{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "pid": 3, "tid": 20, "ts": 1000.5, "dur": 205.25, "args": {{"stream": 20, "correlation": 7}}}},
        {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 991, "tid": 991, "ts": 990, "dur": 4, "args": {{"correlation": 7}}}},
        {{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 991, "tid": 991, "ts": 980, "dur": 20}},
        {{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 900, "dur": 2000}},
        {{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 991, "tid": 991, "ts": 900, "dur": 900}},
        {{"ph": "M", "name": "process_name", "pid": 3, "args": {{"name": "python"}}}}
        ]}}"#
    );
    let (found, summary) = of(&text);
    assert_eq!((found.len(), summary.read, summary.skipped.count, summary.cut), (5, 3, 0, None));
    assert_eq!(found[0], TraceEvent::File { rank: Some(3), clock: None });
    let expected = TraceEvent::Work {
        process: 3,
        stream: 20,
        class: WorkClass::AllReduce,
        name: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL".to_owned(),
        start: Seconds::from_us(1000.5),
        time: Seconds::from_us(205.25),
    };
    assert_eq!(found[2], expected);
    assert_eq!(found[4], TraceEvent::Step);
}

#[test]
fn cut_traces_bare_lists_and_bad_events() {
    let kernel = r#"{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2}"#;
    let (found, summary) = of(&format!("{HEAD}{kernel}, {}", &kernel[..40]));
    assert_eq!((found.len(), summary.read), (3, 1));
    assert!(summary.cut.is_some());
    let (found, summary) = of(&format!("[{kernel}, {}]", kernel.replace("\"dur\": 2", "\"dur\": -2")));
    assert_eq!((found.len(), summary.skipped.count), (1, 1));
    assert_eq!(summary.skipped.first[0].why, "event 2: a duration of -2 µs");
    let (_, summary) = of(&format!("[{}]", kernel.replace("\"ts\": 1", "\"ts\": [1]")));
    assert_eq!(summary.skipped.count, 1);
}
