//! Writes a server log of a given size in bytes to stdout: SGLang's and vLLM's lines among those of HTTP servers, loaders
//! and health checks, with eight ranks that print the same, cut lines, colour, JSON wrappers, CR LF and bytes that are no
//! text. The same size gives the same bytes. For measuring how fast and in how little memory `specplan import` reads it:
//!
//! ```text
//! cargo run --release --example server_log -- 1000000000 | specplan import sglang-log -
//! ```

use std::io::{self, BufWriter, Write};

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

fn main() -> io::Result<()> {
    let size: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut written, mut tick) = (0, 0_u64);
    while written < size {
        for line in lines(tick, &mut rng) {
            out.write_all(&line)?;
            written += line.len() as u64;
        }
        tick += 1;
    }
    out.flush()
}

/// What the servers print in one tick.
fn lines(tick: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<Vec<u8>> {
    let stamp = format!(
        "2026-04-{:02} {:02}:{:02}:{:02}",
        1 + tick / 86_400 % 28,
        tick / 3600 % 24,
        tick / 60 % 60,
        tick % 60
    );
    let mut lines = vec![format!(
        "INFO:     10.0.0.{}:56326 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK\n",
        tick % 250
    )];
    if tick.is_multiple_of(5000) {
        lines.push(format!(
            "[{stamp}] server_args=ServerArgs(model_path='m', tp_size=8, speculative_algorithm='EAGLE3', \
             speculative_num_steps=3, speculative_eagle_topk=1, speculative_num_draft_tokens=4)\n"
        ));
    }
    let running = 1 + tick / 200 % 64;
    let length = 2.5 + rng.random::<f64>();
    let throughput = running as f64 * length / (0.020 + 0.0004 * running as f64);
    let decode = format!(
        "Decode batch, #running-req: {running}, #token: {}, token usage: 0.29, accept len: {length:.2}, accept rate: {:.2}, cuda \
         graph: True, gen throughput (token/s): {throughput:.2}, #queue-req: 3\n",
        1000 + tick,
        (length - 1.0) / 3.0
    );
    for rank in 0..8 {
        lines.push(format!("[{stamp} TP{rank}] {decode}"));
    }
    if tick.is_multiple_of(7) {
        lines.push(format!("[{stamp} TP0] Prefill batch, #new-seq: 1, #new-token: 812, #cached-token: 0, token usage: 0.1, #running-req: 3, #queue-req: 0\n"));
    }
    if tick.is_multiple_of(10) {
        lines.extend(vllm(tick, &stamp, rng));
    }
    for n in 0..6 {
        lines.push(format!("{stamp},{n:03} DEBUG health_check[{tick}]: status=ok elapsed={}ms url=http://127.0.0.1:8000/health\n", n * 7));
    }
    let mut lines: Vec<Vec<u8>> = lines.into_iter().map(String::into_bytes).collect();
    let last = lines.len() - 1;
    match tick % 50 {
        0 => lines[1].truncate(60),
        1 => lines.push(b"\x00\xff\xfe\x80 no text: at all = here\n".to_vec()),
        2 => lines[last] = format!("\u{1b}[32m[{stamp} TP0]\u{1b}[0m {}\r\n", decode.trim_end()).into_bytes(),
        3 => {
            lines[last] =
                format!("{{\"log\":\"[{stamp} TP0] {}\\n\",\"stream\":\"stderr\"}}\n", decode.trim_end())
                    .into_bytes();
        }
        _ => {}
    }
    lines
}

/// An interval of vLLM: counts that agree with their rates.
fn vllm(tick: u64, stamp: &str, rng: &mut Xoshiro256PlusPlus) -> [String; 2] {
    let drafts = 200 + rng.random_range(0..100_u64);
    let first = drafts * rng.random_range(60..90_u64) / 100;
    let second = first * 2 / 3;
    let third = second / 2;
    let accepted = first + second + third;
    let rate = |count: u64| count as f64 / drafts as f64;
    let clock = &stamp[5..];
    [
        format!(
            "(APIServer pid=1) INFO {clock} [loggers.py:310] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation \
             throughput: {:.1} tokens/s, Running: {} reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%\n",
            (accepted + drafts) as f64 / 10.0,
            1 + tick % 4
        ),
        format!(
            "(APIServer pid=1) INFO {clock} [metrics.py:120] SpecDecoding metrics: Mean acceptance length: {:.2}, Accepted \
             throughput: {:.2} tokens/s, Drafted throughput: {:.2} tokens/s, Accepted: {accepted} tokens, Drafted: {} tokens, \
             Per-position acceptance rate: {:.3}, {:.3}, {:.3}, Avg Draft acceptance rate: {:.1}%\n",
            1.0 + rate(accepted),
            accepted as f64 / 10.0,
            3.0 * drafts as f64 / 10.0,
            3 * drafts,
            rate(first),
            rate(second),
            rate(third),
            100.0 * rate(accepted) / 3.0
        ),
    ]
}
