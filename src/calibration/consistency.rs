//! What the parts of a calibration say of one another: ranks and links within the box, one fit for one thing.

use std::collections::BTreeSet;

use super::Calibration;
use super::error::CalibrationError;
use super::links::LinkEnd;

/// Checks the parts against one another.
///
/// # Errors
/// The first contradiction.
pub(super) fn check(calibration: &Calibration) -> Result<(), CalibrationError> {
    let count = calibration.facts.as_ref().map_or(u32::MAX, |facts| facts.count);
    let gpus = if count == 1 { "1 GPU".to_owned() } else { format!("{count} GPUs") };
    let wrong = |what: String| CalibrationError::file(format!("{what}, and `box.count` says {gpus}"));
    let ranks = calibration.collective_curves().iter().map(|curve| curve.key.ranks);
    if let Some(ranks) = ranks.max().filter(|ranks| *ranks > count) {
        return Err(wrong(format!("table `collectives` has rows of {ranks} ranks")));
    }
    if let Some(fit) = calibration.fits.iter().find(|fit| fit.of.ranks > count) {
        return Err(wrong(format!("a fit is of {} ranks", fit.of.ranks)));
    }
    let ends = calibration.link_rows().iter().flat_map(|row| [row.from, row.to]);
    let beyond = |end| match end {
        LinkEnd::Gpu(gpu) if gpu >= count => Some(gpu),
        _ => None,
    };
    if let Some(gpu) = ends.filter_map(beyond).max() {
        return Err(wrong(format!("table `links` names GPU {gpu}, counted from 0")));
    }
    let kernels = calibration.kernel_fits.iter().map(|fit| fit.of.as_str());
    let jitter = calibration.jitter.iter().map(|fit| fit.of.as_str());
    once("kernel_fits", kernels)?;
    once("jitter", jitter)
}

/// Two fits of one thing contradict each other.
fn once<'a>(key: &str, mut names: impl Iterator<Item = &'a str>) -> Result<(), CalibrationError> {
    let mut seen = BTreeSet::new();
    match names.find(|name| !seen.insert(*name)) {
        Some(name) => Err(CalibrationError::file(format!(
            "`{key}` holds two entries of `{}`",
            super::tree::shown(name)
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::calibration::parse;

    fn fault(count: u32, rest: &str) -> Option<String> {
        let yaml = format!(
            "format: specplan-calibration/1\nbox: {{ gpu: rtx-pro-6000, count: {count} }}\n\
            provenance: {{ source: a test, licence: none }}\ntables:\n  collectives: |\n    \
            op,ranks,family,mode,transport,bytes,median_us\n    all-reduce,8,nccl,stream,p2p,14336,20\n{rest}"
        );
        let read = parse("mine", &yaml, &|_| Err(std::io::ErrorKind::NotFound.into()));
        read.err().map(|error| error.to_string())
    }

    #[test]
    fn ranks_and_links_lie_in_the_box() {
        assert_eq!(fault(8, ""), None);
        let ranks = fault(2, "").unwrap();
        assert_eq!(ranks, "table `collectives` has rows of 8 ranks, and `box.count` says 2 GPUs");
        let links =
            |to| format!("  links: |\n    kind,from,to,bytes,median_us\n    copy,0,{to},1048576,30\n");
        assert_eq!(fault(8, &links(7)), None);
        let beyond = fault(8, &links(99)).unwrap();
        assert_eq!(beyond, "table `links` names GPU 99, counted from 0, and `box.count` says 8 GPUs");
        let fit = "fits:\n  - { of: { op: all-reduce, ranks: 16, family: nccl, transport: p2p }, form: alpha-beta, \
            params: { alpha_us: 5, beta_us_per_kib: [0.1] }, range: { from_bytes: 1, to_bytes: 100 } }\n";
        assert_eq!(fault(8, fit).unwrap(), "a fit is of 16 ranks, and `box.count` says 8 GPUs");
    }

    #[test]
    fn one_thing_has_one_fit() {
        let jitter = "  - { of: issue, median_us: 5, samples: 100, cv: 0.2 }\n";
        assert_eq!(fault(8, &format!("jitter:\n{jitter}")), None);
        let twice = fault(8, &format!("jitter:\n{jitter}{jitter}")).unwrap();
        assert_eq!(twice, "`jitter` holds two entries of `issue`");
        let stream = "  - { of: stream, form: bandwidth, floor_us: 3, gb_s: 100, range: { from_bytes: 1, to_bytes: 2 } }\n";
        let twice = fault(8, &format!("kernel_fits:\n{stream}{stream}")).unwrap();
        assert_eq!(twice, "`kernel_fits` holds two entries of `stream`");
    }

    #[test]
    fn a_fit_that_misses_by_half_is_not_used_unmarked() {
        let fit = |rest: &str| {
            format!(
                "fits:\n  - {{ of: {{ op: all-reduce, ranks: 4, family: nccl, transport: p2p }}, form: alpha-beta, \
                params: {{ alpha_us: 5, beta_us_per_kib: [0.1] }}, range: {{ from_bytes: 1, to_bytes: 100 }}, {rest} }}\n"
            )
        };
        assert_eq!(fault(8, &fit("cv_error: 0.25")), None, "the public fits state up to this");
        assert_eq!(fault(8, &fit("cv_error: 0.9, flagged: true")), None);
        let used = fault(8, &fit("cv_error: 0.9, flagged: false")).unwrap();
        assert!(
            used.contains("`cv_error` is 0.9: a fit that misses by more than half needs `flagged: true`"),
            "{used}"
        );
    }
}
