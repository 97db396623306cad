//! Storage formats as people write them in a scenario: `weights: int4-g128`, `kv: fp8`.

use super::dtype::{KvFormat, WeightFormat};

/// Every word for a weight format, in the order in which messages list them.
const WEIGHT_FORMATS: [(&str, WeightFormat); 9] = [
    ("fp32", WeightFormat::Fp32),
    ("bf16", WeightFormat::Bf16),
    ("fp8", WeightFormat::Fp8),
    ("fp8-block", WeightFormat::Fp8Block),
    ("int8", WeightFormat::Int8),
    ("int4-g32", WeightFormat::Int4 { group: 32 }),
    ("int4-g128", WeightFormat::Int4 { group: 128 }),
    ("mxfp4", WeightFormat::Mxfp4),
    ("nvfp4", WeightFormat::Nvfp4),
];

/// Every word for a KV format.
const KV_FORMATS: [(&str, KvFormat); 2] = [("bf16", KvFormat::Bf16), ("fp8", KvFormat::Fp8)];

/// The weight format of a word; none for a word that is not in [`weight_format_words`].
pub fn parse_weight_format(word: &str) -> Option<WeightFormat> {
    WEIGHT_FORMATS.iter().find(|(name, _)| *name == word).map(|(_, format)| *format)
}

/// The words that [`parse_weight_format`] reads.
pub fn weight_format_words() -> impl Iterator<Item = &'static str> {
    WEIGHT_FORMATS.iter().map(|(name, _)| *name)
}

/// The KV format of a word; none for a word that is not in [`kv_format_words`].
pub fn parse_kv_format(word: &str) -> Option<KvFormat> {
    KV_FORMATS.iter().find(|(name, _)| *name == word).map(|(_, format)| *format)
}

/// The words that [`parse_kv_format`] reads.
pub fn kv_format_words() -> impl Iterator<Item = &'static str> {
    KV_FORMATS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_word_is_read_and_no_other() {
        assert!(weight_format_words().all(|word| parse_weight_format(word).is_some()));
        assert!(kv_format_words().all(|word| parse_kv_format(word).is_some()));
        assert_eq!(parse_weight_format("int4-g128"), Some(WeightFormat::Int4 { group: 128 }));
        assert_eq!(parse_weight_format("int4"), None);
        assert_eq!(parse_kv_format("FP8"), None);
    }

    #[test]
    fn scales_count_in_the_width() {
        for (word, bits) in [("int4-g32", 4.5), ("int4-g128", 4.125), ("mxfp4", 4.25), ("bf16", 16.0)] {
            let format = parse_weight_format(word).expect("the word is listed");
            assert!((format.bits() - bits).abs() < 1e-12, "{word}");
        }
    }
}
