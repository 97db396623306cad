//! CUDA graphs by capture.

use std::sync::Arc;

use cudarc::driver::sys::{self, CUgraph, CUgraphExec, CUstreamCaptureMode};

use super::error::check;
use super::{Context, Stream};
use crate::calibration::measure::Failure;

/// An instantiated graph.
#[derive(Debug)]
pub(in crate::calibration::measure) struct Graph {
    made: CUgraph,
    exec: CUgraphExec,
    context: Arc<Context>,
}

impl Graph {
    /// Captures what `issue` queues on `stream`, as `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`.
    ///
    /// # Errors
    /// Those of `issue`; the capture is ended first, so that the stream can be used again.
    pub(in crate::calibration::measure) fn capture(
        stream: &Stream,
        issue: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        stream.context.bind()?;
        let (mut graph, mut exec) = (std::ptr::null_mut(), std::ptr::null_mut());
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream lives; the pointers are valid.
        unsafe {
            check(sys::cuStreamBeginCapture_v2(stream.raw, mode), "starting a capture")?;
            let issued = issue();
            let ended = check(sys::cuStreamEndCapture(stream.raw, &raw mut graph), "ending a capture");
            issued?;
            ended?;
            let made = check(sys::cuGraphInstantiateWithFlags(&raw mut exec, graph, 0), "making a graph");
            if let Err(failure) = made {
                let _ = sys::cuGraphDestroy(graph);
                return Err(failure);
            }
        }
        Ok(Self { made: graph, exec, context: Arc::clone(&stream.context) })
    }

    /// Sends it to the GPU ahead of its first launch.
    pub(in crate::calibration::measure) fn upload(&self, stream: &Stream) -> Result<(), Failure> {
        // SAFETY: both live.
        check(unsafe { sys::cuGraphUpload(self.exec, stream.raw) }, "uploading a graph")
    }

    /// Queues it.
    pub(in crate::calibration::measure) fn launch(&self, stream: &Stream) -> Result<(), Failure> {
        // SAFETY: both live.
        check(unsafe { sys::cuGraphLaunch(self.exec, stream.raw) }, "launching a graph")
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: made in `capture`.
            unsafe {
                let _ = sys::cuGraphExecDestroy(self.exec);
                let _ = sys::cuGraphDestroy(self.made);
            }
        }
    }
}
