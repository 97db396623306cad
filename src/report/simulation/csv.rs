//! Simulations as tables of numbers: one row per quantity and statistic.

use super::words::machine_rows;
use crate::machine::Distribution;
use crate::report::context::Context;
use crate::report::number::finite;
use crate::serving::{Latency, ServingResult, Slo};
use crate::simulation::{LoadUnit, MachineAnswer, ServingAnswer};

/// Columns.
const HEADER: [&str; 6] = ["scenario", "mode", "quantity", "statistic", "value", "unit"];

/// The simulated machine as CSV, header first.
pub fn machine_csv(answer: &MachineAnswer, context: &Context) -> String {
    let mut sheet = Sheet::new(context, "machine");
    for (_, distribution, beside, name) in machine_rows(answer) {
        let name = name.trim_end_matches("_ms");
        sheet.distribution(name, distribution, "ms");
        sheet.row(name, "closed form", beside.closed.ms(), "ms");
        if let Some(observed) = &beside.observed {
            sheet.row(name, "observed", observed.time.value.ms(), "ms");
            sheet.row(name, "percentile of the observed", observed.percentile, "%");
        }
    }
    let verify = &answer.result.verify;
    sheet.distribution("allreduce.true", &verify.true_ms, "ms");
    sheet.distribution("allreduce.booked_over_true", &verify.booked_over_true, "");
    sheet.distribution("allreduce.least", &verify.least_ms, "ms");
    for rank in &verify.ranks {
        sheet.row(&format!("rank.{}.allreduce_booked", rank.rank), "mean", rank.booked_ms, "ms");
        sheet.row(&format!("rank.{}.allreduce_true", rank.rank), "mean", rank.true_ms, "ms");
    }
    sheet.row("utilisation.host", "mean", verify.utilisation.host, "");
    sheet.row("utilisation.gpu", "mean", verify.utilisation.gpu, "");
    for (link, share) in &verify.utilisation.links {
        sheet.row(&format!("utilisation.link.{link}"), "mean", *share, "");
    }
    sheet.row("runs", "", f64::from(answer.result.runs), "");
    sheet.finish()
}

/// Served requests as CSV, header first.
pub fn serving_csv(answer: &ServingAnswer, context: &Context) -> String {
    let mut sheet = Sheet::new(context, "serving");
    for (side, result) in [("with", &answer.with), ("without", &answer.without)] {
        sheet.result(side, result, answer.config.slo);
    }
    sheet.row("comparison", "ratio", answer.comparison.ratio, "");
    for (number, point) in (1..).zip(&answer.loads) {
        let unit = match point.unit {
            LoadUnit::RequestsPerSecond => "1/s",
            LoadUnit::Users => "users",
        };
        sheet.row(&format!("load.{number}"), "load", point.load, unit);
        for (side, result) in [("with", &point.with), ("without", &point.without)] {
            sheet.result(&format!("load.{number}.{side}"), result, answer.config.slo);
        }
    }
    sheet.finish()
}

struct Sheet<'a> {
    scenario: &'a str,
    mode: &'a str,
    writer: ::csv::Writer<Vec<u8>>,
}

impl<'a> Sheet<'a> {
    fn new(context: &'a Context, mode: &'a str) -> Self {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record(HEADER).expect("memory takes every record");
        Self { scenario: &context.scenario_name, mode, writer }
    }

    fn row(&mut self, quantity: &str, statistic: &str, value: f64, unit: &str) {
        let value = finite(value).map_or(String::new(), |v| v.to_string());
        let cells = [self.scenario, self.mode, quantity, statistic, &value, unit];
        self.writer.write_record(cells).expect("memory takes every record of the same length");
    }

    fn distribution(&mut self, quantity: &str, d: &Distribution, unit: &str) {
        for (statistic, value) in
            [("mean", d.mean()), ("p10", d.p10()), ("p50", d.p50()), ("p90", d.p90()), ("p99", d.p99())]
        {
            self.row(quantity, statistic, value, unit);
        }
    }

    fn latency(&mut self, quantity: &str, latency: &Latency) {
        for (statistic, time) in
            [("mean", latency.mean), ("p50", latency.p50), ("p90", latency.p90), ("p99", latency.p99)]
        {
            self.row(quantity, statistic, time.ms(), "ms");
        }
    }

    fn result(&mut self, side: &str, result: &ServingResult, slo: Slo) {
        let of = |what: &str| format!("{side}.{what}");
        let requests = &result.requests;
        self.row(&of("requests"), "arrived", requests.arrived as f64, "");
        self.row(&of("requests"), "completed", requests.completed as f64, "");
        self.row(&of("requests"), "rejected", requests.rejected as f64, "");
        self.row(&of("throughput"), "mean", result.throughput.get(), "tok/s");
        if slo != Slo::default() {
            self.row(&of("goodput"), "mean", result.goodput.request_rate, "1/s");
        }
        self.latency(&of("ttft"), &result.ttft);
        self.latency(&of("tpot"), &result.tpot);
        self.latency(&of("itl"), &result.itl);
        self.latency(&of("e2e"), &result.e2e);
        self.row(&of("accept_length"), "mean", result.accept_length.get(), "tokens");
        self.row(&of("batch"), "mean", result.mean_batch, "requests");
        self.row(&of("busy"), "mean", result.busy_share, "");
        self.row(&of("kv"), "mean", result.kv.mean_share, "");
        self.row(&of("preemptions"), "", result.preemptions as f64, "");
    }

    fn finish(self) -> String {
        let bytes = self.writer.into_inner().expect("memory can be flushed");
        String::from_utf8(bytes).expect("cells are UTF-8")
    }
}
