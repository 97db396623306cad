//! All variations of one scenario that a sweep asks for.
//!
//! A [`Branch`] is the scenario with the values of keys that need the tree: files are read, names looked up, keys that
//! follow dropped. On it a [`Worker`] changes [`Direct`] keys, one field each, and runs the same checks and the same
//! assembly as [`super::resolve`] does; so a variation of a sweep is the one that `--set` makes of the same values.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::complete::{self, Kind};
use super::contents::add_contents;
use super::names::Names;
use super::remarks::foreign_calibration;
use super::{Named, Origin, Resolver};
use crate::diagnostic::{Diagnostics, Severity, SourceText};
use crate::scenario::axis::Points;
use crate::scenario::check::check_values;
use crate::scenario::direct::Direct;
use crate::scenario::layer::Layer;
use crate::scenario::library::Library;
use crate::scenario::load::{Laid, lay, read_tree};
use crate::scenario::overrides::{DottedKey, Overrides, Parsed, observed_key, parse_set};
use crate::scenario::setup::{ObservedSetup, Setup};
use crate::scenario::tree::{Node, parse_value, unset};
use crate::scenario::vary::varied;

/// A scenario that is about to be varied many times.
pub struct Family<'l> {
    library: &'l dyn Library,
    names: Mutex<Names<'l>>,
    path: String,
    tree: Node,
    parsed: Parsed,
    /// How many of the overrides change the scenario itself.
    own: usize,
    /// The scenario itself, where no variation changes it.
    root: Option<Arc<Root>>,
    /// Axes under `sweep`, as written.
    axes: Node,
}

/// The scenario itself, with what was observed.
struct Root {
    layer: Layer,
    setup: Setup,
}

/// The scenario with the values of the keys that need the tree.
pub struct Branch {
    root: Arc<Root>,
    /// None where only what was observed is changed.
    layer: Option<Layer>,
    named: Option<Named>,
    own_root: bool,
    /// What the changes drop beside the keys that they name, each a sentence.
    pub notes: Vec<String>,
}

/// Makes setups of a branch, one after the other.
pub struct Worker {
    branch: Arc<Branch>,
    layer: Option<Layer>,
}

impl<'l> Family<'l> {
    /// Reads a scenario of which keys will be varied.
    ///
    /// # Errors
    /// All faults of the file and of the overrides.
    pub fn open(
        path: impl AsRef<Path>,
        overrides: &Overrides,
        library: &'l dyn Library,
    ) -> Result<Self, Diagnostics> {
        let path = path.as_ref();
        let mut found = Diagnostics::default();
        let mut tree = read_tree(path, &mut found)?;
        let parsed = overrides.parse(&mut found);
        let axes = tree.at("sweep").cloned().unwrap_or_else(|| Node::empty_map(tree.place.clone()));
        for key in ["what_if", "sweep"] {
            unset(&mut tree, key);
        }
        found.into_result(Self {
            library,
            names: Mutex::new(Names::new(library)),
            path: path.display().to_string(),
            tree,
            parsed,
            own: 0,
            root: None,
            axes,
        })
    }

    /// The axes that the scenario lists.
    pub fn axes(&self) -> &Node {
        &self.axes
    }

    /// Says which keys will be varied.
    ///
    /// # Errors
    /// All faults of the scenario, unless a key that says what was observed may mend it.
    pub fn vary<'k>(&mut self, mut keys: impl Iterator<Item = &'k str>) -> Result<(), Diagnostics> {
        let (mut tree, mut found) = (self.tree.clone(), Diagnostics::default());
        let Laid { right, own, .. } = lay(&mut tree, self.parsed.clone(), &mut found);
        self.own = own;
        let root = self.root(tree, &mut found);
        // A fault of the overrides is one of every variation.
        if let Some(root) = &root {
            let (tree, _) = varied(&root.layer.tree, &right);
            Layer::typed(tree, &mut found);
        }
        self.root = root.filter(|_| !found.has_errors()).map(Arc::new);
        if self.root.is_some() || keys.any(observed_key) { Ok(()) } else { Err(super::never_silent(found)) }
    }

    /// The scenario itself, where all variations have it in common.
    pub fn base(&self) -> Option<&Setup> {
        self.root.as_deref().map(|root| &root.setup)
    }

    /// All that decides about a variation, as text: the tree with its overrides, and the things that it names.
    pub fn identity(&self) -> String {
        let set: Vec<String> =
            self.parsed.set.iter().map(|(key, value)| format!("{}={}", key.path, value.to_json())).collect();
        let unset: Vec<&str> = self.parsed.unset.iter().map(|key| key.path.as_str()).collect();
        let named = match self.base() {
            Some(Setup::Modelled(m)) => {
                format!(
                    "{:?} {:?} {:?} {:?} {:?}",
                    m.hardware, m.model, m.draft, m.runtime, m.calibration.name
                )
            }
            _ => String::new(),
        };
        format!("{} {set:?} {unset:?} {named}", self.tree.to_json())
    }

    /// The bytes of all files that the scenario, its overrides and the values of the axes name: with [`Family::identity`] all
    /// that decides about the rows.
    pub fn add_files<'a>(&self, axes: impl Iterator<Item = &'a Points>, add: &mut dyn FnMut(&[u8])) {
        add_contents(&self.tree, add);
        self.parsed.set.iter().for_each(|(_, value)| add_contents(value, add));
        for axis in axes.filter(|axis| axis.direct.is_none() && axis.is_list()) {
            for at in 0..axis.count() {
                let source = SourceText::command_line(&*axis.text(at));
                if let Ok(value) = parse_value(&source, 0..source.text.len()) {
                    add_contents(&value, add);
                }
            }
        }
    }

    /// The scenario with values of keys, each as it would follow `--set`.
    ///
    /// # Errors
    /// Why there is no such scenario, as one line.
    pub fn branch<'c>(&self, changes: impl Iterator<Item = (&'c str, &'c str)>) -> Result<Branch, String> {
        let mut found = Diagnostics::default();
        let mut parsed = self.parsed.clone();
        for (key, value) in changes {
            match parse_set(&format!("{key}={value}")) {
                Ok(pair) => parsed.set.push(pair),
                Err(fault) => found.push(*fault),
            }
        }
        let mut tree = self.tree.clone();
        let Laid { right, own, .. } = lay(&mut tree, parsed, &mut found);
        let own_root = self.root.is_none() || own != self.own;
        let root = match &self.root {
            Some(root) if !own_root => Arc::clone(root),
            _ => match self.root(tree, &mut found) {
                Some(root) => Arc::new(root),
                None => return Err(reason(found)),
            },
        };
        if right.is_empty() {
            let branch = Branch { root, layer: None, named: None, own_root, notes: Vec::new() };
            return if found.has_errors() { Err(reason(found)) } else { Ok(branch) };
        }
        let (tree, notes) = varied(&root.layer.tree, &right);
        let layer = Layer::typed(tree, &mut found);
        let changes: Vec<DottedKey> = right.into_iter().map(|(key, _)| key).collect();
        let named = self.resolving(&mut found, |resolver| match &root.setup {
            Setup::Modelled(_) => Some(resolver.named(&layer)),
            Setup::Observed(_) => {
                resolver.needs_no_model(&changes);
                None
            }
        });
        if found.has_errors() {
            return Err(reason(found));
        }
        Ok(Branch { root, layer: Some(layer), named, own_root, notes })
    }

    fn root(&self, tree: Node, found: &mut Diagnostics) -> Option<Root> {
        let layer = Layer::read(tree, found);
        let kind = complete::kind(&layer, found);
        let path = &self.path;
        let setup = self.resolving(found, |resolver| {
            let acceptance = resolver.acceptance(&layer, None);
            match kind {
                Kind::Modelled => {
                    let named = resolver.named(&layer);
                    resolver.assembled(path, &layer, &named, acceptance)
                }
                Kind::Observed => Some(Setup::Observed(ObservedSetup {
                    common: resolver.common(path, &layer, acceptance?),
                })),
            }
        })?;
        Some(Root { layer, setup })
    }

    /// Runs a resolver that knows the names looked up so far.
    fn resolving<T>(&self, found: &mut Diagnostics, job: impl FnOnce(&mut Resolver) -> T) -> T {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        job(&mut Resolver { names: &mut names, library: self.library, notes: Vec::new(), found })
    }
}

impl Branch {
    /// The scenario itself, of which the setups of this branch are variations.
    pub fn base(&self) -> &Setup {
        &self.root.setup
    }

    /// That the tables of its setups were measured on another GPU than the box has.
    pub fn foreign(&self) -> Option<String> {
        match (&self.named, &self.root.setup) {
            (Some(named), _) => {
                foreign_calibration(named.hardware.as_deref()?, named.calibration.as_deref()?)
            }
            (None, Setup::Modelled(setup)) => foreign_calibration(&setup.hardware, &setup.calibration),
            (None, Setup::Observed(_)) => None,
        }
    }

    /// Whether that differs from [`Family::base`].
    pub const fn has_own_base(&self) -> bool {
        self.own_root
    }

    /// One that makes setups.
    pub fn worker(self: &Arc<Self>) -> Worker {
        Worker { branch: Arc::clone(self), layer: self.layer.clone() }
    }
}

impl Worker {
    /// The variation with these values of direct keys; none where it is the scenario itself, with other observations.
    ///
    /// # Errors
    /// Why there is no such variation, as one line.
    pub fn setup<'v>(
        &mut self,
        family: &Family,
        changes: impl Iterator<Item = (Direct, &'v Value)>,
    ) -> Result<Option<Setup>, String> {
        let Some(layer) = &mut self.layer else { return Ok(None) };
        for (key, value) in changes {
            key.put(&mut layer.written, value);
        }
        let root = &*self.branch.root;
        let mut found = Diagnostics::default();
        let kept = layer.written.speculation.acceptance == root.layer.written.speculation.acceptance;
        check_values(layer, !kept, &mut found);
        // What follows from such a fault is not told.
        if found.has_errors() {
            return Err(reason(found));
        }
        let mut names = Names::new(family.library);
        let mut resolver =
            Resolver { names: &mut names, library: family.library, notes: Vec::new(), found: &mut found };
        let acceptance = resolver.acceptance(layer, Some((&root.layer, Origin::of(&root.setup))));
        let setup = match &self.branch.named {
            Some(named) => resolver.assembled(&family.path, layer, named, acceptance),
            None => acceptance.map(|acceptance| {
                Setup::Observed(ObservedSetup { common: resolver.common(&family.path, layer, acceptance) })
            }),
        };
        match setup {
            Some(setup) if !found.has_errors() => Ok(Some(setup)),
            _ => Err(reason(found)),
        }
    }
}

/// The first fault, and how many more there are.
fn reason(found: Diagnostics) -> String {
    let sorted = found.sorted();
    let mut errors = sorted.list.iter().filter(|fault| fault.severity == Severity::Error);
    let Some(first) = errors.next() else { return "not enough for an answer".to_owned() };
    let code = first.code.map(|code| format!("{code}: ")).unwrap_or_default();
    let more = match errors.count() {
        0 => String::new(),
        count => format!(" (and {count} more)"),
    };
    // A row of a table is one line.
    format!("{code}{}{more}", first.title.replace(['\n', '\r'], " "))
}
