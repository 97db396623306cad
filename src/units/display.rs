//! Numbers as people read them: three significant figures, thousands separated.

use std::fmt;

/// Shows a number with three significant figures: `0.123`, `3.30`, `33.3`, `205`, `1,234`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThreeFigures(
    /// The number.
    pub f64,
);

impl fmt::Display for ThreeFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&significant(self.0, 3))
    }
}

/// `value` with `figures` significant figures; whole numbers of four and more digits keep all of them and get
/// thousands separators, since cutting them would read as false rounding.
pub fn significant(value: f64, figures: usize) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    if value == 0.0 {
        return format!("{:.*}", figures.saturating_sub(1), 0.0);
    }
    let decimals = |v: f64| {
        let magnitude = v.abs().log10().floor() as i32;
        let wanted = i32::try_from(figures).unwrap_or(i32::MAX);
        usize::try_from(wanted - 1 - magnitude).unwrap_or(0)
    };
    let first = format!("{value:.*}", decimals(value));
    // Rounding may have carried into a new digit (9.996 -> 10.00): format again from the rounded value.
    let rounded: f64 = first.parse().expect("a formatted number parses");
    let text = if rounded == 0.0 { first } else { format!("{rounded:.*}", decimals(rounded)) };
    separate_thousands(&text)
}

fn separate_thousands(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let mut grouped = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match fraction {
        Some(fraction) => format!("{sign}{grouped}.{fraction}"),
        None => format!("{sign}{grouped}"),
    }
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn three_figures() {
        for (value, text) in [
            (0.12345, "0.123"),
            (9.996, "10.0"),
            (33.333, "33.3"),
            (204.9, "205"),
            (999.6, "1,000"),
            (1234.5, "1,234"),
            (-2.5, "-2.50"),
            (0.0, "0.00"),
        ] {
            assert_eq!(significant(value, 3), text, "{value}");
        }
    }
}
