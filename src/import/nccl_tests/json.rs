//! The JSON of `-J FILE`, version 3. Times are µs and bandwidths GB/s, though the keys do not say so.

use std::io::BufRead;

use serde_json::Value;

use super::names;
use super::row::{Block, Preamble, Row};
use super::table::Table;
use super::text::version_of_number;
use crate::import::{Sink, Summary, json};

const KEYS: &[&str] = &[
    "version",
    "start_time",
    "args",
    "env",
    "nccl_version",
    "config",
    "devices",
    "results",
    "out_of_bounds",
    "average_bus_bandwidth",
    "errors",
    "end_time",
];

/// Reads a document.
pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    let mut summary = Summary::default();
    let document = match json::read(input) {
        Ok(document) => document,
        Err(why) => {
            summary.fault = Some(why);
            return summary;
        }
    };
    summary.cut = document.cut;
    let value = document.value;
    match value["version"].as_i64() {
        Some(3) => {}
        other => {
            let found = other.map_or("no version".to_owned(), |version| format!("version {version}"));
            summary.fault = Some(format!(
                "JSON of nccl-tests with {found}; version 3 is read. The table that the run printed can be imported instead"
            ));
            return summary;
        }
    }
    for key in value.as_object().into_iter().flat_map(serde_json::Map::keys) {
        if !KEYS.contains(&key.as_str()) {
            summary.unknown_key(key);
        }
    }
    let mut table = table(&value);
    for (at, result) in value["results"].as_array().into_iter().flatten().enumerate() {
        let number = at as u64 + 1;
        let shown = || format!("result {number}: {}", brief(result));
        if result["size"].as_u64() == Some(0) {
            summary.warn("size-0", 0, "a message of no bytes is no measurement", &shown());
            continue;
        }
        let taken = row(result).and_then(|row| table.push(0, row, &shown()));
        match taken {
            Ok(()) => summary.read += 1,
            Err(why) => summary.skipped.note(0, &why, &shown()),
        }
    }
    if value["out_of_bounds"]["okay"] == "false" {
        summary.warn("out-of-bounds", 0, "the run itself says that results are wrong", "");
    }
    if !table.rows.is_empty() {
        table.emit(&mut summary, sink);
    }
    summary
}

fn brief(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}

fn table(value: &Value) -> Table {
    let mut table = Table::default();
    let run = &mut table.run;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    run.nccl = version_of_number(&value["nccl_version"].to_string()).filter(|version| version != "0.0.0");
    run.op = text(&value["args"][0]).as_deref().and_then(names::in_line);
    let devices = value["devices"].as_array().map_or(&[][..], Vec::as_slice);
    run.ranks = u32::try_from(devices.len()).ok().filter(|ranks| *ranks > 0);
    for device in devices {
        run.take_gpu(device["device_info"].as_str().unwrap_or_default());
    }
    let distinct = |key: fn(&Value) -> String| {
        let mut found: Vec<String> = devices.iter().map(key).collect();
        found.sort();
        found.dedup();
        found.len() as u32
    };
    run.hosts = distinct(|device| device["hostname"].to_string());
    run.processes = distinct(|device| format!("{} {}", device["hostname"], device["pid"]));
    let config = &value["config"];
    run.graph = config["graph"].as_u64().is_some_and(|graph| graph > 0);
    let named = |key: &str| format!("{key} {}", config[key]);
    let settings =
        ["nthreads", "ngpus", "minimum_bytes", "maximum_bytes", "warmup_iters", "iterations", "graph"];
    run.command = config.is_object().then(|| settings.map(named).join(" "));
    run.environment = value["env"].as_array().into_iter().flatten().filter_map(variable).collect();
    table
}

/// NCCL_* variables, the only ones that are kept; paths lose their folders.
fn variable(entry: &Value) -> Option<(String, String)> {
    let (name, value) = entry.as_str()?.split_once('=')?;
    let named = name.strip_prefix("NCCL_").is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    });
    // Interface names and addresses say where a machine stands.
    let private =
        ["SOCKET_IFNAME", "OOB", "COMM_ID", "HOSTID", "IB_HCA"].iter().any(|word| name.contains(word));
    let value = value.rsplit('/').next().unwrap_or_default();
    (named && !private).then(|| (name.to_owned(), value.to_owned()))
}

fn row(result: &Value) -> Result<Row, String> {
    let whole = |key: &str| result[key].as_u64().ok_or_else(|| format!("`{key}` is missing"));
    let text = |key: &str| result[key].as_str().unwrap_or_default().to_owned();
    let root = result["root"].as_i64().or_else(|| result["root"].as_str()?.trim().parse().ok());
    let preamble = Preamble {
        size: whole("size")?,
        count: whole("count")?,
        dtype: text("type"),
        redop: text("redop"),
        root,
    };
    let (out, inside) = (&result["out_of_place"], &result["in_place"]);
    let in_place = if inside.is_object() { Some(block(inside)?) } else { None };
    // Some programs measure in place only.
    let out_of_place = if out.is_object() { block(out)? } else { in_place.ok_or("no times")? };
    Ok(Row { preamble, out_of_place, in_place })
}

fn block(value: &Value) -> Result<Block, String> {
    let number = |key: &str| value[key].as_f64().filter(|number| number.is_finite() && *number >= 0.0);
    let time = number("time").or(number("cpu_time")).filter(|time| (0.001..1e9).contains(time));
    Ok(Block {
        time: time.ok_or("`time` is missing or no time")?,
        algbw: number("alg_bw").unwrap_or(f64::NAN),
        busbw: number("bus_bw").unwrap_or(f64::NAN),
        wrong: number("nwrong"),
    })
}
