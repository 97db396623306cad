//! Lists of whole numbers on the command line: `1,2,4`, `1..8`, `16..128:16`.

/// Most numbers of a list.
const MOST: usize = 10_000;

/// The numbers of `text`, rising and each once; all are at least 1.
///
/// # Errors
/// A sentence that names the flag and the part that is not understood.
pub(super) fn numbers(flag: &str, text: &str) -> Result<Vec<u32>, String> {
    let mut list = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (low, high, step) = parsed(part).ok_or_else(|| {
            format!(
                "{flag} takes whole numbers from 1 and ranges such as `1..8` or `16..128:16`, not `{part}`"
            )
        })?;
        if ((high - low) / step) as usize >= MOST - list.len().min(MOST - 1) {
            return Err(format!("{flag}: more than {MOST} numbers"));
        }
        list.extend((low..=high).step_by(step as usize));
    }
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

/// First, last, distance.
fn parsed(part: &str) -> Option<(u32, u32, u32)> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n > 0);
    let Some((low, rest)) = part.split_once("..") else {
        let one = number(part)?;
        return Some((one, one, 1));
    };
    let (high, step) = match rest.split_once(':') {
        Some((high, step)) => (number(high)?, number(step)?),
        None => (number(rest)?, 1),
    };
    let low = number(low)?;
    (low <= high).then_some((low, high, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges_are_sorted_and_single() {
        assert_eq!(numbers("--batch", "4,1..3, 2"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(numbers("--batch", "16..128:56"), Ok(vec![16, 72, 128]));
        for text in ["", "0", "3..1", "1..", "x", "1..8:0", "-1", "1.5"] {
            assert!(numbers("--batch", text).is_err_and(|error| error.contains("--batch")), "{text}");
        }
        assert!(numbers("--batch", "1..4000000000").is_err());
    }
}
