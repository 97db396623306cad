//! The law of accepted tokens.

use std::borrow::Cow;

use super::{Origin, Resolver, complete, evidence};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Place, SourceText};
use crate::scenario::check::{acceptance_kinds, check_value, draft_shape};
use crate::scenario::layer::Layer;
use crate::scenario::library::Law;
use crate::scenario::load::beside;
use crate::scenario::schema::at;
use crate::scenario::setup::Evidence;
use crate::scenario::tree::{Node, parse_named, read_text};
use crate::scenario::written::{AcceptanceKeys, Given, Ratio};
use crate::sourced::{Sourced, Spread};
use crate::speculation::{Acceptance, DraftShape};
use crate::units::AcceptLength;

const AT: &str = "speculation.acceptance";

/// An acceptance with the cycles behind it.
pub(super) struct Accepted {
    pub(super) law: Acceptance,
    pub(super) evidence: Option<Evidence>,
}

impl Resolver<'_, '_> {
    /// The law that a layer describes. A variation that leaves the acceptance alone keeps the law of the base, told for its
    /// own shape: a rate is a fact of draft and text, and a mean over 2 drafted tokens is none over 3.
    pub(super) fn acceptance(&mut self, layer: &Layer, base: Option<(&Layer, Origin)>) -> Option<Accepted> {
        let keys = &layer.written.speculation.acceptance;
        let shape = draft_shape(&layer.written.speculation);
        let accept_length = keys.accept_length.map_or(1.0, |given| given.0.value.get());
        // Where the observed numbers answer alone the shape may be unknown; the mean then needs some chain that can
        // yield it, and nothing else is asked of the law.
        let steps = shape.steps.unwrap_or_else(|| (accept_length.ceil() as u32).max(1));
        let shape =
            DraftShape { steps, topk: shape.topk, draft_tokens: shape.draft_tokens.unwrap_or(steps + 1) };
        let kept = base.filter(|(base, _)| base.written.speculation.acceptance == *keys);
        if let Some((_, origin)) = kept {
            let same = shape == origin.shape || origin.shape.steps == 0;
            let law = origin.acceptance;
            let law = if same { law.clone() } else { self.library.reshaped(law, shape) };
            return Some(Accepted { law, evidence: origin.evidence });
        }
        let read = match &keys.file {
            Some(file) => Cow::Owned(self.acceptance_file(layer, file)?),
            None => Cow::Borrowed(keys),
        };
        let evidence = evidence::of(&read, &layer.written.speculation.observed);
        let law = law(&read, shape);
        let Some(law) = law else {
            // That of the base is reported with what else is missing there.
            if base.is_some() {
                self.found.push(complete::no_acceptance(layer));
            }
            return None;
        };
        match self.library.acceptance(&law, shape) {
            Ok(acceptance) => {
                let law = evidence.and_then(|evidence| evidence::range(&law, &acceptance, shape, evidence));
                let ranged = law.and_then(|law| self.library.acceptance(&law, shape).ok());
                Some(Accepted { law: ranged.unwrap_or(acceptance), evidence })
            }
            Err(why) => {
                let diagnostic = Diagnostic::error(Code::Probabilities, "no such acceptance").note(why);
                let kind = acceptance_kinds(keys).first().and_then(|kind| layer.key(&format!("{AT}.{kind}")));
                self.found.push(match kind.or_else(|| layer.key(AT)) {
                    Some(key) => diagnostic.at(key, "described here"),
                    None => diagnostic,
                });
                None
            }
        }
    }

    /// The acceptance that a file describes.
    fn acceptance_file(&mut self, layer: &Layer, file: &str) -> Option<AcceptanceKeys> {
        let place = layer.place(&format!("{AT}.file"))?;
        let path = beside(place.source.name.as_ref(), file);
        let shown = path.display().to_string();
        let tree = read_text(&path, Some(place))
            .and_then(|text| parse_named(&SourceText::file(shown.as_str(), text), Some(place)));
        let tree = match tree {
            Ok(tree) => tree,
            Err(fault) => {
                self.found.push(*fault);
                return None;
            }
        };
        let mut found = Diagnostics::default();
        let json = checked(&tree, &mut found);
        if !found.is_empty() {
            for fault in &mut found.list {
                *fault = fault.clone().beside(place, "the file is named here");
            }
            self.found.extend(found);
            return None;
        }
        match json.map(serde_json::from_value::<AcceptanceKeys>) {
            Some(Ok(keys)) if keys.file.is_some() => self.unusable(place, &shown, "it names another file"),
            Some(Ok(keys)) => match acceptance_kinds(&keys).as_slice() {
                [_] => Some(keys),
                [] => self.unusable(place, &shown, "it describes none"),
                several => {
                    let all =
                        several.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(" and ");
                    self.unusable(place, &shown, &format!("it describes it in several ways: {all}"))
                }
            },
            _ => self.unusable(place, &shown, "it cannot be read"),
        }
    }

    fn unusable<T>(&mut self, place: &Place, path: &str, why: &str) -> Option<T> {
        let title = format!("`{path}` holds no acceptance");
        self.found.push(Diagnostic::error(Code::ReferencedFile, title).at(place, "named here").note(why));
        None
    }
}

/// The keys of an acceptance file, which stand at its top, or under `acceptance` beside where they came from.
fn checked(tree: &Node, found: &mut Diagnostics) -> Option<serde_json::Value> {
    let (node, key) = match tree.entry("acceptance") {
        Some(entry) => (&entry.value, &entry.key),
        None => (tree, &tree.place),
    };
    check_value(node, at(AT).expect("a key of the schema"), "acceptance", key, found)
}

/// Keys that stand beside `acceptance` in a file that an import wrote.
const BESIDE: [&str; 5] = ["acceptance", "imported", "cycles", "steps", "scenario"];

/// Every fault of an acceptance file by itself: keys, values, and that it describes one law.
///
/// # Errors
/// The faults.
pub fn check_acceptance_file(tree: &Node) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::default();
    if tree.entry("acceptance").is_some() {
        for (name, entry) in
            tree.map().into_iter().flatten().filter(|(name, _)| !BESIDE.contains(&name.as_str()))
        {
            let title = format!("unknown key `{name}`");
            let fault =
                Diagnostic::error(Code::UnknownKey, title).at(&entry.key, "not a key of an acceptance file");
            found.push(fault.note(format!("known keys: {}", BESIDE.join(", "))));
        }
    }
    let keys = checked(tree, &mut found).and_then(|json| serde_json::from_value::<AcceptanceKeys>(json).ok());
    if let Some(keys) = keys.filter(|_| found.is_empty()) {
        let kinds = acceptance_kinds(&keys);
        if keys.file.is_some() || kinds.len() != 1 {
            let title = match (&keys.file, kinds.len()) {
                (Some(_), _) => "an acceptance file that names another file".to_owned(),
                (None, 0) => "no acceptance is described".to_owned(),
                _ => format!("an acceptance in several ways: `{}`", kinds.join("`, `")),
            };
            found.push(
                Diagnostic::error(Code::ReferencedFile, title).at(&tree.place, "one is described here"),
            );
        }
    }
    found.into_result(())
}

/// The one law that the keys describe.
fn law(keys: &AcceptanceKeys, shape: DraftShape) -> Option<Law> {
    let ratio = |given: &Given<Ratio>| within(given.0.map(|ratio| ratio.0), 0.0, 1.0);
    if let Some(given) = &keys.accept_length {
        let limit = f64::from(shape.steps.min(shape.draft_tokens.saturating_sub(1)) + 1);
        return Some(Law::AcceptLength(
            within(given.0.map(AcceptLength::get), 1.0, limit).map(AcceptLength::new),
        ));
    }
    if let Some(rate) = &keys.rate {
        return Some(Law::Rate(ratio(rate)));
    }
    if let Some(rate) = &keys.mean_rate {
        return Some(Law::MeanRate(ratio(rate)));
    }
    let lists = [
        (&keys.conditional, Law::Conditional as fn(Vec<f64>) -> Law),
        (&keys.cumulative, Law::Cumulative),
        (&keys.histogram, Law::Histogram),
    ];
    for (list, law) in lists {
        if let Some(list) = list {
            return Some(law(list.clone()));
        }
    }
    keys.tree.as_ref().map(|tree| Law::Tree {
        ranks: tree.ranks.clone(),
        nodes: tree.nodes.unwrap_or(shape.draft_tokens),
        levels: tree.levels.unwrap_or(shape.steps + 1),
    })
}

/// The ends of a range cut where no value can lie.
fn within(value: Sourced<f64>, least: f64, most: f64) -> Sourced<f64> {
    let spread =
        value.spread.map(|spread| Spread { low: spread.low.max(least), high: spread.high.min(most) });
    Sourced { spread, ..value }
}
