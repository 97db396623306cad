//! A meter that makes its times up, for tests of everything around measuring: closed forms with a seeded jitter, and
//! faults that are injected on demand. What it says is marked `synthetic`, and a file made from it says so too.
//!
//! The box and the faults come as words: `gpus=8,p2p=no,memory=4GiB,hang@17,out-of-memory@attention`. A fault is named
//! with the number of a task or with its word (`gemm`, `collective`, ...); [`Fault`] lists the sorts.

mod times;

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use super::reply::{Failure, FailureKind, GpuInfo, Inspection, Measured};
use super::task::Request;
use super::{Meter, plan};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No answer, ever.
    Hang,
    /// The process ends in the middle.
    Crash,
    /// An answer that is no JSON.
    Garbage,
    /// A flood of lines that are no answers, without end.
    Flood,
    /// The GPU with the highest number falls off, for this process and later ones.
    LostGpu,
    /// Not enough memory.
    OutOfMemory,
    /// The check of the result failed.
    WrongResult,
    /// The answer takes a second longer.
    Slow,
    /// A time that is no number.
    NotANumber,
    /// Ten times the usual time.
    Outlier,
}

const FAULTS: &[(&str, Fault)] = &[
    ("hang", Fault::Hang),
    ("crash", Fault::Crash),
    ("garbage", Fault::Garbage),
    ("flood", Fault::Flood),
    ("lost-gpu", Fault::LostGpu),
    ("out-of-memory", Fault::OutOfMemory),
    ("wrong-result", Fault::WrongResult),
    ("slow", Fault::Slow),
    ("not-a-number", Fault::NotANumber),
    ("outlier", Fault::Outlier),
];

/// The synthetic meter.
#[derive(Debug, Clone, PartialEq)]
pub struct Synthetic {
    gpus: u32,
    p2p: bool,
    nvlink: bool,
    nccl: bool,
    missing: Vec<String>,
    free: u64,
    /// Relative standard deviation of the jitter.
    cv: f64,
    /// Real time per task.
    pause: Duration,
    faults: Vec<(Fault, String)>,
    /// Where lost GPUs are remembered across processes: one byte each.
    lost: Option<PathBuf>,
}

impl Synthetic {
    /// Reads the words.
    ///
    /// # Errors
    /// A sentence about the first word that is not understood.
    pub fn parse(words: &str) -> Result<Self, String> {
        let mut meter = Self {
            gpus: 2,
            p2p: true,
            nvlink: false,
            nccl: true,
            missing: Vec::new(),
            free: 80 << 30,
            cv: 0.02,
            pause: Duration::ZERO,
            faults: Vec::new(),
            lost: None,
        };
        for word in words.split(',').filter(|word| !word.is_empty()) {
            meter.take(word).ok_or_else(|| format!("`{word}` is no word of the synthetic meter"))?;
        }
        Ok(meter)
    }

    fn take(&mut self, word: &str) -> Option<()> {
        if let Some((fault, whom)) = word.split_once('@') {
            let (_, fault) = FAULTS.iter().find(|(name, _)| *name == fault)?;
            self.faults.push((*fault, whom.to_owned()));
            return Some(());
        }
        let (key, value) = word.split_once('=')?;
        match key {
            "gpus" => self.gpus = value.parse().ok()?,
            "p2p" => self.p2p = value == "yes",
            "nvlink" => self.nvlink = value == "yes",
            "nccl" => self.nccl = value == "yes",
            "missing" => self.missing.push(value.to_owned()),
            "memory" => self.free = value.strip_suffix("MiB")?.parse::<u64>().ok()? << 20,
            "cv" => self.cv = value.parse().ok()?,
            "pause" => self.pause = Duration::from_millis(value.parse().ok()?),
            "lost" => self.lost = Some(value.into()),
            _ => return None,
        }
        Some(())
    }

    fn fault(&self, request: &Request) -> Option<Fault> {
        let number = request.id.to_string();
        let what = plan::what(&request.task);
        self.faults.iter().find(|(_, whom)| *whom == number || *whom == what).map(|(fault, _)| *fault)
    }

    fn lost(&self) -> u32 {
        let remembered = self.lost.as_ref().and_then(|path| std::fs::read(path).ok());
        remembered.map_or(0, |bytes| bytes.len() as u32)
    }

    fn lose(&self) -> Failure {
        if let Some(path) = &self.lost {
            let mut bytes = std::fs::read(path).unwrap_or_default();
            bytes.push(b'x');
            let _ = std::fs::write(path, bytes);
        }
        Failure::new(FailureKind::GpuLost, "the GPU has fallen off the bus")
    }
}

impl Meter for Synthetic {
    fn inspect(&mut self) -> Result<Inspection, Failure> {
        let n = self.gpus.saturating_sub(self.lost()) as usize;
        if n == 0 {
            return Err(Failure::new(FailureKind::NoDevice, "no GPU is visible"));
        }
        let gpu = GpuInfo {
            name: "synthetic".to_owned(),
            memory: 80 << 30,
            free: self.free,
            l2: 32 << 20,
            sms: 100,
            capability: [9, 0],
            clocks: "made up".to_owned(),
            pcie_generation: 5,
            pcie_lanes: 16,
        };
        Ok(Inspection {
            gpus: vec![gpu; n],
            driver: "0.0".to_owned(),
            cuda: "0.0".to_owned(),
            nccl: self.nccl.then(|| "0.0.0".to_owned()),
            missing: self.missing.clone(),
            peers: (0..n).map(|a| (0..n).map(|b| a == b || self.p2p).collect()).collect(),
            nvlink: self.nvlink,
            topology: "made up".to_owned(),
            synthetic: true,
        })
    }

    fn measure(&mut self, request: &Request) -> Result<Measured, Failure> {
        sleep(self.pause);
        let mut factor = 1.0;
        match self.fault(request) {
            Some(Fault::Hang) => loop {
                sleep(Duration::from_secs(3600));
            },
            Some(Fault::Crash) => std::process::abort(),
            Some(Fault::LostGpu) => return Err(self.lose()),
            Some(Fault::OutOfMemory) => {
                return Err(Failure::new(FailureKind::OutOfMemory, "the GPU has too little free memory"));
            }
            Some(Fault::WrongResult) => {
                let because = "the largest difference from the host's result is 3, 0.01 were allowed";
                return Err(Failure::new(FailureKind::WrongResult, because));
            }
            Some(Fault::Slow) => sleep(Duration::from_secs(1)),
            Some(Fault::NotANumber) => factor = f64::NAN,
            Some(Fault::Outlier) => factor = 10.0,
            // The last two are about lines, and done by whoever writes them.
            Some(Fault::Garbage | Fault::Flood) | None => {}
        }
        let samples_us = times::samples(request, self.cv).into_iter().map(|us| us * factor).collect();
        Ok(Measured { samples_us, check: times::check(&request.task), notes: Vec::new() })
    }

    fn spoil(&self, request: &Request) -> Option<&'static str> {
        match self.fault(request) {
            Some(Fault::Garbage) => Some("{\"id\":"),
            Some(Fault::Flood) => Some(super::worker::FLOOD),
            _ => None,
        }
    }
}
