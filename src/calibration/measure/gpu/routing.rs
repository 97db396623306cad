//! Which experts a batch of tokens goes to: round robin where it is timed, as all tables of experts have it; drawn at
//! random where a result is checked, so that experts of unlike loads are.

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
    /// Round robin: `tokens` touch min(tokens · `per_token`, `experts`) experts, and no expert has two tokens more than
    /// another. Neighbours in the round lie far apart, so that ranks which hold blocks of experts are loaded alike. Turns
    /// go on where the one before ended, so that they share experts no sooner than they must.
    pub(super) fn balanced(tokens: u32, per_token: u32, experts: u32, turn: u32) -> Self {
        let (round, stride) = (u64::from(experts.max(1)), u64::from(stride(experts)));
        let begin = u64::from(turn) * u64::from(tokens) * u64::from(per_token);
        Self::of(tokens, per_token, experts, |token, choice| {
            let place = begin + u64::from(token) * u64::from(per_token) + u64::from(choice);
            (place % round * stride % round) as u32
        })
    }

    /// Draws `per_token` different experts of `experts` for each token.
    pub(super) fn draw(tokens: u32, per_token: u32, experts: u32, seed: u32) -> Self {
        let mut deck: Vec<u32> = Vec::new();
        Self::of(tokens, per_token, experts, |token, choice| {
            if choice == 0 {
                deck = (0..experts).collect();
            }
            let draw = hash(seed ^ hash(token * 64 + choice + 1));
            let place = choice + ((u64::from(draw) * u64::from(experts - choice)) >> 32) as u32;
            deck.swap(choice as usize, place as usize);
            deck[choice as usize]
        })
    }

    fn of(tokens: u32, per_token: u32, experts: u32, mut expert_of: impl FnMut(u32, u32) -> u32) -> Self {
        let mut by_expert = vec![Vec::new(); experts as usize];
        for token in 0..tokens {
            for choice in 0..per_token.min(experts) {
                by_expert[expert_of(token, choice) as usize].push(token * per_token + choice);
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

/// A step through the experts that meets each of them before any twice: near the golden section, which spreads best.
fn stride(experts: u32) -> u32 {
    let golden = (f64::from(experts) * 0.618) as u32;
    (golden.max(1)..=experts + 1).find(|step| divisor(*step, experts) == 1).unwrap_or(1)
}

/// The greatest one of both.
fn divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_has_different_experts_and_each_pair_one_place() {
        for routing in [Routing::draw(50, 8, 64, 3), Routing::balanced(50, 8, 64, 3)] {
            one_place(&routing);
        }
    }

    fn one_place(routing: &Routing) {
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

    const LAYERS: [(u32, u32); 6] = [(8, 128), (8, 384), (6, 64), (2, 8), (4, 60), (3, 3)];

    #[test]
    fn timed_tokens_touch_as_many_experts_as_look_ups_take_them_to() {
        for (per_token, experts) in LAYERS {
            for tokens in [1, 2, 3, 4, 6, 8, 12, 16, 32, 64] {
                for turn in 0..16 {
                    let routing = Routing::balanced(tokens, per_token, experts, turn);
                    assert_eq!(routing.experts.len() as u32, (tokens * per_token).min(experts));
                    let loads = || routing.first.windows(2).map(|ends| ends[1] - ends[0]);
                    assert!(routing.most() - loads().min().unwrap() <= 1);
                    assert_eq!(routing.most(), (tokens * per_token).div_ceil(experts));
                }
            }
        }
    }

    #[test]
    fn ranks_with_blocks_of_experts_are_loaded_alike() {
        for (per_token, experts, ranks) in [(8, 128, 8), (8, 384, 8), (8, 256, 4), (6, 64, 2)] {
            for tokens in [1, 2, 4, 8, 16, 64] {
                let routing = Routing::balanced(tokens, per_token, experts, 5);
                let mut loads = vec![0; ranks];
                for (expert, ends) in routing.experts.iter().zip(routing.first.windows(2)) {
                    loads[(*expert as usize) * ranks / experts as usize] += ends[1] - ends[0];
                }
                let mean = f64::from(tokens * per_token) / ranks as f64;
                assert!(loads.iter().all(|load| (f64::from(*load) - mean).abs() < 2.0), "{tokens} {loads:?}");
            }
        }
    }

    #[test]
    fn turns_share_no_expert_before_all_had_one() {
        let mut seen: Vec<u32> = (0..4).flat_map(|turn| Routing::balanced(4, 8, 128, turn).experts).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..128).collect::<Vec<_>>());
    }

    #[test]
    fn distinct_experts_are_as_many_as_a_random_router_has() {
        // E (1 - (1 - k/E)^T), the mean over draws.
        let mean = |tokens: u32| {
            (0..200).map(|seed| Routing::draw(tokens, 8, 128, seed).experts.len() as f64).sum::<f64>() / 200.0
        };
        for tokens in [1u32, 4, 16, 64] {
            let expected = 128.0 * (1.0 - (1.0f64 - 8.0 / 128.0).powi(tokens.cast_signed()));
            assert!((mean(tokens) / expected - 1.0).abs() < 0.02, "{tokens}: {} {expected}", mean(tokens));
        }
    }
}
