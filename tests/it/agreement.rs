//! Where nothing is random and nothing contends, the simulated machine equals the closed forms.

use std::path::Path;

use specplan::evaluate;
use specplan::hardware::Hardware;
use specplan::machine::{Fabric, MachineConfig, MachineResult, simulate};
use specplan::runtime::Runtime;
use specplan::scenario::{self, Builtin, ModelledSetup, Overrides, Setup};
use specplan::speculation::Cycle;
use specplan::units::Seconds;

/// Largest relative difference.
const TOLERANCE: f64 = 1e-9;

/// The setup of a scenario of the repository, without what was observed.
pub(super) fn setup(name: &str, set: &[&str]) -> ModelledSetup {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name);
    open(&path, set)
}

/// The setup of any scenario file.
pub(super) fn open(path: &Path, set: &[&str]) -> ModelledSetup {
    let overrides = Overrides { set: set.iter().map(|s| (*s).to_owned()).collect(), unset: Vec::new() };
    let (_, loaded) = scenario::open(path, &overrides, &Builtin).expect("the scenario is right");
    match loaded.variation.unwrap_or(loaded.base) {
        Setup::Modelled(setup) => *setup,
        Setup::Observed(_) => panic!("a modelled scenario is needed"),
    }
}

pub(super) const REFERENCE: &str = "kimi-k2.5-eagle3-8x-rtx-pro-6000.yaml";

/// A reference cycle with its box and runtime.
pub(super) fn reference(set: &[&str]) -> (Cycle, Hardware, Runtime) {
    let setup = setup(REFERENCE, set);
    (evaluate::cycle(&setup), (*setup.hardware).clone(), setup.runtime.clone())
}

fn assert_equal(name: &str, simulated_ms: f64, analytic: Seconds) {
    let error = (simulated_ms - analytic.ms()) / analytic.ms();
    assert!(error.abs() < TOLERANCE, "{name}: {simulated_ms} ms simulated, {} in closed form", analytic.ms());
}

fn assert_agrees(name: &str, cycle: &Cycle, result: &MachineResult) {
    assert_equal(&format!("{name}, decode"), result.decode_ms.mean(), cycle.baseline_time().value);
    assert_equal(&format!("{name}, verify"), result.verify_ms.mean(), cycle.verify.time.value);
    assert_equal(&format!("{name}, cycle"), result.cycle_ms.mean(), cycle.time().value);
    for pass in [&result.decode, &result.verify] {
        if pass.allreduces > 0 {
            assert!((pass.booked_over_true.mean() - 1.0).abs() < 1e-12, "{name}: nobody waits");
        }
    }
}

#[test]
fn without_jitter_and_contention_the_machine_is_the_closed_form() {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut seen = 0;
    for entry in std::fs::read_dir(scenarios).expect("the scenarios can be listed") {
        let path = entry.expect("an entry can be read").path();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        if path.extension().is_none_or(|e| e != "yaml") || name == "observed-only.yaml" {
            continue;
        }
        for execution in ["graph", "eager"] {
            let set = format!("speculation.verify.execution={execution}");
            let setup = open(&path, &[&set]);
            let cycle = evaluate::cycle(&setup);
            let result = simulate(&cycle, &setup.hardware, &MachineConfig::exact());
            assert_agrees(&format!("{name}, {execution}"), &cycle, &result);
            let allreduces = cycle.allreduce();
            assert_eq!(result.verify.allreduces, allreduces.count, "{name}");
            if allreduces.count > 0 {
                assert_equal(&format!("{name}, all-reduces"), result.verify.true_ms.mean(), allreduces.total);
            }
            seen += 1;
        }
    }
    assert!(seen >= 16, "only {seen} setups were compared");
}

/// A hidden scheduler, longer than the GPUs, is the longer clock in both.
#[test]
fn hidden_host_work_is_raced_alike() {
    for execution in ["graph", "eager"] {
        let (mut cycle, hardware, _) = reference(&[
            "speculation.scheduler.overlap=true",
            &format!("speculation.verify.execution={execution}"),
        ]);
        for hidden in [0.0, 1.0, 50.0] {
            cycle.host.hidden.value = Seconds::from_ms(hidden);
            let result = simulate(&cycle, &hardware, &MachineConfig::exact());
            assert_agrees(&format!("{execution}, {hidden} ms hidden"), &cycle, &result);
        }
    }
}

/// Steps over links, anchored to the priced times, change nothing either while ranks arrive together. Where ranks are
/// not equally far apart some leave a collective before others, and the next one begins a little earlier on them.
#[test]
fn anchored_steps_are_the_closed_form_too() {
    for contention in [false, true] {
        let fabric = Fabric::Links { contention, anchored: true };
        let config = MachineConfig { fabric, ..MachineConfig::exact() };
        let (cycle, hardware, _) = reference(&[]);
        let result = simulate(&cycle, &hardware, &config);
        assert_agrees(&format!("crossbar, contention {contention}"), &cycle, &result);

        let setup = setup("kimi-k2.5-eagle3-8x-rtx-pro-6000-one-shot.yaml", &[]);
        let cycle = evaluate::cycle(&setup);
        let result = simulate(&cycle, &setup.hardware, &config);
        let error = result.verify_ms.mean() / cycle.verify.time.value.ms() - 1.0;
        assert!(error.abs() < 0.03, "behind switches, contention {contention}: {error}");
    }
}
