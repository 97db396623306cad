//! What the simulated machine must show about the reference case and its measured twin.

use super::agreement::{open, reference};
use specplan::machine::{MachineConfig, simulate};

#[test]
fn look() {
    for execution in ["graph", "eager"] {
        let (cycle, hardware, runtime) = reference(&[&format!("speculation.verify.execution={execution}")]);
        let t = std::time::Instant::now();
        let r = simulate(&cycle, &hardware, &MachineConfig::of(&runtime));
        println!("{execution}: {:?}", t.elapsed());
        println!(
            "verify {} p10 {} p50 {} p90 {} analytic {}",
            r.verify_ms.mean(),
            r.verify_ms.p10(),
            r.verify_ms.p50(),
            r.verify_ms.p90(),
            cycle.verify.time.value.ms()
        );
        println!(
            "cycle {} analytic {}; decode {} {}",
            r.cycle_ms.mean(),
            cycle.time().value.ms(),
            r.decode_ms.mean(),
            cycle.baseline_time().value.ms()
        );
        println!(
            "ratio p10 {} p50 {} mean {}; booked {} true {} least {}",
            r.verify.booked_over_true.p10(),
            r.verify.booked_over_true.p50(),
            r.verify.booked_over_true.mean(),
            r.verify.booked_ms.mean(),
            r.verify.true_ms.mean(),
            r.verify.least_ms.mean()
        );
        println!(
            "{} {:?} events {} share {}",
            r.verify.critical_path, r.verify.utilisation, r.events, r.verify.host_share
        );
        println!("{}", r.to_json());
    }
    let _ = open;
}
