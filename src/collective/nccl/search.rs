//! What NCCL's graph search ends with: a speed per channel and a number of channels.
//!
//! The search walks down a list of speeds that depends on the GPU generation. The first speed s at which at least
//! one ring fits every link is a solution with ⌊w / s⌋ channels, w being the ring's nominal bandwidth; lower speeds
//! down to 0.49 s are tried as long as they carry more in total. No speed fits: "simple order", one channel of
//! 0.1 GB/s. Source: NVIDIA/nccl 2.30.7 `src/graph/search.cc` (ncclTopoCompute, ncclTopoDupChannels).
//! Omitted: search over GPU orders (rank order is taken) and its time limit.

use crate::units::Bandwidth;

/// Speeds for GPUs below compute capability 9.0 \[GB/s\].
const BEFORE_HOPPER: [f64; 13] = [40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0];
/// Speeds for compute capability 9.x \[GB/s\].
const HOPPER: [f64; 11] = [60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0];
/// Speeds from compute capability 10.0 on, SM120 included \[GB/s\].
const BLACKWELL: [f64; 12] = [90.0, 80.0, 70.0, 60.0, 50.0, 45.0, 40.0, 30.0, 24.0, 20.0, 19.0, 18.0];

/// The most channels of a communicator.
pub(super) const MOST_CHANNELS: u32 = 64;

/// The speeds that the search tries, fastest first; `capability` as 89, 90, 120.
pub const fn search_speeds(capability: u32) -> &'static [f64] {
    match capability {
        0..90 => &BEFORE_HOPPER,
        90..100 => &HOPPER,
        _ => &BLACKWELL,
    }
}

/// A search result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Bandwidth of one channel (`bwIntra`).
    pub speed: Bandwidth,
    /// Channels of the graph.
    pub channels: u32,
    /// Whether the search found nothing and NCCL fell back to the simple order.
    pub fallback: bool,
}

impl Plan {
    /// What the tuning model calls the bus: channels times speed.
    pub fn bus(&self) -> Bandwidth {
        self.speed * f64::from(self.channels)
    }

    /// The simple order.
    pub const fn fallback() -> Self {
        Self { speed: Bandwidth::from_gb_s(0.1), channels: 1, fallback: true }
    }
}

/// Searches for rings of a nominal bandwidth.
pub fn plan(nominal: Bandwidth, capability: u32) -> Plan {
    let width = nominal.gb_s() * (1.0 + 1e-9);
    let mut best: Option<(f64, u32)> = None;
    for &speed in search_speeds(capability) {
        if speed > width {
            continue;
        }
        let enough =
            |(found, channels): (f64, u32)| found * f64::from(channels) >= width || speed / found <= 0.49;
        if best.is_some_and(enough) {
            break;
        }
        let channels = ((width / speed) as u32).min(MOST_CHANNELS / 2);
        if best.is_none_or(|(s, c)| speed * f64::from(channels) > s * f64::from(c)) {
            best = Some((speed, channels));
        }
    }
    best.map_or(Plan::fallback(), |(speed, channels)| duplicated(speed, channels, capability))
}

/// Fast channels are split in two: from 25 GB/s, above compute capability 8.0 with more than four channels only
/// from 50.
fn duplicated(speed: f64, channels: u32, capability: u32) -> Plan {
    let keep = speed < 25.0 || (capability > 80 && speed < 50.0 && channels > 4);
    let split = if keep { 1 } else { 2 };
    let speed = Bandwidth::from_gb_s(speed / f64::from(split));
    Plan { speed, channels: channels * split, fallback: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(nominal: f64, capability: u32) -> (f64, u32) {
        let plan = plan(Bandwidth::from_gb_s(nominal), capability);
        ((plan.speed.gb_s() * 1e6).round() / 1e6, plan.channels)
    }

    #[test]
    fn known_results_of_the_search() {
        // Gen5 x16 on SM120: two channels of 24, as graph files of working boxes say (rtx6kpro @e2c2b95).
        assert_eq!(found(48.0, 120), (24.0, 2));
        // A100 SXM: 12 channels of 20; H100 SXM: 12 channels of 30, as NCCL_DEBUG prints them.
        assert_eq!(found(240.0, 80), (20.0, 12));
        assert_eq!(found(370.8, 90), (30.0, 12));
        // Gen4 x16 on SM89: 24 GB/s in two channels of 12.
        assert_eq!(found(24.0, 89), (12.0, 2));
        // Two AMD sockets: 16 is enough for SM89 (15), too little for SM120 (18 at least).
        assert_eq!(found(16.0, 89), (15.0, 1));
        assert_eq!(found(16.0, 120), (0.1, 1));
        assert!(plan(Bandwidth::from_gb_s(16.0), 120).fallback);
    }

    #[test]
    fn the_bus_never_exceeds_the_ring() {
        for capability in [80, 89, 90, 100, 120] {
            for tenths in 30..5000 {
                let nominal = Bandwidth::from_gb_s(f64::from(tenths) / 10.0);
                assert!(plan(nominal, capability).bus() <= nominal * (1.0 + 1e-6));
            }
        }
    }
}
