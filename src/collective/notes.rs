//! What to say about the NCCL_* variables of a scenario: unknown names, values that NCCL would not take, and
//! variables that change nothing for the messages at hand, each with the reason and the size.
//!
//! Names: NVIDIA/nccl 2.30.7 `src/` (NCCL_PARAM and ncclGetEnv) and its environment documentation; a name in
//! neither gets the nearest known one. A variable is ineffective if the choice for no message changes without it.

use super::Request;
use super::dispatch::nccl_choice;
use super::nccl::Communicator;
use super::policy::{Policy, Protocol};
use crate::hardware::Hardware;
use crate::units::{Bytes, significant};

/// Why a note is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// No such variable.
    Unknown,
    /// NCCL would not take the value.
    Invalid,
    /// It changes nothing here.
    Ineffective,
    /// It may change something that is not modelled.
    NotModelled,
    /// It works, at a risk.
    Risk,
}

/// A note on one variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its name.
    pub variable: String,
    /// Why the note is made.
    pub kind: NoteKind,
    /// What to know.
    pub sentence: String,
}

/// Variables that change the model.
const MODELLED: [&str; 14] = [
    "NCCL_PROTO",
    "NCCL_ALGO",
    "NCCL_P2P_LEVEL",
    "NCCL_P2P_DISABLE",
    "NCCL_SHM_DISABLE",
    "NCCL_MIN_NCHANNELS",
    "NCCL_MAX_NCHANNELS",
    "NCCL_MIN_CTAS",
    "NCCL_MAX_CTAS",
    "NCCL_BUFFSIZE",
    "NCCL_NTHREADS",
    "NCCL_GRAPH_FILE",
    "NCCL_TUNER_PLUGIN",
    "NCCL_NVLS_ENABLE",
];

/// Variables that say something to people or to a network, and nothing to an all-reduce inside one host.
const IRRELEVANT: [(&str, &str); 32] = [
    ("NCCL_DEBUG", "only prints"),
    ("NCCL_DEBUG_FILE", "only prints"),
    ("NCCL_DEBUG_SUBSYS", "only prints"),
    ("NCCL_DEBUG_TIMESTAMP_FORMAT", "only prints"),
    ("NCCL_DEBUG_TIMESTAMP_LEVELS", "only prints"),
    ("NCCL_CONF_FILE", "names a file with variables, which is not read here"),
    ("NCCL_TOPO_DUMP_FILE", "only writes a file"),
    ("NCCL_GRAPH_DUMP_FILE", "only writes a file"),
    ("NCCL_IB_DISABLE", "concerns the network"),
    ("NCCL_IB_HCA", "concerns the network"),
    ("NCCL_IB_TIMEOUT", "concerns the network"),
    ("NCCL_IB_RETRY_CNT", "concerns the network"),
    ("NCCL_IB_GID_INDEX", "concerns the network"),
    ("NCCL_IB_SL", "concerns the network"),
    ("NCCL_IB_TC", "concerns the network"),
    ("NCCL_IB_QPS_PER_CONNECTION", "concerns the network"),
    ("NCCL_IB_AR_THRESHOLD", "concerns the network"),
    ("NCCL_IB_CUDA_SUPPORT", "concerns the network"),
    ("NCCL_IB_PCI_RELAXED_ORDERING", "concerns the network"),
    ("NCCL_IB_ADAPTIVE_ROUTING", "concerns the network"),
    ("NCCL_SOCKET_IFNAME", "concerns the network"),
    ("NCCL_SOCKET_FAMILY", "concerns the network"),
    ("NCCL_SOCKET_NTHREADS", "concerns the network"),
    ("NCCL_NSOCKS_PERTHREAD", "concerns the network"),
    ("NCCL_NET", "concerns the network"),
    ("NCCL_NET_PLUGIN", "concerns the network"),
    ("NCCL_NET_GDR_LEVEL", "concerns the network"),
    ("NCCL_NET_GDR_READ", "concerns the network"),
    ("NCCL_NET_SHARED_BUFFERS", "concerns the network"),
    ("NCCL_CROSS_NIC", "concerns the network"),
    ("NCCL_OOB_NET_ENABLE", "concerns the network"),
    ("NCCL_COLLNET_ENABLE", "concerns the network"),
];

/// Variables that may change times inside one host in ways that are not modelled.
const NOT_MODELLED: [&str; 33] = [
    "NCCL_TOPO_FILE",
    "NCCL_GRAPH_MIXING_SUPPORT",
    "NCCL_GRAPH_REGISTER",
    "NCCL_LOCAL_REGISTER",
    "NCCL_LEGACY_CUDA_REGISTER",
    "NCCL_CUMEM_ENABLE",
    "NCCL_CUMEM_HOST_ENABLE",
    "NCCL_P2P_DIRECT_DISABLE",
    "NCCL_P2P_READ_ENABLE",
    "NCCL_P2P_USE_CUDA_MEMCPY",
    "NCCL_P2P_NET_CHUNKSIZE",
    "NCCL_P2P_LL_THRESHOLD",
    "NCCL_P2P_PXN_LEVEL",
    "NCCL_SHM_USE_CUDA_MEMCPY",
    "NCCL_SHM_MEMCPY_MODE",
    "NCCL_SHM_LOCALITY",
    "NCCL_SHM_OVERRIDE",
    "NCCL_LL_BUFFSIZE",
    "NCCL_LL128_BUFFSIZE",
    "NCCL_LL128_NTHREADS",
    "NCCL_THREAD_THRESHOLDS",
    "NCCL_NVLS_NCHANNELS",
    "NCCL_NVB_DISABLE",
    "NCCL_PXN_DISABLE",
    "NCCL_MAX_P2P_NCHANNELS",
    "NCCL_MIN_P2P_NCHANNELS",
    "NCCL_NCHANNELS_PER_PEER",
    "NCCL_CGA_CLUSTER_SIZE",
    "NCCL_LAUNCH_MODE",
    "NCCL_LAUNCH_ORDER_IMPLICIT",
    "NCCL_WIN_ENABLE",
    "NCCL_SYM_KERNEL",
    "NCCL_ALLOC_P2P_NET_LL_BUFFERS",
];

/// Harmless ones that change waiting, checking or identification.
const OTHERS: [&str; 12] = [
    "NCCL_IGNORE_CPU_AFFINITY",
    "NCCL_CHECKS_DISABLE",
    "NCCL_CHECK_POINTERS",
    "NCCL_CREATE_THREAD_CONTEXT",
    "NCCL_COMM_BLOCKING",
    "NCCL_COMM_ID",
    "NCCL_HOSTID",
    "NCCL_DMABUF_ENABLE",
    "NCCL_SET_STACK_SIZE",
    "NCCL_SET_THREAD_NAME",
    "NCCL_WORK_FIFO_BYTES",
    "NCCL_RAS_ENABLE",
];

/// Every NCCL variable name that is known here.
pub fn known_variables() -> impl Iterator<Item = &'static str> {
    let irrelevant = IRRELEVANT.iter().map(|(name, _)| *name);
    MODELLED.into_iter().chain(irrelevant).chain(NOT_MODELLED).chain(OTHERS)
}

/// `43 KB`, `1.05 MB`: three figures without trailing zeros.
pub(super) fn size_text(bytes: Bytes) -> String {
    let (value, unit) = match bytes.get() {
        b if b < 999.5 => (b, "B"),
        b if b < 999.5e3 => (b * 1e-3, "KB"),
        b => (b * 1e-6, "MB"),
    };
    let text = significant(value, 3);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// Notes on the variables of a policy for the messages that will be sent: one per variable, with all the sizes that
/// share its reason. Give the messages of all passes of one policy together, or each size gets a note of its own.
pub fn environment_notes(hardware: &Hardware, policy: &Policy, requests: &[Request]) -> Vec<Note> {
    let problems = policy.environment.problems();
    let note =
        |variable: &str, kind, sentence: String| Note { variable: variable.to_owned(), kind, sentence };
    let mut notes = Vec::new();
    let mut unknown_names = Vec::new();
    let mut others = Vec::new();
    for (name, value) in &policy.environment.variables {
        if let Some((_, problem)) = problems.iter().find(|(variable, _)| variable == name) {
            notes.push(note(name, NoteKind::Invalid, problem.clone()));
        } else if MODELLED.contains(&name.as_str()) {
            if let Some((kind, sentence)) = on_modelled(hardware, policy, requests, name, value) {
                notes.push(note(name, kind, sentence));
            }
        } else if let Some((_, reason)) = IRRELEVANT.iter().find(|(known, _)| known == name) {
            let sentence = format!("{name} {reason}: no effect inside one host");
            notes.push(note(name, NoteKind::Ineffective, sentence));
        } else if NOT_MODELLED.contains(&name.as_str()) {
            let sentence = format!("{name} is known to NCCL, its effect on times is not modelled");
            notes.push(note(name, NoteKind::NotModelled, sentence));
        } else if OTHERS.contains(&name.as_str()) {
            let sentence = format!("{name} does not change the time of a collective");
            notes.push(note(name, NoteKind::Ineffective, sentence));
        } else {
            let list = if name.starts_with("NCCL_") { &mut unknown_names } else { &mut others };
            list.push(name.as_str());
        }
    }
    notes.extend(
        unknown_names.iter().take(MOST_UNKNOWN).map(|name| note(name, NoteKind::Unknown, unknown(name))),
    );
    if let Some(next) = unknown_names.get(MOST_UNKNOWN) {
        let more = unknown_names.len() - MOST_UNKNOWN;
        let plural = if more == 1 { "" } else { "s" };
        let sentence = format!("and {more} more variable{plural} that NCCL does not have");
        notes.push(note(next, NoteKind::Unknown, sentence));
    }
    if let Some(first) = others.first() {
        notes.push(note(first, NoteKind::NotModelled, not_of_nccl(&others)));
    }
    notes
}

/// Unknown names that get a note of their own.
const MOST_UNKNOWN: usize = 5;

/// One sentence on all variables that are not NCCL's.
fn not_of_nccl(names: &[&str]) -> String {
    let mut list: Vec<String> = names.iter().take(MOST_UNKNOWN).map(|name| shortened(name)).collect();
    if names.len() > MOST_UNKNOWN {
        list.push(format!("{} more", names.len() - MOST_UNKNOWN));
    }
    let verb = if names.len() == 1 { "is no variable" } else { "are no variables" };
    let text = match list.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => list.concat(),
    };
    format!("{text} {verb} of NCCL: only NCCL_* names are looked at")
}

/// A name, cut where it is long.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

fn unknown(name: &str) -> String {
    // A name of hundreds of letters resembles nothing, and comparing it would take long.
    if name.len() > 60 {
        return format!("NCCL has no variable {}", shortened(name));
    }
    let near = known_variables().map(|known| (strsim::damerau_levenshtein(name, known), known)).min();
    match near {
        Some((distance, known)) if distance <= 4 => {
            format!("NCCL has no variable {name}; did you mean {known}?")
        }
        _ => format!("NCCL has no variable {name}"),
    }
}

fn on_modelled(
    hardware: &Hardware,
    policy: &Policy,
    requests: &[Request],
    name: &str,
    value: &str,
) -> Option<(NoteKind, String)> {
    let settings = policy.environment.settings();
    let names_ll128 =
        name == "NCCL_PROTO" && value.to_ascii_uppercase().contains("LL128") && !value.contains('^');
    if names_ll128 && requests.iter().any(|r| !hardware.full_nvlink(r.ranks)) {
        let risk =
            "NCCL_PROTO names LL128, which NCCL leaves off on PCIe: NVIDIA warns of corrupted data there";
        return Some((NoteKind::Risk, risk.to_owned()));
    }
    match name {
        "NCCL_TUNER_PLUGIN" => {
            let text = "NCCL_TUNER_PLUGIN replaces NCCL's own choice, which is not modelled: name algorithm and protocol instead";
            return Some((NoteKind::NotModelled, text.to_owned()));
        }
        "NCCL_GRAPH_FILE" if hardware.graph_file.is_none() => {
            let text = "NCCL_GRAPH_FILE replaces the graph search, but the file is not read: where the search fails, 2 channels of 24 GB/s are assumed; give its channels and speed as `graph_file` of a box file";
            return Some((NoteKind::NotModelled, text.to_owned()));
        }
        "NCCL_GRAPH_FILE" => return None,
        "NCCL_SHM_DISABLE" if settings.shm_disable => {
            let text = "NCCL_SHM_DISABLE=1 sends what P2P does not carry through the network's loopback, which is not modelled";
            return Some((NoteKind::NotModelled, text.to_owned()));
        }
        _ => {}
    }
    let without = Policy { environment: policy.environment.without(name), ..policy.clone() };
    let choice = |policy: &Policy, request: &Request| {
        nccl_choice(hardware, policy, &policy.environment.settings(), *request)
    };
    let unchanged = requests.iter().all(|request| choice(policy, request) == choice(&without, request));
    let simple = requests.iter().any(|r| choice(policy, r).protocol == Some(Protocol::Simple));
    if requests.is_empty() || !unchanged || (name == "NCCL_BUFFSIZE" && simple) {
        return None;
    }
    Some((NoteKind::Ineffective, ineffective(hardware, policy, name, value, requests)))
}

/// Why a variable changes nothing: one sentence for all messages of one reason, with their sizes.
fn ineffective(
    hardware: &Hardware,
    policy: &Policy,
    name: &str,
    value: &str,
    requests: &[Request],
) -> String {
    let mut reasons: Vec<((String, String), Vec<Request>)> = Vec::new();
    for request in requests {
        let reason = reason(hardware, policy, name, value, *request);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, messages)) => messages.push(*request),
            None => reasons.push((reason, vec![*request])),
        }
    }
    let sentences: Vec<String> =
        reasons.iter().map(|((head, tail), messages)| format!("{head}{}{tail}", sizes(messages))).collect();
    sentences.join("; ")
}

/// ` 43 KB`, ` 14.3 KB and 43 KB`: each size once, in rising order.
fn sizes(messages: &[Request]) -> String {
    let mut bytes: Vec<Bytes> = messages.iter().map(|request| request.bytes).collect();
    bytes.sort_by(|a, b| a.get().total_cmp(&b.get()));
    let mut words: Vec<String> = bytes.into_iter().map(size_text).collect();
    words.dedup();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The sentence for one message, in two parts: before and behind its size.
fn reason(
    hardware: &Hardware,
    policy: &Policy,
    name: &str,
    value: &str,
    request: Request,
) -> (String, String) {
    let settings = policy.environment.settings();
    let choice = nccl_choice(hardware, policy, &settings, request);
    let comm = Communicator::new(hardware, &settings, request.ranks);
    let protocol = choice.protocol.map_or("", Protocol::word);
    let untouched =
        |why: String| (format!("{name} does not affect {protocol} messages of "), format!(": {why}"));
    match name {
        "NCCL_BUFFSIZE" => {
            untouched(format!("it sets the chunk of Simple, and {protocol} has buffers of its own"))
        }
        "NCCL_NTHREADS" => untouched(format!("it caps threads, and they keep {}", channels(choice.channels))),
        "NCCL_MIN_NCHANNELS" | "NCCL_MIN_CTAS" | "NCCL_MAX_NCHANNELS" | "NCCL_MAX_CTAS" => {
            let rule = if name.contains("MAX") { "a cap" } else { "a floor of the communicator" };
            untouched(format!(
                "{value} is {rule}, and they run on {} of {} channels",
                choice.channels, comm.channels
            ))
        }
        "NCCL_PROTO" | "NCCL_ALGO" => {
            let what = if name == "NCCL_PROTO" { protocol } else { choice.algorithm.word() };
            (format!("{name}={value} changes nothing for "), format!(": NCCL takes {what} anyway"))
        }
        "NCCL_P2P_LEVEL" | "NCCL_P2P_DISABLE" => (
            format!("{name}={value} changes nothing for "),
            format!(": bytes travel by {} anyway", choice.transport.word()),
        ),
        "NCCL_NVLS_ENABLE" => (format!("{name} changes nothing for "), ": NVLS is not taken here".to_owned()),
        _ => (format!("{name}={value} changes nothing for "), String::new()),
    }
}

fn channels(count: u32) -> String {
    if count == 1 { "1 channel".to_owned() } else { format!("{count} channels") }
}
