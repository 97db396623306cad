//! How far a simulation is, and whether to go on.

use std::ops::ControlFlow;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Cycles on the ranks of the box.
    Cycles,
    /// Requests, with speculation.
    WithSpeculation,
    /// The same requests without.
    WithoutSpeculation,
    /// Other loads.
    Loads,
}

/// Is told the stage and the share of it that is done, 0 to 1, from any thread; ends the simulation by breaking. What is
/// done until then is told.
pub type Watch<'a> = &'a (dyn Fn(Stage, f64) -> ControlFlow<()> + Sync);

/// Watches nothing.
pub const fn unwatched(_: Stage, _: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
