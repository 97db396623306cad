//! Colour, which never carries information alone.

/// What a piece of text is, as far as colour goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Tone {
    /// No colour.
    #[default]
    Plain,
    /// A gain: green.
    Gain,
    /// A loss: red.
    Loss,
    /// Secondary: dim.
    Dim,
    /// A heading: bold.
    Strong,
}

impl Tone {
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Gain => Some("32"),
            Self::Loss => Some("31"),
            Self::Dim => Some("2"),
            Self::Strong => Some("1"),
        }
    }

    /// `text` in this tone, where colour is on and there is something to see.
    pub(super) fn paint(self, text: &str, color: bool) -> String {
        match self.code() {
            Some(code) if color && !text.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tone;

    #[test]
    fn colour_off_leaves_the_text_alone() {
        assert_eq!(Tone::Gain.paint("+1", false), "+1");
        assert_eq!(Tone::Gain.paint("+1", true), "\u{1b}[32m+1\u{1b}[0m");
        assert_eq!(Tone::Loss.paint("", true), "");
        assert_eq!(Tone::Plain.paint("a", true), "a");
    }
}
