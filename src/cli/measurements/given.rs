//! Observed inner quantities of a row: a prediction that uses one is arithmetic.

/// What a row gives.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Given {
    /// Time of the step without speculation \[ms\].
    pub(super) step: Option<f64>,
    /// Time of the verify pass \[ms\].
    pub(super) verify: Option<f64>,
    /// Draft and host work of a cycle \[ms\].
    pub(super) draft_host: Option<f64>,
    /// Time of one all-reduce \[µs\].
    pub(super) allreduce: Option<f64>,
}

const KNOWN: &str = "step_ms, verify_ms, draft_host_ms or allreduce_us";

impl Given {
    /// From a cell: `verify_ms=30; allreduce_us=205`.
    pub(super) fn parse(cell: &str) -> Result<Self, String> {
        let mut given = Self::default();
        for part in cell.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("`given` takes {KNOWN}, each with `=` and a number, not `{part}`"))?;
            let number = value.trim().parse().ok().filter(|v: &f64| v.is_finite() && *v >= 0.0);
            let number =
                number.ok_or_else(|| format!("`given`: `{}` is no time of {}", value.trim(), key.trim()))?;
            let slot = match key.trim() {
                "step_ms" => &mut given.step,
                "verify_ms" => &mut given.verify,
                "draft_host_ms" => &mut given.draft_host,
                "allreduce_us" => &mut given.allreduce,
                other => return Err(format!("`given` takes {KNOWN}, not `{other}`")),
            };
            *slot = Some(number);
        }
        Ok(given)
    }

    /// Whether anything is given.
    pub(super) fn any(&self) -> bool {
        *self != Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_and_faults_named() {
        let given = Given::parse("verify_ms=30; allreduce_us = 205").unwrap();
        assert_eq!((given.verify, given.allreduce, given.step), (Some(30.0), Some(205.0), None));
        assert!(given.any() && !Given::parse(" ").unwrap().any());
        for (cell, says) in [
            ("verify=30", "not `verify`"),
            ("verify_ms", "each with `=`"),
            ("verify_ms=-1", "`-1` is no time of verify_ms"),
            ("step_ms=NaN", "`NaN` is no time"),
        ] {
            assert!(Given::parse(cell).unwrap_err().contains(says), "{cell}");
        }
    }
}
