//! NCCL_* variables, read into what they change.
//!
//! [`NcclSettings`] is a small `Copy` value. Reading it allocates nothing and takes well under a microsecond, so it
//! is read anew wherever a collective is chosen and cannot disagree with the variables it came from.
//! Meanings: NVIDIA/nccl 2.30.7 `src/graph/{tuning,paths,connect}.cc`. A value that NCCL would not take is left
//! out of the settings and reported by [`NcclEnvironment::problems`].

use super::policy::{Algorithm, NcclEnvironment, Protocol};
use crate::hardware::PathKind;
use crate::runtime::CollectiveOp;

/// A set of up to eight things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Set(u8);

/// The two lists, NCCL_PROTO and NCCL_ALGO, for one kind of collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Lists {
    protocols: Option<Set>,
    algorithms: Option<Set>,
}

/// What a server's NCCL_* variables change in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools)] // Each is one variable that is set or not.
pub struct NcclSettings {
    lists: [Lists; 4],
    /// NCCL_P2P_LEVEL: the farthest path that may use P2P; `Some(None)` is `LOC`, no P2P at all.
    pub p2p_level: Option<Option<PathKind>>,
    /// NCCL_P2P_DISABLE=1.
    pub p2p_disable: bool,
    /// NCCL_SHM_DISABLE=1.
    pub shm_disable: bool,
    /// NCCL_MIN_NCHANNELS or NCCL_MIN_CTAS.
    pub min_channels: Option<u32>,
    /// NCCL_MAX_NCHANNELS or NCCL_MAX_CTAS.
    pub max_channels: Option<u32>,
    /// NCCL_NTHREADS: threads per channel of Simple and LL.
    pub threads: Option<u32>,
    /// NCCL_BUFFSIZE \[B\]: the buffer of Simple.
    pub buffer: Option<u64>,
    /// NCCL_GRAPH_FILE is set.
    pub graph_file: bool,
    /// NCCL_TUNER_PLUGIN is set.
    pub tuner_plugin: bool,
    /// NCCL_NVLS_ENABLE=0.
    pub nvls_off: bool,
}

/// Names in NCCL_PROTO, in the order of the bits.
const PROTOCOLS: [(&str, Protocol); 3] =
    [("LL", Protocol::Ll), ("LL128", Protocol::Ll128), ("Simple", Protocol::Simple)];
/// Names in NCCL_ALGO, in the order of the bits; those without a model are known but mean nothing on one host.
const ALGORITHMS: [(&str, Option<Algorithm>); 7] = [
    ("Tree", Some(Algorithm::Tree)),
    ("Ring", Some(Algorithm::Ring)),
    ("NVLS", Some(Algorithm::Nvls)),
    ("CollnetDirect", None),
    ("CollnetChain", None),
    ("NVLSTree", None),
    ("PAT", None),
];
/// Functions that NCCL_PROTO and NCCL_ALGO can name.
const FUNCTIONS: [(&str, Option<CollectiveOp>); 5] = [
    ("allreduce", Some(CollectiveOp::AllReduce)),
    ("allgather", Some(CollectiveOp::AllGather)),
    ("reducescatter", Some(CollectiveOp::ReduceScatter)),
    ("broadcast", None),
    ("reduce", None),
];

const fn index(op: CollectiveOp) -> usize {
    match op {
        CollectiveOp::AllReduce => 0,
        CollectiveOp::AllGather => 1,
        CollectiveOp::ReduceScatter => 2,
        CollectiveOp::AllToAll => 3,
    }
}

impl NcclSettings {
    /// Whether NCCL_PROTO leaves a protocol to a collective. `Ok(true)`: named or not restricted; the second
    /// value tells whether it was *named*, which enables LL128 even on PCIe.
    pub(super) fn protocol(&self, op: CollectiveOp, protocol: Protocol) -> (bool, bool) {
        let bit = PROTOCOLS.iter().position(|(_, p)| *p == protocol).unwrap_or(0);
        self.lists[index(op)].protocols.map_or((true, false), |set| {
            let listed = set.0 & (1 << bit) != 0;
            (listed, listed)
        })
    }

    /// Whether NCCL_ALGO leaves an algorithm to a collective.
    pub(super) fn algorithm(&self, op: CollectiveOp, algorithm: Algorithm) -> bool {
        let bit = ALGORITHMS.iter().position(|(_, a)| *a == Some(algorithm));
        match (bit, self.lists[index(op)].algorithms) {
            (Some(bit), Some(set)) => set.0 & (1 << bit) != 0,
            _ => true,
        }
    }

    /// With only one algorithm or protocol left, where the user forces it for every collective.
    pub(super) fn restricted(mut self, algorithm: Option<Algorithm>, protocol: Option<Protocol>) -> Self {
        let bit = |at: Option<usize>| at.map(|at| Set(1 << at));
        let algorithms =
            bit(algorithm.and_then(|a| ALGORITHMS.iter().position(|(_, known)| *known == Some(a))));
        let protocols = bit(protocol.and_then(|p| PROTOCOLS.iter().position(|(_, known)| *known == p)));
        for lists in &mut self.lists {
            lists.algorithms = algorithms.or(lists.algorithms);
            lists.protocols = protocols.or(lists.protocols);
        }
        self
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Malformed> {
        let value = value.trim();
        match name {
            "NCCL_PROTO" => {
                let known = PROTOCOLS.map(|(name, _)| name);
                each_function(value, &known, |op, set| self.lists[op].protocols = Some(set))?;
            }
            "NCCL_ALGO" => {
                let known = ALGORITHMS.map(|(name, _)| name);
                each_function(value, &known, |op, set| self.lists[op].algorithms = Some(set))?;
            }
            "NCCL_P2P_LEVEL" => self.p2p_level = Some(level(value)?),
            "NCCL_P2P_DISABLE" => self.p2p_disable = flag(value)?,
            "NCCL_SHM_DISABLE" => self.shm_disable = flag(value)?,
            "NCCL_MIN_NCHANNELS" | "NCCL_MIN_CTAS" => self.min_channels = Some(count(value)?),
            "NCCL_MAX_NCHANNELS" | "NCCL_MAX_CTAS" => self.max_channels = Some(count(value)?),
            "NCCL_NTHREADS" => self.threads = Some(threads(value)?),
            "NCCL_BUFFSIZE" => self.buffer = Some(u64::from(count(value)?)),
            "NCCL_GRAPH_FILE" => self.graph_file = !value.is_empty(),
            "NCCL_TUNER_PLUGIN" => self.tuner_plugin = !value.is_empty() && value != "none",
            "NCCL_NVLS_ENABLE" => self.nvls_off = value == "0",
            _ => {}
        }
        Ok(())
    }
}

/// Why a value is not taken.
type Malformed = &'static str;

impl NcclEnvironment {
    /// The settings. Values that NCCL would not take are left out.
    pub fn settings(&self) -> NcclSettings {
        let mut settings = NcclSettings::default();
        for (name, value) in &self.variables {
            let before = settings;
            if settings.set(name, value).is_err() {
                settings = before;
            }
        }
        settings
    }

    /// Variables whose value NCCL would not take, with the reason.
    pub fn problems(&self) -> Vec<(&str, String)> {
        let mut problems = Vec::new();
        for (name, value) in &self.variables {
            if let Err(expected) = NcclSettings::default().set(name, value) {
                problems.push((name.as_str(), format!("{name}={value} is not understood: {expected}")));
            }
        }
        problems
    }

    /// These variables with one of them taken away.
    pub(super) fn without(&self, name: &str) -> Self {
        let rest = self.variables.iter().filter(|(n, _)| n.as_str() != name);
        Self { variables: rest.map(|(n, v)| (n.clone(), v.clone())).collect() }
    }
}

/// `LL,Simple`, `^LL128`, `allreduce:LL;allgather:Simple`: one list for all functions or one for each.
fn each_function(value: &str, known: &[&str], mut store: impl FnMut(usize, Set)) -> Result<(), Malformed> {
    for part in value.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        match part.split_once(':') {
            None => {
                let set = list(part, known)?;
                (0..4).for_each(|op| store(op, set));
            }
            Some((function, names)) => {
                let named = FUNCTIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(function.trim()));
                let (_, op) = named
                    .ok_or("the functions are allreduce, allgather, reducescatter, broadcast, reduce")?;
                let set = list(names.trim(), known)?;
                if let Some(op) = op {
                    store(index(*op), set);
                }
            }
        }
    }
    Ok(())
}

fn list(names: &str, known: &[&str]) -> Result<Set, Malformed> {
    let (negated, names) = names.strip_prefix('^').map_or((false, names), |rest| (true, rest));
    let mut bits = 0;
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let bit = known.iter().position(|k| k.eq_ignore_ascii_case(name));
        bits |=
            1 << bit.ok_or("a list of names such as `LL,Simple` or `^LL128` (`Ring,Tree` for NCCL_ALGO)")?;
    }
    if bits == 0 {
        return Err("a list with at least one name");
    }
    Ok(Set(if negated { !bits } else { bits }))
}

/// LOC NVL PIX PXB PHB SYS, or the numbers 0 to 5 of old (LOC PIX PXB PHB SYS SYS).
fn level(value: &str) -> Result<Option<PathKind>, Malformed> {
    let is = |word: &str| value.eq_ignore_ascii_case(word);
    Ok(match value {
        "0" => None,
        _ if is("LOC") => None,
        _ if is("NVL") => Some(PathKind::Nvlink),
        "1" => Some(PathKind::Pix),
        _ if is("PIX") => Some(PathKind::Pix),
        "2" => Some(PathKind::Pxb),
        _ if is("PXB") => Some(PathKind::Pxb),
        // NCCL's PHB is one CPU; it does not tell host bridges of a socket apart.
        "3" => Some(PathKind::Node),
        _ if is("PHB") || is("NODE") => Some(PathKind::Node),
        "4" | "5" => Some(PathKind::Sys),
        _ if is("SYS") => Some(PathKind::Sys),
        _ => return Err("LOC, NVL, PIX, PXB, PHB or SYS"),
    })
}

fn flag(value: &str) -> Result<bool, Malformed> {
    match value {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err("0 or 1"),
    }
}

fn count(value: &str) -> Result<u32, Malformed> {
    value.parse().ok().filter(|n| *n > 0).ok_or("a whole number above 0")
}

fn threads(value: &str) -> Result<u32, Malformed> {
    let multiple = |n: &u32| n.is_multiple_of(32) && (64..=640).contains(n);
    value.parse().ok().filter(multiple).ok_or("a multiple of 32 from 64 to 640")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::CollectiveOp::{AllGather, AllReduce};

    fn environment(variables: &[(&str, &str)]) -> NcclEnvironment {
        let owned = variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        NcclEnvironment { variables: owned.collect() }
    }

    #[test]
    fn protocol_lists_name_negate_and_differ_by_function() {
        let plain = environment(&[("NCCL_PROTO", "LL,Simple")]).settings();
        assert_eq!(plain.protocol(AllReduce, Protocol::Ll), (true, true));
        assert_eq!(plain.protocol(AllReduce, Protocol::Ll128), (false, false));
        let negated = environment(&[("NCCL_PROTO", "^LL128")]).settings();
        assert!(negated.protocol(AllGather, Protocol::Ll).0);
        assert!(!negated.protocol(AllGather, Protocol::Ll128).0);
        let split = environment(&[("NCCL_PROTO", "allreduce:LL;allgather:simple")]).settings();
        assert!(
            !split.protocol(AllReduce, Protocol::Simple).0 && split.protocol(AllGather, Protocol::Simple).0
        );
        let algorithm = environment(&[("NCCL_ALGO", "ring")]).settings();
        assert!(algorithm.algorithm(AllReduce, Algorithm::Ring));
        assert!(!algorithm.algorithm(AllReduce, Algorithm::Tree));
    }

    #[test]
    fn levels_are_words_or_the_numbers_of_old() {
        for (value, level) in [("SYS", Some(PathKind::Sys)), ("4", Some(PathKind::Sys)), ("loc", None)] {
            assert_eq!(environment(&[("NCCL_P2P_LEVEL", value)]).settings().p2p_level, Some(level));
        }
    }

    #[test]
    fn a_value_that_nccl_would_not_take_is_left_out_and_reported() {
        for (name, value) in [
            ("NCCL_PROTO", "FAST"),
            ("NCCL_PROTO", ""),
            ("NCCL_PROTO", "alltoall:LL"),
            ("NCCL_ALGO", "^"),
            ("NCCL_P2P_LEVEL", "FAR"),
            ("NCCL_P2P_DISABLE", "yes"),
            ("NCCL_MIN_NCHANNELS", "-1"),
            ("NCCL_NTHREADS", "100"),
            ("NCCL_BUFFSIZE", "4 MiB"),
        ] {
            let environment = environment(&[(name, value)]);
            assert_eq!(environment.settings(), NcclSettings::default(), "{name}={value}");
            let empty_list = value.is_empty();
            assert_eq!(environment.problems().len(), usize::from(!empty_list), "{name}={value}");
        }
    }
}
