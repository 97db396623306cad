//! How many tokens prompts and outputs have.

use rand_distr::{Distribution as _, LogNormal};

use super::error::{ServingError, positive};
use crate::des::Stream;

/// The law of one length \[tokens\]. Drawn lengths are rounded to whole tokens, at least 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    /// Always the same.
    Fixed(u32),
    /// Lognormal with this mean and standard deviation over mean.
    Lognormal {
        /// Mean \[tokens\].
        mean: f64,
        /// Standard deviation over mean.
        variation: f64,
    },
    /// Exponential with this mean: the law behind the M/M/1 queue.
    Exponential {
        /// Mean \[tokens\].
        mean: f64,
    },
}

/// Where lengths come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lengths {
    /// Independent draws.
    Drawn {
        /// Tokens of a prompt.
        prompt: Length,
        /// Tokens of an output.
        output: Length,
    },
    /// The trace, request by request.
    Trace,
}

impl Length {
    /// Whether it can be drawn from.
    pub(super) fn check(self, what: &'static str) -> Result<(), ServingError> {
        match self {
            Self::Fixed(0) => Err(ServingError::Zero { what }),
            Self::Fixed(_) => Ok(()),
            Self::Lognormal { mean, variation } => {
                positive(what, mean)?;
                if variation >= 0.0 && variation.is_finite() {
                    Ok(())
                } else {
                    Err(ServingError::Variation { what, value: variation })
                }
            }
            Self::Exponential { mean } => positive(what, mean),
        }
    }

    /// Ready to draw.
    pub(super) fn sampler(self) -> LengthSampler {
        match self {
            Self::Fixed(tokens) => LengthSampler::Fixed(tokens),
            Self::Lognormal { mean, variation } => {
                let variance = variation.mul_add(variation, 1.0).ln();
                let law = LogNormal::new(mean.ln() - variance / 2.0, variance.sqrt());
                LengthSampler::Lognormal(law.expect("mean and variation were checked"))
            }
            Self::Exponential { mean } => LengthSampler::Exponential(mean),
        }
    }
}

/// Draws one length.
#[derive(Debug, Clone, Copy)]
pub(super) enum LengthSampler {
    Fixed(u32),
    Lognormal(LogNormal<f64>),
    Exponential(f64),
}

impl LengthSampler {
    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        let tokens = match self {
            Self::Fixed(tokens) => return *tokens,
            Self::Lognormal(law) => law.sample(stream.rng()),
            Self::Exponential(mean) => stream.exponential(*mean),
        };
        // A cast saturates, so that a far tail cannot wrap.
        (tokens.round() as u32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::des::Streams;

    #[test]
    fn lognormal_and_exponential_lengths_have_their_mean_and_spread() {
        for (law, mean, cv) in [
            (Length::Lognormal { mean: 400.0, variation: 0.5 }, 400.0, 0.5),
            (Length::Exponential { mean: 900.0 }, 900.0, 1.0),
        ] {
            let (sampler, mut stream) = (law.sampler(), Streams::new(3, 0).stream("lengths", 0));
            let n = 100_000;
            let draws: Vec<f64> = (0..n).map(|_| f64::from(sampler.draw(&mut stream))).collect();
            let got = draws.iter().sum::<f64>() / f64::from(n);
            let sd = (draws.iter().map(|x| (x - got).powi(2)).sum::<f64>() / f64::from(n)).sqrt();
            assert!((got / mean - 1.0).abs() < 4.0 * cv / f64::from(n).sqrt(), "{law:?}: mean {got}");
            assert!((sd / got / cv - 1.0).abs() < 0.03, "{law:?}: cv {}", sd / got);
        }
    }

    #[test]
    fn impossible_lengths_are_errors() {
        assert!(Length::Fixed(0).check("prompt").is_err());
        assert!(Length::Lognormal { mean: f64::NAN, variation: 0.1 }.check("prompt").is_err());
        assert!(Length::Lognormal { mean: 5.0, variation: -0.1 }.check("prompt").is_err());
        assert!(Length::Exponential { mean: 0.0 }.check("prompt").is_err());
        assert!(Length::Lognormal { mean: 5.0, variation: 0.0 }.check("prompt").is_ok());
    }
}
