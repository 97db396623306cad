//! Colours that people with a colour vision deficiency can tell apart (Okabe and Ito, "Color Universal Design",
//! 2008), and what each means in these figures.

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Color(pub(super) u8, pub(super) u8, pub(super) u8);

pub(super) const BLACK: Color = Color(0, 0, 0);
pub(super) const WHITE: Color = Color(255, 255, 255);
pub(super) const ORANGE: Color = Color(230, 159, 0);
pub(super) const SKY: Color = Color(86, 180, 233);
pub(super) const GREEN: Color = Color(0, 158, 115);
pub(super) const YELLOW: Color = Color(240, 228, 66);
pub(super) const BLUE: Color = Color(0, 114, 178);
pub(super) const VERMILLION: Color = Color(213, 94, 0);
pub(super) const PURPLE: Color = Color(204, 121, 167);

/// Words that are not data.
pub(super) const INK: Color = Color(34, 34, 34);
/// Secondary words and ticks.
pub(super) const QUIET: Color = Color(95, 95, 95);
/// Grid lines.
pub(super) const GRID: Color = Color(226, 226, 226);
/// The axes.
pub(super) const AXIS: Color = Color(120, 120, 120);

/// Without speculation.
pub(super) const BASELINE: Color = GREEN;
/// What was observed or given.
pub(super) const OBSERVED: Color = VERMILLION;
/// What the model says.
pub(super) const MODEL: Color = BLUE;

/// Colours for series, in order of use; yellow is left out, since it vanishes on white.
pub(super) const SERIES: [Color; 6] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY];
/// Fills for parts of a bar, in order of use.
#[rustfmt::skip]
pub(super) const FILLS: [Color; 8] = [
    SKY, GREEN, YELLOW, BLUE, Color(222, 196, 150), Color(150, 208, 190), Color(150, 150, 205), Color(120, 120, 120),
];

impl Color {
    /// `share` of `other` mixed into this colour, 0 to 1.
    pub(super) fn mix(self, other: Self, share: f64) -> Self {
        let channel = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
        Self(channel(self.0, other.0), channel(self.1, other.1), channel(self.2, other.2))
    }

    /// Black or white, whichever is easier to read on this colour.
    pub(super) fn ink_on(self) -> Self {
        let luma = 0.299 * f64::from(self.0) + 0.587 * f64::from(self.1) + 0.114 * f64::from(self.2);
        if luma > 120.0 { BLACK } else { WHITE }
    }
}
