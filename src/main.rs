//! The command line of specplan.

fn main() {}
