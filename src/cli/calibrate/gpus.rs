//! Which GPUs: `--gpus all`, `--gpus 2` (how many), `--gpus 0,3` (which).

use crate::cli::exit::Failure;

/// The choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Gpus {
    All,
    First(u32),
    These(Vec<u32>),
}

/// Reads the flag.
pub(super) fn parse(text: &str) -> Result<Gpus, Failure> {
    let wrong = || {
        Failure::Input(format!(
            "--gpus takes all, how many (2) or which (0,3; a single one as `3,`), not `{text}`"
        ))
    };
    let number = |word: &str| word.trim().parse::<u32>().ok().filter(|n| *n < 1024).ok_or_else(wrong);
    if text == "all" {
        return Ok(Gpus::All);
    }
    if !text.contains(',') {
        return number(text).and_then(|n| if n == 0 { Err(wrong()) } else { Ok(Gpus::First(n)) });
    }
    let these =
        text.split(',').filter(|word| !word.trim().is_empty()).map(number).collect::<Result<Vec<_>, _>>()?;
    let mut seen = these.clone();
    seen.sort_unstable();
    seen.dedup();
    if these.is_empty() || seen.len() != these.len() { Err(wrong()) } else { Ok(Gpus::These(these)) }
}

impl Gpus {
    /// How many were asked for; none: all.
    pub(super) fn count(&self) -> Option<u32> {
        match self {
            Self::All => None,
            Self::First(n) => Some(*n),
            Self::These(list) => Some(list.len() as u32),
        }
    }

    /// Value of CUDA_VISIBLE_DEVICES for the children. What the user has set there already is chosen from.
    pub(super) fn devices(&self, visible: Option<&str>) -> Result<Option<String>, Failure> {
        let of = |at: u32| match visible {
            None => Ok(at.to_string()),
            Some(list) => list.split(',').nth(at as usize).map(|id| id.trim().to_owned()).ok_or_else(|| {
                Failure::Input(format!("--gpus asks for GPU {at}, but CUDA_VISIBLE_DEVICES shows fewer"))
            }),
        };
        let chosen = match self {
            Self::All => return Ok(None),
            Self::First(n) => (0..*n).map(of).collect::<Result<Vec<_>, _>>()?,
            Self::These(list) => list.iter().map(|at| of(*at)).collect::<Result<Vec<_>, _>>()?,
        };
        Ok(Some(chosen.join(",")))
    }

    /// As the command of the file names them.
    pub(super) fn word(&self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::First(n) => n.to_string(),
            Self::These(list) => {
                let mut word = list.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
                if list.len() == 1 {
                    word.push(',');
                }
                word
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ways_to_choose() {
        let of = |text: &str| parse(text).ok();
        assert_eq!(of("all"), Some(Gpus::All));
        assert_eq!(of("4"), Some(Gpus::First(4)));
        assert_eq!(of("0,3"), Some(Gpus::These(vec![0, 3])));
        assert_eq!(of("3,"), Some(Gpus::These(vec![3])));
        for wrong in ["0", "two", "1,1", ",", "-1", "99999", ""] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_the_user_shows_is_chosen_from() {
        let these = Gpus::These(vec![0, 2]);
        assert_eq!(these.devices(None).ok().flatten().as_deref(), Some("0,2"));
        assert_eq!(these.devices(Some("5,GPU-a,7")).ok().flatten().as_deref(), Some("5,7"));
        assert!(these.devices(Some("5")).is_err());
        assert_eq!(Gpus::All.devices(Some("5")).ok().flatten(), None);
    }
}
