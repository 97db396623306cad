//! A balanced router: every token draws its experts at random, all alike.

use super::random::hash;

/// Which experts a batch of tokens goes to, by expert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Routing {
    /// The distinct experts, ascending.
    pub(super) experts: Vec<u32>,
    /// Where the pairs of each begin, and the end.
    pub(super) first: Vec<u32>,
    /// token x per_token + choice, by expert.
    pub(super) pairs: Vec<u32>,
}

impl Routing {
    /// Draws `per_token` different experts of `experts` for each token.
    pub(super) fn draw(tokens: u32, per_token: u32, experts: u32, seed: u32) -> Self {
        let mut by_expert = vec![Vec::new(); experts as usize];
        for token in 0..tokens {
            let mut deck: Vec<u32> = (0..experts).collect();
            for choice in 0..per_token.min(experts) {
                let draw = hash(seed ^ hash(token * 64 + choice + 1));
                let place = choice + ((u64::from(draw) * u64::from(experts - choice)) >> 32) as u32;
                deck.swap(choice as usize, place as usize);
                by_expert[deck[choice as usize] as usize].push(token * per_token + choice);
            }
        }
        let mut routing = Self { experts: Vec::new(), first: vec![0], pairs: Vec::new() };
        for (expert, pairs) in by_expert.into_iter().enumerate().filter(|(_, pairs)| !pairs.is_empty()) {
            routing.experts.push(expert as u32);
            routing.pairs.extend(pairs);
            routing.first.push(routing.pairs.len() as u32);
        }
        routing
    }

    /// Most pairs of one expert.
    pub(super) fn most(&self) -> u32 {
        self.first.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_has_different_experts_and_each_pair_one_place() {
        let routing = Routing::draw(50, 8, 64, 3);
        let mut pairs = routing.pairs.clone();
        pairs.sort_unstable();
        assert_eq!(pairs, (0..400).collect::<Vec<_>>());
        for ends in routing.first.windows(2) {
            let mut tokens: Vec<u32> =
                routing.pairs[ends[0] as usize..ends[1] as usize].iter().map(|p| p / 8).collect();
            tokens.sort_unstable();
            tokens.dedup();
            assert_eq!(tokens.len() as u32, ends[1] - ends[0]);
        }
    }

    #[test]
    fn distinct_experts_are_as_many_as_a_balanced_router_has() {
        // E (1 - (1 - k/E)^T), the mean over draws.
        let mean = |tokens: u32| {
            (0..200).map(|seed| Routing::draw(tokens, 8, 128, seed).experts.len() as f64).sum::<f64>() / 200.0
        };
        for tokens in [1u32, 4, 16, 64] {
            let expected = 128.0 * (1.0 - (1.0f64 - 8.0 / 128.0).powi(tokens as i32));
            assert!((mean(tokens) / expected - 1.0).abs() < 0.02, "{tokens}: {} {expected}", mean(tokens));
        }
    }
}
