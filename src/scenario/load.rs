//! From files and overrides to a scenario whose names and values are right.

use std::path::{Component, Path, PathBuf};

use indexmap::IndexMap;

use super::axis;
use super::check::check_dotted;
use super::kind::FileKind;
use super::layer::Layer;
use super::overrides::{DottedKey, Overrides, Parsed, empties_observed, observed_key, single};
use super::tree::{Content, Node, lay_over, parse, read_text, set, unset};
use super::vary::{varied, what_ifs};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, SourceText};

/// A scenario as written, checked, with its variations.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Where it was read from, as given.
    pub path: String,
    /// The scenario itself: overrides under `observed` and removed keys are applied, other overrides are not.
    pub base: Layer,
    /// The scenario with the other overrides; none where there are none.
    pub variation: Option<Layer>,
    /// The variations under `what_if`, each laid over `variation`, or over `base` where there is none.
    pub what_ifs: Vec<Variation>,
    /// All overrides, in order, as key and value; a removed key has the value `(removed)`.
    pub overrides: Vec<(String, String)>,
    /// The keys that the variation changes, one by one.
    pub(super) changes: Vec<DottedKey>,
    /// The keys that overrides took away or emptied.
    pub(super) gone: Vec<DottedKey>,
    /// What the overrides replaced or dropped beside the keys that they name, each a sentence.
    pub notes: Vec<String>,
}

impl Scenario {
    /// The path of a file that the scenario names, relative to its folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        beside(Path::new(&self.path), name)
    }
}

/// A variation of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Variation {
    /// Its name.
    pub name: String,
    /// The keys it sets and their values, as written.
    pub set: Vec<(String, String)>,
    /// The keys it changes, one by one.
    pub(super) changes: Vec<DottedKey>,
    /// The varied scenario, without what was observed.
    pub layer: Layer,
}

/// Reads and checks a scenario file.
///
/// # Errors
/// All faults of the file and of those it extends, sorted by place.
pub fn load(path: impl AsRef<Path>) -> Result<Scenario, Diagnostics> {
    load_with(path, &Overrides::default())
}

/// Reads and checks a scenario file with overrides from the command line.
///
/// # Errors
/// All faults of the files and of the overrides, sorted by place.
pub fn load_with(path: impl AsRef<Path>, overrides: &Overrides) -> Result<Scenario, Diagnostics> {
    let (scenario, found) = read(path.as_ref(), overrides)?;
    found.into_result(scenario)
}

/// Reads as much as can be read.
///
/// # Errors
/// A file that cannot be read at all.
pub(super) fn read(path: &Path, overrides: &Overrides) -> Result<(Scenario, Diagnostics), Diagnostics> {
    let mut found = Diagnostics::default();
    let mut tree = read_tree(path, &mut found)?;
    let parsed = overrides.parse(&mut found);
    let Laid { right, gone, .. } = lay(&mut tree, parsed, &mut found);
    let base = Layer::read(tree, &mut found);
    let mut notes = Vec::new();
    let variation = (!right.is_empty()).then(|| {
        let (tree, dropped) = varied(&base.tree, &right);
        notes = dropped;
        Layer::read_variation(tree, &base, &mut found)
    });
    let what_ifs = what_ifs(&base, variation.as_ref().unwrap_or(&base), &mut found);
    axis::check(&base, &mut found);
    let scenario = Scenario {
        path: path.display().to_string(),
        base,
        variation,
        what_ifs,
        changes: right.into_iter().map(|(key, _)| key).collect(),
        gone,
        overrides: Parsed::shown(overrides),
        notes,
    };
    Ok((scenario, found))
}

/// The tree of a scenario and of those it extends, before any override.
///
/// # Errors
/// A file that cannot be read at all, or that is no scenario.
pub(super) fn read_tree(path: &Path, found: &mut Diagnostics) -> Result<Node, Diagnostics> {
    let tree = read_layers(path, found)?;
    match FileKind::of(&tree).fault(&tree, path) {
        Some(fault) => Err(fault.into()),
        None => Ok(tree),
    }
}

/// Overrides told apart: what changes the scenario itself is done, the rest makes a variation of it.
pub(super) struct Laid {
    /// Changes of the variation.
    pub right: Vec<(DottedKey, Node)>,
    /// Keys that were taken away or emptied.
    pub gone: Vec<DottedKey>,
    /// How many changes went into the scenario itself.
    pub own: usize,
}

/// Lays overrides over a scenario.
pub(super) fn lay(tree: &mut Node, parsed: Parsed, found: &mut Diagnostics) -> Laid {
    let (mut gone, mut observed) = (Vec::new(), 0);
    for key in parsed.unset {
        remove(tree, &key, found);
        gone.push(key);
    }
    let mut right: Vec<(DottedKey, Node)> = Vec::new();
    for (key, value) in parsed.set {
        // As with `--unset`: what is removed is removed from the scenario itself.
        if value.content == Content::Null {
            remove(tree, &key, found);
            gone.push(key);
            continue;
        }
        if !check_dotted(&key.path, &key.place, Some(&value), found) {
            continue;
        }
        if value.map().is_some_and(IndexMap::is_empty) {
            gone.push(key.clone());
        }
        for (key, value) in single(key, value) {
            if observed_key(&key.path) || empties_observed(&key.path, &value) {
                set(tree, &key.path, &key.place, value);
                observed += 1;
            } else {
                right.push((key, value));
            }
        }
    }
    let own = observed + gone.len();
    Laid { right, gone, own }
}

/// Removes a key from the scenario itself.
fn remove(tree: &mut Node, key: &DottedKey, found: &mut Diagnostics) {
    if check_dotted(&key.path, &key.place, None, found) && !unset(tree, &key.path) {
        let title = format!("`{}` is not set, so it cannot be removed", key.path);
        found.push(Diagnostic::error(Code::Override, title).at(&key.place, "nothing to remove"));
    }
}

/// Files that may extend one another.
const LONGEST_CHAIN: usize = 16;

/// The tree of a file laid over the trees of those it extends.
fn read_layers(path: &Path, found: &mut Diagnostics) -> Result<Node, Diagnostics> {
    let mut layers: Vec<Node> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut next = Some((path.to_owned(), None));
    while let Some((path, named_at)) = next.take() {
        let text = match read_text(&path, named_at.as_ref()) {
            Ok(text) => text,
            // A missing file below the first is one fault among others.
            Err(fault) if !layers.is_empty() => {
                found.push(*fault);
                break;
            }
            Err(fault) => return Err((*fault).into()),
        };
        seen.push(path.canonicalize().unwrap_or_else(|_| path.clone()));
        let command = starts_server(&text);
        let tree = parse(&SourceText::file(path.display().to_string(), text));
        if command && tree.as_ref().map_or(true, |tree| tree.map().is_none()) {
            return Err(server_command(&path).into());
        }
        let tree = tree.map_err(|fault| *fault)?;
        if let Some(place) = named_at.as_ref().filter(|_| tree.map().is_none()) {
            let title =
                format!("`{}` holds {}, and a scenario is a map of keys", path.display(), tree.noun());
            found.push(
                Diagnostic::error(Code::WrongType, title)
                    .at(&tree.place, "a map is expected")
                    .beside(place, "named here"),
            );
            break;
        }
        let named = tree.at("extends");
        if let Some((node, name)) = named.and_then(|node| Some((node, node.text()?))) {
            let below = beside(&path, name);
            let identity = below.canonicalize().unwrap_or_else(|_| below.clone());
            if seen.contains(&identity) || seen.len() >= LONGEST_CHAIN {
                found.push(circle(node, seen.len()));
            } else {
                next = Some((below, Some(node.place.clone())));
            }
        }
        layers.push(tree);
    }
    let mut tree = layers.pop().expect("the first file was read");
    while let Some(above) = layers.pop() {
        unset(&mut tree, "extends");
        tree = lay_over(tree, above);
    }
    Ok(tree)
}

/// Whether a text holds the words that start a server.
fn starts_server(text: &str) -> bool {
    ["sglang.launch_server", "sglang serve", "vllm serve", "vllm.entrypoints."]
        .iter()
        .any(|w| text.contains(w))
}

/// A file that starts a server is quoted nowhere: command lines hold keys.
fn server_command(path: &Path) -> Diagnostic {
    let path = path.display();
    let title = format!("`{path}` looks like the command line of a server, not like a scenario");
    Diagnostic::error(Code::WrongType, title)
        .help(format!("make a scenario of it: `specplan import {path} -o scenario.yaml`"))
}

fn circle(named: &Node, files: usize) -> Diagnostic {
    let title = if files >= LONGEST_CHAIN {
        format!("more than {LONGEST_CHAIN} scenarios extend one another")
    } else {
        "scenarios extend one another in a circle".to_owned()
    };
    let remark = if files >= LONGEST_CHAIN { "the chain is cut here" } else { "this file was already read" };
    Diagnostic::error(Code::ExtendsCycle, title)
        .at(&named.place, remark)
        .help("put what is common into a file that extends nothing")
}

/// A path that a file names, relative to the folder of that file.
pub(super) fn beside(file: &Path, name: &str) -> PathBuf {
    let path = match file.parent() {
        Some(folder) if Path::new(name).is_relative() => folder.join(name),
        _ => PathBuf::from(name),
    };
    // Without `.` in the middle: `scenarios/./box.yaml` reads badly in messages.
    let plain: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    if plain.as_os_str().is_empty() { PathBuf::from(".") } else { plain }
}
