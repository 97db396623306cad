//! Width of a line of text in DejaVu Sans, so that labels can be kept apart without a font at hand.
//!
//! Advance widths are those of the `hmtx` tables of DejaVu Sans 2.37, in 1/2048 of the font size; kerning is left out (it
//! only ever makes text narrower).

/// Units of the font per size.
const PER_EM: f64 = 2048.0;

/// Advance widths from the space (32) to the tilde (126), regular.
#[rustfmt::skip]
const REGULAR: [u16; 95] = [
    651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690, 1303, 1303, 1303, 1303,
    1303, 1303, 1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716, 1087, 2048, 1401, 1405, 1430, 1577, 1294, 1178,
    1587, 1540, 604, 604, 1343, 1141, 1767, 1532, 1612, 1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251,
    1403, 799, 690, 799, 1716, 1024, 1024, 1255, 1300, 1126, 1300, 1260, 721, 1300, 1298, 569, 569, 1186, 569, 1995,
    1298, 1253, 1300, 1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075, 1303, 690, 1303, 1716,
];

/// The same, bold.
#[rustfmt::skip]
const BOLD: [u16; 95] = [
    713, 934, 1067, 1716, 1425, 2052, 1786, 627, 936, 936, 1071, 1716, 778, 850, 778, 748, 1425, 1425, 1425, 1425,
    1425, 1425, 1425, 1425, 1425, 1425, 819, 819, 1716, 1716, 1716, 1188, 2048, 1585, 1561, 1503, 1700, 1399, 1399,
    1681, 1714, 762, 762, 1587, 1305, 2038, 1714, 1741, 1501, 1741, 1577, 1475, 1397, 1663, 1585, 2259, 1579, 1483,
    1485, 936, 748, 936, 1716, 1024, 1024, 1382, 1466, 1214, 1466, 1389, 891, 1466, 1458, 702, 702, 1362, 702, 2134,
    1458, 1407, 1466, 1466, 1010, 1219, 979, 1458, 1335, 1892, 1321, 1335, 1192, 1458, 748, 1458, 1716,
];

/// Width of `text` at `size` pixels \[px\].
pub(super) fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    let table = if bold { &BOLD } else { &REGULAR };
    let advance = |c: char| match c {
        ' '..='~' => table[c as usize - 32],
        'µ' | '²' => 1400,
        '·' => 700,
        '–' | '°' | '\u{a0}' => 1024,
        '−' | '×' | '≥' | '≤' | '±' | '→' => 1716,
        // Letters of other scripts, ellipsis, dash: no narrower than the widest of them.
        _ => 2048,
    };
    text.chars().map(|c| f64::from(advance(c))).sum::<f64>() * size / PER_EM
}

#[cfg(test)]
mod tests {
    use super::text_width;

    #[test]
    fn widths_are_those_of_the_embedded_font() {
        use resvg::usvg;
        let text = "Verify must fall below 21 ms to beat 82 tok/s";
        for (bold, weight) in [(false, "normal"), (true, "bold")] {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"50\"><text y=\"30\" \
                 font-size=\"20\" font-weight=\"{weight}\" font-family=\"DejaVu Sans\">{text}</text></svg>"
            );
            let options =
                usvg::Options { fontdb: super::super::super::png::fonts(), ..usvg::Options::default() };
            let tree = usvg::Tree::from_str(&svg, &options).expect("the text is an SVG");
            let drawn = f64::from(tree.root().bounding_box().width());
            let computed = text_width(text, 20.0, bold);
            assert!(
                (drawn - computed).abs() < 0.015 * computed,
                "{weight}: {drawn} drawn, {computed} computed"
            );
        }
    }
}
