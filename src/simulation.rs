//! From a resolved setup to a simulation of it, and to what is compared with it.
//!
//! ```text
//!  ModelledSetup ─► Cycle ──────────────────► machine ─► MachineAnswer   beside the closed form and what was observed
//!        │          (priced as for `run`)
//!        ╰────────► Cycles over batch, context ─► StepTable ─► serving ─► ServingAnswer   with and without speculation
//! ```
//!
//! No observed time enters a simulation. Where an observation was made for the very passes that are simulated, it stands
//! beside with the share of simulated runs that lie below it.

mod beside;
mod load;
mod machine;
mod memory;
mod prices;
mod requests;
mod serving;
mod settings;
mod timeline;
mod watch;

pub use beside::{Beside, Observed};
pub use load::{LoadPoint, LoadUnit};
pub use machine::{MachineAnswer, simulate_machine, trace_machine};
pub use memory::{KvMemory, kv_memory};
pub use prices::StepPrices;
pub use requests::serving_config;
pub use serving::{Comparison, Measure, Outcome, ServingAnswer, simulate_serving};
pub use settings::{Settings, machine_config};
pub use timeline::{Activity, Lane, Window, window};
pub use watch::{Stage, Watch, unwatched};
