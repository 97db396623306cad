//! Nothing of the machine but its GPUs, versions and NCCL_* variables reaches a file: no host or user names, no paths.

/// Variables whose values name hosts, addresses or interfaces.
const NAMING: &[&str] =
    &["NCCL_COMM_ID", "NCCL_HOSTID", "NCCL_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME", "NCCL_IB_HCA"];

/// What stands for a name, and for a path.
const SET: &str = "(set)";
const FILE: &str = "(a file)";

/// A variable's value as a file may hold it: paths and names are replaced by the fact that they are set.
pub fn value(name: &str, value: &str) -> String {
    if matches!(value, SET | FILE) {
        return value.to_owned();
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.,:;=^+-*".contains(c);
    if NAMING.contains(&name) {
        SET.to_owned()
    } else if value.contains(['/', '\\']) {
        FILE.to_owned()
    } else if value.len() > 100 || !value.chars().all(plain) {
        SET.to_owned()
    } else {
        value.to_owned()
    }
}

/// A sentence without paths and without the names in `hidden` (of the host and the user).
pub fn scrub(sentence: &str, hidden: &[String]) -> String {
    let mut words = Vec::new();
    for word in sentence.split_whitespace().take(80) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '~');
        let slashes = bare.matches('/').count();
        let path = (bare.starts_with(['/', '~']) && bare.len() > 1) || slashes >= 2 || bare.contains('\\');
        // `GB/s` and `32/8` are no paths.
        let path = path && !bare.chars().all(|c| c.is_ascii_digit() || c == '/');
        if path {
            words.push(word.replace(bare, "(path)"));
        } else if hidden.iter().any(|name| bare.eq_ignore_ascii_case(name)) {
            words.push(word.replace(bare, "(name)"));
        } else {
            words.push(word.to_owned());
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_stay_and_names_go() {
        for (name, raw, kept) in [
            ("NCCL_ALGO", "Ring,Tree", "Ring,Tree"),
            ("NCCL_P2P_DISABLE", "1", "1"),
            ("NCCL_PROTO", "^LL128", "^LL128"),
            ("NCCL_TOPO_FILE", "/home/anna/topo.xml", "(a file)"),
            ("NCCL_SOCKET_IFNAME", "eth0", "(set)"),
            ("NCCL_COMM_ID", "10.0.0.7:2300", "(set)"),
            ("NCCL_X", "anna's box", "(set)"),
        ] {
            assert_eq!(value(name, raw), kept, "{name}");
            assert_eq!(value(name, kept), kept, "{name}, twice");
        }
    }

    #[test]
    fn sentences_lose_paths_and_names_alone() {
        let hidden = ["anna".to_owned(), "dgx-17".to_owned()];
        let kept =
            scrub("cannot open '/home/anna/lib/libnccl.so.2' on dgx-17: 3.2 GB/s of 32/8 or 4/4/4", &hidden);
        assert_eq!(kept, "cannot open '(path)' on (name): 3.2 GB/s of 32/8 or 4/4/4");
        assert_eq!(scrub("~/x and a/b/c, user Anna.", &hidden), "(path) and (path), user (name).");
    }
}
