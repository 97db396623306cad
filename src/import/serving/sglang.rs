//! SGLang's decode and prefill lines, of all versions.
//!
//! ```text
//! [2025-06-07 21:25:14 TP0] Decode batch. #running-req: 1, #token: 9322, token usage: 0.00, gen throughput (token/s): 97.52, #queue-req: 0
//! [2025-10-22 10:27:57 TP0] Decode batch. #running-req: 1, ..., accept len: 1.95, accept rate: 0.49, cuda graph: True, ...
//! [2026-04-30 08:57:02 TP0] Decode batch, #running-req: 48, ..., accept len: 2.94, accept rate: 0.65, cuda graph: True, ...
//! ```
//!
//! A record is split at commas and each part at its last colon (`managers/scheduler.py`,
//! `observability/scheduler_metrics_mixin.py`): names and order changed between versions. `#queue-req` follows the
//! throughput in all of them, so a record without it was cut. `gen throughput` is the mean of the interval, `#running-req`
//! the number at its end.

use super::printed::Printed;

/// Begins a decode record.
pub(super) const DECODE: &str = "Decode batch";
/// Begins a prefill record.
pub(super) const PREFILL: &str = "Prefill batch";

/// A decode record.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Decode {
    pub(super) running: u32,
    pub(super) queued: u32,
    /// Tokens per second.
    pub(super) throughput: f64,
    pub(super) accept_length: Option<Printed>,
    pub(super) accept_rate: Option<Printed>,
    pub(super) graph: Option<bool>,
    /// Whether `#cache_miss` stands there, which only the JAX port prints.
    pub(super) jax: bool,
}

/// More tokens per cycle than any draft has.
const MOST_LENGTH: f64 = 1024.0;

/// Reads a record that begins with [`DECODE`]. Unknown names go to `unknown`.
///
/// # Errors
/// What makes it unreadable: it was cut, or two records were mixed, or a value is no number.
pub(super) fn decode(record: &str, unknown: &mut impl FnMut(&str)) -> Result<Decode, &'static str> {
    let mut found = Decode::default();
    // Running, throughput, queue, accept length, accept rate, graph.
    let mut seen = [false; 6];
    for part in parts(record, DECODE) {
        let Some((name, value)) = part.rsplit_once(':') else {
            return Err("a part of the record is not `name: value`");
        };
        let (name, value) = (name.trim(), value.trim());
        let at = match name {
            "#running-req" => 0,
            "gen throughput (token/s)" => 1,
            "#queue-req" => 2,
            "accept len" => 3,
            "accept rate" => 4,
            "cuda graph" | "cpu graph" | "npu graph" => 5,
            "#cache_miss" => {
                found.jax = true;
                continue;
            }
            _ if known(name) => continue,
            _ => {
                unknown(name);
                continue;
            }
        };
        if std::mem::replace(&mut seen[at], true) {
            return Err("two records are mixed: a value stands twice");
        }
        let number = || Printed::parse(value).ok_or("a value is no number");
        let count = || value.parse::<u32>().map_err(|_| "a count is no whole number");
        match at {
            0 => found.running = count()?,
            1 => found.throughput = number()?.value,
            2 => found.queued = count()?,
            3 => found.accept_length = Some(number()?),
            4 => found.accept_rate = Some(number()?),
            _ => {
                found.graph = Some(match value {
                    "True" => true,
                    "False" => false,
                    _ => return Err("a graph is neither True nor False"),
                });
            }
        }
    }
    match seen {
        [true, true, true, ..] => checked(found),
        _ => Err("the record was cut: no throughput, running or queue"),
    }
}

fn checked(found: Decode) -> Result<Decode, &'static str> {
    match found.accept_length {
        Some(length) if length.value > 0.0 && length.value < 1.0 => {
            Err("an accept length below 1: it counts the bonus token")
        }
        // 0.00 is printed where no verify pass ran.
        Some(length) if length.value > MOST_LENGTH => Err("an accept length beyond any draft"),
        Some(length) if length.value <= 0.0 => Ok(Decode { accept_length: None, accept_rate: None, ..found }),
        _ => Ok(found),
    }
}

/// A prefill record: new and cached tokens.
pub(super) fn prefill(record: &str) -> Result<(u64, u64), &'static str> {
    let (mut new, mut cached) = (None, 0);
    for part in parts(record, PREFILL) {
        let Some((name, value)) = part.rsplit_once(':') else { continue };
        let count = || value.trim().parse::<u64>().map_err(|_| "a count is no whole number");
        match name.trim() {
            "#new-token" => new = Some(count()?),
            "#cached-token" => cached = count()?,
            _ => {}
        }
    }
    new.map(|new| (new, cached)).ok_or("the record was cut: no `#new-token`")
}

/// The parts of a record behind its first words, ` [123]` of the forward counter among them.
fn parts<'a>(record: &'a str, first: &str) -> impl Iterator<Item = &'a str> {
    let rest = record[first.len()..].trim_end();
    let rest = match rest.strip_prefix(" [") {
        Some(counter) => counter.find(']').map_or(counter, |end| &counter[end + 1..]),
        None => rest,
    };
    let rest = rest.trim_start_matches(['.', ',', ' ']);
    rest.split(',').map(str::trim).filter(|part| !part.is_empty())
}

/// Names that stand in decode records and say nothing about acceptance or time.
fn known(name: &str) -> bool {
    matches!(
        name,
        "#token"
            | "token usage"
            | "#full token"
            | "full token usage"
            | "#swa token"
            | "swa token usage"
            | "mamba num"
            | "mamba usage"
            | "pre-allocated usage"
            | "#prealloc-req"
            | "#transfer-req"
            | "#retracted-req"
            | "waiting-image-req"
            | "est. decode TFLOPS/s (per GPU)"
            | "est. read BW (GB/s per GPU)"
            | "est. write BW (GB/s per GPU)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(record: &str) -> Result<Decode, &'static str> {
        decode(record, &mut |name| panic!("unknown {name}"))
    }

    #[test]
    fn the_three_published_lines() {
        let one = "Decode batch. #running-req: 1, #token: 9322, token usage: 0.00, gen throughput (token/s): 97.52, #queue-req: 0";
        let found = read(one).expect("whole");
        assert_eq!((found.running, found.queued, found.accept_length, found.graph), (1, 0, None, None));
        assert!((found.throughput - 97.52).abs() < 1e-12);
        let two = "Decode batch. #running-req: 1, #token: 186, token usage: 0.00, accept len: 1.95, accept rate: 0.49, \
                   cuda graph: True, gen throughput (token/s): 178.86, #queue-req: 0, ";
        let found = read(two).expect("whole");
        assert_eq!(
            (found.accept_length, found.accept_rate),
            (Printed::parse("1.95"), Printed::parse("0.49"))
        );
        assert_eq!(found.graph, Some(true));
        let three = "Decode batch, #running-req: 48, #token: 159559, token usage: 0.29, accept len: 2.94, accept rate: 0.65, \
                     cuda graph: True, gen throughput (token/s): 2849.40, #queue-req: 1526";
        let found = read(three).expect("whole");
        assert_eq!((found.running, found.queued), (48, 1526));
    }

    #[test]
    fn every_variant_of_the_table() {
        let variants = [
            "Decode batch [123], #running-req: 2, #token: 1, token usage: 0.00, gen throughput (token/s): 5.0, #queue-req: 0",
            "Decode batch. #running-req: 2, #full token: 5, full token usage: 0.1, #swa token: 4, swa token usage: 0.2, \
             accept len: 1.50, cuda graph: False, gen throughput (token/s): 5.0, #queue-req: 0, ",
            "Decode batch, #running-req: 2, #token: 5, token usage: 0.1, mamba num: 3, mamba usage: 0.2, \
             pre-allocated usage: 0.22, #prealloc-req: 0, #transfer-req: 1, #retracted-req: 0, npu graph: True, \
             gen throughput (token/s): 5.0, #queue-req: 0, est. decode TFLOPS/s (per GPU): 3.1",
            "Decode batch. #running-req: 2, #token: 5, token usage: 0.1, cpu graph: True, gen throughput (token/s): 5.0, \
             #queue-req: 0, #cache_miss: 0",
        ];
        for line in variants {
            let found = read(line).unwrap_or_else(|why| panic!("{line}: {why}"));
            assert_eq!(found.running, 2);
            assert!((found.throughput - 5.0).abs() < 1e-12);
        }
        assert!(read(variants[3]).expect("whole").jax);
        assert_eq!(read(variants[1]).expect("whole").graph, Some(false));
    }

    #[test]
    fn cut_and_mixed_records_are_refused() {
        let whole = "Decode batch. #running-req: 1, #token: 186, token usage: 0.00, accept len: 1.95, accept rate: 0.49, \
                     cuda graph: True, gen throughput (token/s): 178.86, #queue-req: 0";
        assert!(read(whole).is_ok());
        for end in DECODE.len()..whole.len() {
            assert!(read(&whole[..end]).is_err(), "{}", &whole[..end]);
        }
        assert!(read(&format!("{whole}, #running-req: 2")).is_err(), "twice");
        assert!(read(&whole.replace("1.95", "1.9x")).is_err());
        assert!(read(&whole.replace("1.95", "0.95")).is_err());
        let none = read(&whole.replace("1.95, accept rate: 0.49", "0.00, accept rate: 0.00")).expect("idle");
        assert_eq!(none.accept_length, None);
        assert!(read(&whole.replace("1.95", "777777.95")).is_err(), "found by fuzzing");
    }

    #[test]
    fn prefill_records() {
        let line = "Prefill batch. #new-seq: 1, #new-token: 4982, #cached-token: 7306, token usage: 0.31, #running-req: 12, \
                    #queue-req: 4, ";
        assert_eq!(prefill(line), Ok((4982, 7306)));
        assert!(prefill("Prefill batch. #new-seq: 1, #new-tok").is_err());
    }
}
