//! Where to look for libraries.

use std::path::{Path, PathBuf};

/// What the loader knows, and folders in which libraries of a Python environment or of CUDA may lie.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Folders that hold `nvidia/*/lib`, or libraries themselves.
    roots: Vec<PathBuf>,
    /// Names that the loader finds.
    known: Vec<String>,
}

impl Places {
    /// Those of this machine: `python`'s environment if one is named; then the environment that is active, that of
    /// the `python3` on the path, the system's, CUDA's own folder.
    pub fn here(python: Option<&Path>) -> Self {
        let named = python.map(Path::to_path_buf);
        let active =
            ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
        let prefixes = named
            .iter()
            .filter_map(|python| prefix_of(python))
            .chain(active)
            .chain(on_path("python3").as_deref().and_then(prefix_of))
            .chain(["/usr/local", "/usr"].map(PathBuf::from));
        let mut roots: Vec<PathBuf> = prefixes.flat_map(|prefix| sites(&prefix)).collect();
        roots
            .extend(["/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib"].map(PathBuf::from));
        Self { roots, known: known() }
    }

    /// Only these: for tests.
    #[cfg(test)]
    pub(super) fn only(roots: Vec<PathBuf>, known: Vec<String>) -> Self {
        Self { roots, known }
    }

    /// Whether the loader finds a name by itself.
    pub(super) fn loader_finds(&self, name: &str) -> bool {
        self.known.iter().any(|known| known == name)
    }

    /// The first library of this stem: of each root its own folder, then `nvidia/*/lib`, the shortest name first.
    pub(super) fn find(&self, stem: &str) -> Option<PathBuf> {
        let own = format!("lib{stem}.so");
        let folders = self.roots.iter().flat_map(|root| {
            let mut below: Vec<PathBuf> =
                entries(&root.join("nvidia")).map(|folder| folder.join("lib")).collect();
            below.sort();
            std::iter::once(root.clone()).chain(below)
        });
        folders
            .flat_map(|folder| {
                let mut found: Vec<PathBuf> = entries(&folder)
                    .filter(|path| {
                        name_of(path).is_some_and(|name| name == own || name.starts_with(&format!("{own}.")))
                    })
                    .collect();
                found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
                found
            })
            .next()
    }
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The folder above `bin`, without following links: a virtual environment's python is a link out of it.
fn prefix_of(python: &Path) -> Option<PathBuf> {
    let python = if python.components().count() > 1 { python.to_owned() } else { on_path(name_of(python)?)? };
    Some(python.parent()?.parent()?.to_owned())
}

fn on_path(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|path| path.exists())
}

/// `lib/python3*/site-packages` and Debian's `dist-packages` below a prefix.
fn sites(prefix: &Path) -> Vec<PathBuf> {
    let mut sites: Vec<PathBuf> = ["lib", "lib64"]
        .into_iter()
        .flat_map(|lib| entries(&prefix.join(lib)))
        .filter(|path| name_of(path).is_some_and(|name| name.starts_with("python3")))
        .flat_map(|python| ["site-packages", "dist-packages"].map(|site| python.join(site)))
        .filter(|site| site.join("nvidia").is_dir())
        .collect();
    sites.sort();
    sites
}

/// Names in the loader's cache, in `LD_LIBRARY_PATH`, and in the folders that it always searches.
fn known() -> Vec<String> {
    let cache = std::fs::read("/etc/ld.so.cache").unwrap_or_default();
    let mut names = names_in(&cache);
    let path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let always = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(PathBuf::from);
    let folders = std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty()).chain(always);
    names.extend(folders.flat_map(|folder| {
        entries(&folder)
            .filter_map(|path| name_of(&path).map(str::to_owned))
            .filter(|name| is_wanted(name))
            .collect::<Vec<_>>()
    }));
    names
}

fn is_wanted(name: &str) -> bool {
    ["libnvrtc.so", "libcublas.so", "libnccl.so"].iter().any(|start| name.starts_with(start))
}

/// The cache's strings end in zeros; names and paths stand there alike.
fn names_in(cache: &[u8]) -> Vec<String> {
    cache
        .split(|&byte| byte == 0)
        .filter_map(|word| std::str::from_utf8(word).ok())
        .filter(|word| is_wanted(word))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_out_of_the_loaders_cache() {
        let cache = b"glibc-ld.so.cache1.1\0\x01\xff\0libnccl.so.2\0/usr/lib/libnccl.so.2\0libcublasLt.so.13\0libnvrtc.so.13\0";
        assert_eq!(names_in(cache), ["libnccl.so.2", "libnvrtc.so.13"]);
    }

    #[test]
    fn the_environment_of_a_python_is_found_by_its_path() {
        let prefix = tempfile::tempdir().unwrap();
        let site = prefix.path().join("lib/python3.12/site-packages");
        std::fs::create_dir_all(site.join("nvidia/nccl/lib")).unwrap();
        std::fs::create_dir_all(prefix.path().join("bin")).unwrap();
        std::fs::write(site.join("nvidia/nccl/lib/libnccl.so.2"), b"").unwrap();
        let python = prefix.path().join("bin/python3");
        std::fs::write(&python, b"").unwrap();
        let places = Places::here(Some(&python));
        assert_eq!(places.roots[0], site);
        assert_eq!(places.find("nccl"), Some(site.join("nvidia/nccl/lib/libnccl.so.2")));
    }
}
