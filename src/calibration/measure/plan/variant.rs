//! The environment of a child: what NCCL reads once.

use serde::{Deserialize, Serialize};

use super::{Part, Planner, Wish};
use crate::calibration::measure::Inspection;
use crate::collective::{Algorithm, Protocol, Transport};

/// NCCL_* variables that a child gets over those of the user, and what follows from them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Variables that are set for the child; those of the user stay.
    pub environment: Vec<(String, String)>,
    /// The algorithm that is forced; none: NCCL's choice.
    pub algorithm: Option<Algorithm>,
    /// The protocol that is forced; none: NCCL's choice.
    pub protocol: Option<Protocol>,
    /// How the bytes travel.
    pub transport: Transport,
}

/// Whether a variable shapes the times, so that children keep it and the file names it.
pub fn is_ours(name: &str) -> bool {
    name.starts_with("NCCL_") && !name.starts_with("NCCL_DEBUG") && name.len() > 5
}

/// How NCCL's bytes travel on a box with an environment, as far as that can be told: P2P where every pair can map the
/// other's memory and NCCL_P2P_DISABLE is not set.
pub fn transport_of(found: &Inspection, environment: &[(String, String)]) -> Transport {
    let set = |name: &str| environment.iter().any(|(n, value)| n == name && value != "0");
    let levels_off = environment.iter().any(|(n, v)| n == "NCCL_P2P_LEVEL" && (v == "LOC" || v == "0"));
    if set("NCCL_P2P_DISABLE") || levels_off || !all_peers(found) {
        Transport::Shm
    } else if found.nvlink {
        Transport::Nvlink
    } else {
        Transport::P2p
    }
}

/// Whether every GPU can map the memory of every other.
pub(super) fn all_peers(found: &Inspection) -> bool {
    let n = found.gpus.len();
    (0..n).all(|a| (0..n).all(|b| a == b || found.peers.get(a).and_then(|row| row.get(b)) == Some(&true)))
}

impl Variant {
    /// The user's environment as it is.
    pub(super) fn default_of(wish: &Wish, found: &Inspection) -> Self {
        Self {
            environment: Vec::new(),
            algorithm: None,
            protocol: None,
            transport: transport_of(found, &wish.environment),
        }
    }

    /// With a forced algorithm and protocol.
    fn forced(transport: Transport, algorithm: Algorithm, protocol: Protocol) -> Self {
        let algorithm_word = if algorithm == Algorithm::Tree { "Tree" } else { "Ring" };
        let protocol_word = match protocol {
            Protocol::Ll => "LL",
            Protocol::Ll128 => "LL128",
            Protocol::Simple => "Simple",
        };
        Self {
            environment: vec![
                ("NCCL_ALGO".to_owned(), algorithm_word.to_owned()),
                ("NCCL_PROTO".to_owned(), protocol_word.to_owned()),
            ],
            algorithm: Some(algorithm),
            protocol: Some(protocol),
            transport,
        }
    }

    /// In a few words.
    pub fn describe(&self) -> String {
        if self.environment.is_empty() {
            return "as it is".to_owned();
        }
        let pairs: Vec<String> =
            self.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(" ")
    }
}

impl Planner<'_> {
    /// Ring and tree with each protocol, and the detour through host memory where P2P was the default.
    pub(super) fn variants(&mut self) -> Vec<super::Group> {
        if self.gpus() < 2 {
            self.leave_out(
                "collectives with forced algorithms",
                "one GPU is visible, and a collective needs two",
            );
            return Vec::new();
        }
        if !self.has_nccl("collectives with forced algorithms") {
            return Vec::new();
        }
        let default = Variant::default_of(self.wish, self.found);
        let user = |name: &str| self.wish.environment.iter().any(|(n, _)| n == name);
        let mut variants = Vec::new();
        if user("NCCL_ALGO") || user("NCCL_PROTO") {
            self.leave_out("collectives with forced algorithms", "NCCL_ALGO or NCCL_PROTO is set already");
        } else {
            for algorithm in [Algorithm::Ring, Algorithm::Tree] {
                for protocol in [Protocol::Ll, Protocol::Ll128, Protocol::Simple] {
                    variants.push(Variant::forced(default.transport, algorithm, protocol));
                }
            }
        }
        if default.transport != Transport::Shm {
            variants.push(Variant {
                environment: vec![("NCCL_P2P_DISABLE".to_owned(), "1".to_owned())],
                transport: Transport::Shm,
                ..default
            });
        }
        let mut groups = Vec::new();
        for variant in variants {
            let tasks = self.forced_collectives(&variant);
            let tasks = self.numbered(tasks);
            groups.push(super::Group { part: Part::Variants, variant, tasks });
        }
        groups
    }
}
