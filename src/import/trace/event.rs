//! Events out of their bytes.

use std::io::BufRead;

use serde::Deserialize;
use serde_json::Value;

use super::scan::{End, Found, scan};
use super::{TraceEvent, WorkClass};
use crate::import::{Observation, Sink, Summary, What};
use crate::units::Seconds;

/// The longest part of a name that is kept \[characters\].
const NAME: usize = 120;

/// What of an event is needed; the rest is passed over.
#[derive(Debug, Deserialize)]
struct Raw<'a> {
    #[serde(default, borrow)]
    ph: Option<std::borrow::Cow<'a, str>>,
    #[serde(default, borrow)]
    cat: Option<std::borrow::Cow<'a, str>>,
    #[serde(default, borrow)]
    name: Option<std::borrow::Cow<'a, str>>,
    #[serde(default)]
    pid: Option<Id>,
    #[serde(default)]
    tid: Option<Id>,
    #[serde(default)]
    ts: Option<Number>,
    #[serde(default)]
    dur: Option<Number>,
}

/// A number of a process or thread; traces write some as text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Id {
    Whole(u64),
    Other(serde::de::IgnoredAny),
}

/// Times are numbers, in some exporters texts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Float(f64),
    Text(String),
}

impl Number {
    fn get(&self) -> Option<f64> {
        let number = match self {
            Self::Float(number) => *number,
            Self::Text(text) => text.trim().parse().ok()?,
        };
        number.is_finite().then_some(number)
    }
}

fn id(id: Option<&Id>) -> u64 {
    match id {
        Some(Id::Whole(number)) => *number,
        Some(Id::Other(_)) | None => 0,
    }
}

/// Reads all events.
pub(super) fn read(input: &mut dyn BufRead, summary: &mut Summary, sink: &mut Sink) {
    let mut number = 0;
    let end = scan(input, |found| match found {
        Found::Event(bytes) => {
            number += 1;
            match serde_json::from_slice::<Raw>(bytes) {
                Ok(raw) => match event(&raw) {
                    Ok(Some(event)) => {
                        summary.read += 1;
                        sink(Observation::at(0, What::Trace(event)));
                    }
                    Ok(None) => {}
                    Err(why) => summary.skipped.note(0, &format!("event {number}: {why}"), &shown(bytes)),
                },
                Err(error) => {
                    let why = format!("event {number} is no JSON object: {error}");
                    summary.skipped.note(0, &why, &shown(bytes));
                }
            }
        }
        Found::TooLong => number += 1,
        Found::Field(key, bytes) => field(key, bytes, sink),
    });
    match end {
        End::Whole => {}
        End::Open => summary.cut = Some(format!("the trace ends after event {number}: it is cut")),
        End::Failed(error) => summary.cut = Some(format!("reading stopped after event {number}: {error}")),
    }
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned()
}

/// `distributedInfo` and `baseTimeNanoseconds`.
fn field(key: &str, bytes: &[u8], sink: &mut Sink) {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
    let file = match key {
        "distributedInfo" => {
            let rank = value["rank"].as_u64().and_then(|rank| u32::try_from(rank).ok());
            TraceEvent::File { rank, clock: None }
        }
        "baseTimeNanoseconds" => {
            let clock = value.as_f64().filter(|ns| ns.is_finite()).map(|ns| Seconds::new(ns * 1e-9));
            TraceEvent::File { rank: None, clock }
        }
        _ => return,
    };
    sink(Observation::at(0, What::Trace(file)));
}

/// The event, if it is one that matters.
fn event(raw: &Raw) -> Result<Option<TraceEvent>, String> {
    if raw.ph.as_deref() != Some("X") {
        return Ok(None);
    }
    let name = raw.name.as_deref().unwrap_or_default();
    let work = match raw.cat.as_deref().unwrap_or_default() {
        "kernel" | "gpu_memcpy" | "gpu_memset" | "gpu" | "Kernel" => true,
        "cuda_runtime" | "cuda_driver" | "host" | "Runtime" => false,
        "user_annotation" if name.starts_with("ProfilerStep#") => return Ok(Some(TraceEvent::Step)),
        _ => return Ok(None),
    };
    // A part of the all-reduce around it, which is booked already.
    if name == "waiting for the last rank" {
        return Ok(None);
    }
    let graph = name.contains("GraphLaunch") || name == "graph launch";
    if !work && !graph && !launches(name, raw.cat.as_deref()) {
        return Ok(None);
    }
    let time = |number: Option<&Number>, what: &str| {
        number.and_then(Number::get).ok_or_else(|| format!("`{what}` is missing or no number"))
    };
    let begin = time(raw.ts.as_ref(), "ts")?;
    // From the start of a machine or of the epoch, in µs: three centuries of it are enough.
    if begin.abs() > 1e16 {
        return Err(format!("a begin of {begin:e} µs"));
    }
    let start = Seconds::from_us(begin);
    let length = time(raw.dur.as_ref(), "dur")?;
    if !(0.0..1e12).contains(&length) {
        return Err(format!("a duration of {length} µs"));
    }
    let time = Seconds::from_us(length);
    Ok(Some(if work {
        TraceEvent::Work {
            process: id(raw.pid.as_ref()),
            stream: id(raw.tid.as_ref()),
            class: WorkClass::of(name),
            name: name.chars().take(NAME).collect(),
            start,
            time,
        }
    } else {
        TraceEvent::Launch { process: id(raw.pid.as_ref()), thread: id(raw.tid.as_ref()), graph, start, time }
    }))
}

/// Calls that give a kernel or a copy to a GPU.
fn launches(name: &str, category: Option<&str>) -> bool {
    category == Some("host")
        || name.contains("LaunchKernel")
        || name.contains("MemcpyAsync")
        || name.contains("MemsetAsync")
}
