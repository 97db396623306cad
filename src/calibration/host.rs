//! The host of a box, as far as its table `launch` knows it: measured figures in place of a runtime profile's.

use super::Calibration;
use super::launch::LaunchWhat;
use crate::runtime::{Runtime, RuntimeKind};
use crate::sourced::{SPREAD_DEVIATIONS, Source, Sourced, Spread};
use crate::units::{Bytes, Seconds};

/// `op` of the `issue` row of a whole layer; its range is the drift of the host, not the jitter of an operation.
const WHOLE_LAYER: &str = "layer";
/// `op` of the `issue-collective` row of an all-reduce while a graph with one is alive.
const BESIDE_GRAPHS: &str = "all-reduce-beside-graphs";

impl Calibration {
    /// A runtime profile with what was measured on this box in place of its defaults; the rest stays as it is.
    ///
    /// | figure | row of the server itself | row of any server |
    /// |---|---|---|
    /// | issue of a kernel | `issue` without `op` | |
    /// | issue of a collective | `issue-collective`, `all-reduce` or without `op` | |
    /// | graph launch | | `graph-launch` |
    /// | jitter of one host operation | `issue`, from p10 and p90 | |
    /// | host work of a step | | `read-back`: plain PyTorch and CUDA do nothing else between two passes |
    ///
    /// A draft/verify cycle of plain PyTorch or CUDA reads its tokens back once, as a step does, so that its further host
    /// work becomes nothing. What a server does per step and cycle cannot be seen from here and stays its profile's.
    #[must_use]
    pub fn measured_host(&self, mut runtime: Runtime) -> Runtime {
        let kind = runtime.kind;
        let row = |what, op| self.launch(kind, what, op, Bytes::ZERO);
        if let Some(issue) = row(LaunchWhat::Issue, "") {
            runtime.issue_kernel = issue;
        }
        let collective = row(LaunchWhat::IssueCollective, "all-reduce");
        if let Some(issue) = collective.or_else(|| row(LaunchWhat::IssueCollective, "")) {
            runtime.issue_collective = issue;
        }
        if let Some(launch) = row(LaunchWhat::GraphLaunch, "") {
            runtime.graph_launch = launch;
            // The rows time a whole graph, its nodes included.
            runtime.graph_node = Sourced::new(Seconds::ZERO, Source::Measured);
        }
        if let (RuntimeKind::Pytorch | RuntimeKind::Cuda, Some(read_back)) =
            (kind, row(LaunchWhat::ReadBack, ""))
        {
            let nothing = Sourced::new(Seconds::ZERO, Source::Measured);
            runtime.host_per_step = read_back;
            (runtime.host_per_cycle, runtime.host_per_cycle_overlapped) = (nothing, nothing);
        }
        if let Some(cv) = self.host_jitter(kind) {
            runtime.host_jitter = Sourced::new(cv, Source::Measured);
        }
        runtime
    }

    /// The same for passes that are issued operation by operation while graphs with collectives are alive, as a verify pass
    /// beside a drafter's graphs: NCCL orders the calls after the graphs, and each costs the host more (row
    /// `issue-collective`, `all-reduce-beside-graphs`).
    #[must_use]
    pub fn beside_graphs(&self, mut runtime: Runtime) -> Runtime {
        if let Some(issue) =
            self.launch(runtime.kind, LaunchWhat::IssueCollective, BESIDE_GRAPHS, Bytes::ZERO)
        {
            runtime.issue_collective = issue;
        }
        runtime
    }

    /// Standard deviation over mean of one host operation of a server, from the ranges of its issue times (lognormal, the
    /// median over the operations); none where they were not measured.
    pub fn host_jitter(&self, server: RuntimeKind) -> Option<f64> {
        let of = |range: Spread<Seconds>| {
            let sigma = (range.high / range.low).ln() / (2.0 * SPREAD_DEVIATIONS);
            (sigma * sigma).exp_m1().sqrt()
        };
        let rows = self
            .launch_rows()
            .iter()
            .filter(|row| row.server == server && row.what == LaunchWhat::Issue && row.op != WHOLE_LAYER);
        let mut found: Vec<f64> = rows.filter_map(|row| row.time.spread.map(of)).collect();
        found.sort_by(f64::total_cmp);
        found.get(found.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{none, parse};

    fn measured() -> Calibration {
        let yaml = "format: specplan-calibration/1\nbox: { gpu: h200, count: 1 }\n\
            provenance: { source: a test, licence: none }\ntables:\n  launch: |\n    \
            server,what,op,median_us,p10_us,p90_us\n    pytorch,issue,,6,5,8\n    \
            pytorch,issue-collective,all-reduce,31,,\n    \
            pytorch,issue-collective,all-reduce-loop,25,,\n    \
            pytorch,issue-collective,all-reduce-beside-graphs,47,,\n    pytorch,issue,layer,400,300,900\n    cuda,graph-launch,,4,,\n    cuda,read-back,,18,,\n";
        parse("mine", yaml, &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap()
    }

    #[test]
    fn measured_figures_replace_assumed_ones_and_say_so() {
        let plain = Runtime::profile(RuntimeKind::Pytorch);
        let runtime = measured().measured_host(plain.clone());
        let us = |figure: Sourced<Seconds>| (figure.value.us().round(), figure.source);
        assert_eq!(us(runtime.issue_kernel), (6.0, Source::Measured));
        assert_eq!(us(runtime.issue_collective), (31.0, Source::Measured));
        assert_eq!(us(runtime.graph_launch), (4.0, Source::Measured));
        assert_eq!(us(runtime.host_per_step), (18.0, Source::Measured));
        assert_eq!(us(runtime.host_per_cycle), (0.0, Source::Measured));
        assert_eq!(us(measured().beside_graphs(runtime).issue_collective), (47.0, Source::Measured));
        assert_eq!(none().measured_host(plain.clone()), plain);
        assert_eq!(none().beside_graphs(plain.clone()), plain);
    }

    #[test]
    fn a_server_keeps_what_is_its_own() {
        let plain = Runtime::profile(RuntimeKind::Sglang);
        let runtime = measured().measured_host(plain.clone());
        assert_eq!(runtime.issue_kernel, plain.issue_kernel);
        assert_eq!(runtime.host_per_cycle, plain.host_per_cycle);
        assert_eq!(runtime.graph_launch.source, Source::Measured);
    }

    #[test]
    fn jitter_is_that_of_the_percentiles() {
        let cv = measured().host_jitter(RuntimeKind::Pytorch).unwrap();
        // ln(8/5) over 2.563 standard deviations: sigma 0.1834, cv 0.185.
        assert!((cv - 0.185).abs() < 0.001, "{cv}");
        assert_eq!(measured().host_jitter(RuntimeKind::Cuda), None);
    }
}
