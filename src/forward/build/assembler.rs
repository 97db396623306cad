//! Puts blocks into a pass, reusing the memory of an earlier one.

use super::super::op::Op;
use super::super::pass::{Block, ForwardPass, Run};

/// Operations of a block, roughly: one allocation each.
const OPS_PER_BLOCK: usize = 28;

/// Writes a pass block by block.
#[derive(Debug)]
pub(super) struct Assembler<'a> {
    pass: &'a mut ForwardPass,
    used: usize,
}

impl<'a> Assembler<'a> {
    pub(super) fn start(pass: &'a mut ForwardPass) -> Self {
        pass.sequence.clear();
        Self { pass, used: 0 }
    }

    /// Number of the next block.
    pub(super) const fn next(&self) -> usize {
        self.used
    }

    /// Adds a block and says which number it has.
    pub(super) fn block(&mut self, name: &'static str, write: impl FnOnce(&mut Vec<Op>)) -> usize {
        if self.used == self.pass.blocks.len() {
            self.pass.blocks.push(Block { name, ops: Vec::with_capacity(OPS_PER_BLOCK) });
        }
        let block = &mut self.pass.blocks[self.used];
        block.name = name;
        block.ops.clear();
        write(&mut block.ops);
        self.used += 1;
        self.used - 1
    }

    /// Runs a block, `count` times in a row.
    pub(super) fn run(&mut self, block: usize, count: u32) {
        match self.pass.sequence.last_mut() {
            Some(last) if last.block == block => last.count += count,
            _ => self.pass.sequence.push(Run { block, count }),
        }
    }

    /// Adds a block that runs once.
    pub(super) fn once(&mut self, name: &'static str, write: impl FnOnce(&mut Vec<Op>)) {
        let block = self.block(name, write);
        self.run(block, 1);
    }

    pub(super) fn finish(self) {
        self.pass.blocks.truncate(self.used);
    }
}
