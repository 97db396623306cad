//! The scenario's NCCL_* variables in front of a command.

use crate::scenario::ModelledSetup;

/// `NCCL_PROTO=LL NCCL_ALGO=Ring`: the variables that the baseline's prices rest on, quoted for a shell; none without any.
pub(crate) fn environment_line(setup: &ModelledSetup) -> Option<String> {
    let variables = &setup.baseline.policy.environment.variables;
    let words: Vec<String> =
        variables.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// What no command can ask for: a server has one environment.
pub(super) fn several_environments(setup: &ModelledSetup) -> Option<String> {
    let of_baseline = &setup.baseline.policy.environment;
    let other = [&setup.verify, &setup.draft_pass].iter().any(|p| p.policy.environment != *of_baseline);
    other.then(|| {
        "The scenario gives its passes NCCL_* variables that differ; a server has one environment, here that of \
         the baseline."
            .to_owned()
    })
}

fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:/+=^@%".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::testing::setup;

    #[test]
    fn variables_of_the_scenario_stand_in_its_order() {
        let tuned = setup("kimi-k2.5-eagle3-8x-rtx-pro-6000-tuned-nccl.yaml", &[]);
        let line = environment_line(&tuned);
        assert_eq!(line.as_deref(), Some("NCCL_PROTO=LL NCCL_ALGO=Ring NCCL_MAX_NCHANNELS=16"));
        assert_eq!(several_environments(&tuned), None);
        assert_eq!(environment_line(&setup("deepseek-v3-mtp-8x-h200.yaml", &[])), None);
    }

    #[test]
    fn passes_that_differ_are_said() {
        let own = setup(
            "deepseek-v3-mtp-8x-h200.yaml",
            &["speculation.draft_pass.environment={NCCL_PROTO: Simple}"],
        );
        assert!(several_environments(&own).is_some_and(|note| note.contains("one environment")));
    }

    #[test]
    fn a_shell_reads_the_value_back() {
        assert_eq!(quoted("^Ring,Tree"), "^Ring,Tree");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("a'$b"), r"'a'\''$b'");
    }
}
