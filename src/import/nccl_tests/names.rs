//! Names of operations, and which operation a table without a name is of.

/// Our word for the program's name, as it stands in `# Collective test starting: all_reduce_perf`.
pub(super) fn of_program(name: &str) -> Option<&'static str> {
    let programs = [
        ("all_reduce", "all-reduce"),
        ("all_gather", "all-gather"),
        ("reduce_scatter", "reduce-scatter"),
        ("alltoall", "all-to-all"),
        ("broadcast", "broadcast"),
        ("reduce", "reduce"),
        ("sendrecv", "send-receive"),
        ("scatter", "scatter"),
        ("gather", "gather"),
        ("hypercube", "hypercube"),
    ];
    let stem = name.strip_suffix("_perf")?;
    programs.iter().find(|(program, _)| *program == stem).map(|(_, word)| *word)
}

/// The program that a line calls, as `mpirun -np 8 ./build/all_reduce_perf -b 8` does.
pub(super) fn in_line(line: &str) -> Option<&'static str> {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    line.split(ends).filter(|word| word.ends_with("_perf")).find_map(of_program)
}

/// What a row says of its operation without naming it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signs<'a> {
    pub(super) redop: &'a str,
    /// -1: no root; none: no such column.
    pub(super) root: Option<i64>,
    /// busbw / algbw.
    pub(super) factor: f64,
}

/// The only operation whose bus bandwidth factor, root and reduction fit; none where several do.
///
/// Factors (the page on performance in the `doc` folder of nccl-tests): all-reduce 2(n-1)/n; all-gather, reduce-scatter, all-to-all (n-1)/n;
/// broadcast, reduce, send-receive 1.
pub(super) fn inferred(signs: Signs, ranks: u32) -> Option<&'static str> {
    let n = f64::from(ranks);
    // Candidates are twofold apart, and two decimals of a small bandwidth leave a fifth open.
    let is = |factor: f64| (signs.factor / factor - 1.0).abs() < 0.21;
    let (all_reduce, share) = (2.0 * (n - 1.0) / n, (n - 1.0) / n);
    let rooted = signs.root.is_some_and(|root| root >= 0);
    match (signs.redop, rooted) {
        ("none", true) if is(1.0) => Some("broadcast"),
        // All-gather and all-to-all look alike.
        ("none", _) => None,
        (_, true) if is(1.0) => Some("reduce"),
        (_, false) if is(all_reduce) => Some("all-reduce"),
        (_, false) if is(share) => Some("reduce-scatter"),
        _ => None,
    }
}

/// The factor of busbw over algbw for an operation.
pub(super) fn factor(op: &str, ranks: u32) -> Option<f64> {
    let n = f64::from(ranks.max(1));
    match op {
        "all-reduce" => Some(2.0 * (n - 1.0) / n),
        "all-gather" | "reduce-scatter" | "all-to-all" => Some((n - 1.0) / n),
        "broadcast" | "reduce" => Some(1.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_in_command_lines() {
        assert_eq!(in_line("mpirun -np 8 ./build/all_reduce_perf -b 8 -e 128M"), Some("all-reduce"));
        assert_eq!(in_line("# Collective test starting: alltoall_perf"), Some("all-to-all"));
        assert_eq!(in_line("reduce_scatter_perf_mpi"), None);
        assert_eq!(in_line("all reduced"), None);
    }

    #[test]
    fn operations_from_their_factors() {
        let of = |redop, root, factor, ranks| inferred(Signs { redop, root, factor }, ranks);
        assert_eq!(of("sum", Some(-1), 43.86 / 25.06, 8), Some("all-reduce"));
        assert_eq!(of("sum", None, 1.5, 4), Some("all-reduce"));
        assert_eq!(of("sum", Some(-1), 0.75, 4), Some("reduce-scatter"));
        assert_eq!(of("sum", Some(0), 1.0, 4), Some("reduce"));
        assert_eq!(of("none", Some(0), 1.0, 4), Some("broadcast"));
        assert_eq!(of("none", Some(-1), 0.75, 4), None);
    }
}
