//! Where the verdict turns over batch, context and draft tokens, at every score.

use super::inputs::Moves;
use super::{ElasticCycle, Study};
use crate::analytic::Parts;
use crate::evaluate::scan;
use crate::scenario::{Method, ModelledSetup, Setup};
use crate::uncertainty::{Turn, monte_carlo};

/// Samples of a scan: its places are whole numbers, and a scan costs a hundred times what an answer costs.
const MOST_SAMPLES: u32 = 200;

/// Priced points of one scan.
struct Scan {
    over: &'static str,
    points: Vec<(u32, ElasticCycle)>,
}

impl Scan {
    fn new(over: &'static str, setups: impl Iterator<Item = (u32, ModelledSetup)>) -> Self {
        Self { over, points: setups.map(|(at, setup)| (at, ElasticCycle::new(&setup))).collect() }
    }
}

impl Study<'_> {
    /// The turns of all scans; none without a hardware model. The model answers alone, as in the plain scans.
    pub(super) fn turns(&self, samples: u32, seed: u64) -> Vec<Turn> {
        let Setup::Modelled(setup) = self.answered().setup else { return Vec::new() };
        let mut scans = vec![
            Scan::new("batch", scan::batch_setups(setup)),
            Scan::new("context", scan::context_setups(setup)),
        ];
        if setup.common.topk == 1 && setup.common.method != Method::Ngram {
            scans.push(Scan::new("draft_tokens", scan::draft_token_setups(setup)));
        }
        let places: usize = scans.iter().map(|scan| scan.points.len()).sum();
        let samples = monte_carlo(self.inputs.len(), samples.min(MOST_SAMPLES), seed, |scores| {
            let moves = self.moves(scores);
            let mut speedups = Vec::with_capacity(places);
            for point in scans.iter().flat_map(|scan| &scan.points) {
                speedups.push(self.speedup(&point.1, &moves));
            }
            speedups
        });
        let mut found = Vec::new();
        let mut first = 0;
        for scan in &scans {
            let at: Vec<u32> = scan.points.iter().map(|(at, _)| *at).collect();
            let columns = first..first + at.len();
            first = columns.end;
            let rows = (0..samples.len()).map(|row| &samples.row(row)[columns.clone()]);
            found.extend(turns(scan.over, &at, rows));
        }
        found
    }

    fn speedup(&self, cycle: &ElasticCycle, moves: &Moves) -> f64 {
        let mut moved = cycle.at(moves);
        if let Some(law) = moves.law(&moved.acceptance, &self.answered().rates) {
            moved.acceptance = law;
        }
        Parts::from_cycle(&moved).speedup_value()
    }
}

/// Changes of the winner along scans, the first, second ... in one direction together.
fn turns<'a>(over: &'static str, at: &[u32], rows: impl Iterator<Item = &'a [f64]>) -> Vec<Turn> {
    let mut kinds: Vec<((usize, bool), Vec<u32>)> = Vec::new();
    let mut count = 0_usize;
    for row in rows {
        count += 1;
        let mut seen = [0_usize; 2];
        for i in 1..row.len() {
            let (before, wins) = (row[i - 1] > 1.0, row[i] > 1.0);
            if before == wins || !row[i - 1].is_finite() || !row[i].is_finite() {
                continue;
            }
            let kind = (seen[usize::from(wins)], wins);
            seen[usize::from(wins)] += 1;
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, places)) => places.push(at[i]),
                None => kinds.push((kind, vec![at[i]])),
            }
        }
    }
    let turn = |((_, wins), mut places): ((usize, bool), Vec<u32>)| {
        places.sort_unstable();
        let rank = |p: f64| places[((places.len() - 1) as f64 * p).round() as usize];
        let share = places.len() as f64 / count as f64;
        Turn { over, wins, at: [rank(0.05), rank(0.5), rank(0.95)], share }
    };
    let mut found: Vec<Turn> = kinds.into_iter().map(turn).filter(|turn| turn.share >= LEAST_SHARE).collect();
    found.sort_by_key(|turn| (turn.at[1], turn.wins));
    found
}

/// A turn in fewer samples than this share is not told.
const LEAST_SHARE: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_of_one_kind_are_told_together() {
        let at = [1, 2, 4, 8];
        let rows: [&[f64]; 4] =
            [&[1.2, 1.1, 0.9, 0.8], &[1.2, 0.9, 0.9, 1.1], &[1.2, 1.1, 1.1, 0.9], &[0.9, 0.9, 0.9, 0.9]];
        let found = turns("batch", &at, rows.into_iter());
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].wins, found[0].at), (false, [2, 4, 8]));
        assert!((found[0].share - 0.75).abs() < 1e-12);
        assert_eq!((found[1].wins, found[1].at), (true, [8, 8, 8]));
    }
}
