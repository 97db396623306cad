//! Did you mean: near misses among known words.

/// Known words similar to `word`, nearest first, at most three.
///
/// Similar means: at most one edit per three letters of the longer word (Damerau-Levenshtein, so that swapped
/// letters count once), at least one edit allowed; or `word` is the beginning of a known word, three letters long or more.
/// Case and the difference between `-` and `_` are ignored.
pub fn similar<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    // A word of hundreds of letters resembles nothing, and comparing it would take long.
    if word.len() > 60 {
        return Vec::new();
    }
    let written = plain(word);
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|candidate| {
            let other = plain(candidate);
            let distance = strsim::damerau_levenshtein(&written, &other);
            let limit = (written.chars().count().max(other.chars().count()) / 3).max(1);
            let beginning = written.len() >= 3 && other.starts_with(&written);
            (distance <= limit || beginning).then_some((distance, candidate))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().map(|(_, candidate)| candidate).take(3).collect()
}

/// The nearest similar word.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    similar(word, known).first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_words_are_suggested() {
        let known = ["accept_length", "acceptance", "steps", "topk", "draft_tokens", "eagle3", "mtp"];
        assert_eq!(similar("accept_lenght", known), ["accept_length"]);
        assert_eq!(similar("draft-tokens", known), ["draft_tokens"]);
        assert_eq!(similar("EAGLE", known), ["eagle3"]);
        assert_eq!(similar("accept", known), ["acceptance", "accept_length"]);
        assert!(similar("temperature", known).is_empty());
        assert!(similar(&"x".repeat(1_000_000), known).is_empty());
    }
}
