//! Where NVRTC, cuBLAS and NCCL lie, for children to find.
//!
//! cudarc asks the dynamic loader for names such as `libnccl.so` or `libcublas.so.13`. What a Python environment brings
//! lies in folders that no loader searches (`nvidia/*/lib`), NCCL only as `libnccl.so.2`. The parent makes a folder of
//! symbolic links, and the child gets it in front of `LD_LIBRARY_PATH`. What the loader finds by itself is left alone,
//! so that exactly one copy of each library is loaded: two copies of NCCL in one process break its communicators.
//!
//! Nothing is loaded here: only names of files and the loader's cache are read.

mod search;

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

pub use search::Places;

/// A library that children want: what stands between `lib` and `.so`, and names that cudarc's loader tries.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    stem: &'static str,
    tried: &'static [&'static str],
    /// Libraries that it loads by itself, from beside it.
    beside: &'static [&'static str],
}

/// Names with versions are those that cudarc 0.19.10 tries for its feature `cuda-13000`.
const WANTED: [Wanted; 3] = [
    Wanted {
        stem: "nvrtc",
        tried: &["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11"],
        beside: &["libnvrtc-builtins."],
    },
    Wanted {
        stem: "cublas",
        tried: &["libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"],
        beside: &["libcublasLt.", "libnvblas."],
    },
    Wanted { stem: "nccl", tried: &["libnccl.so"], beside: &[] },
];

/// Links to libraries that the loader does not find by itself; removed when dropped.
#[derive(Debug)]
pub struct Libraries {
    folder: Option<PathBuf>,
    missing: Vec<&'static str>,
}

impl Libraries {
    /// Looks in the loader's places, then in `places`, in their order.
    ///
    /// # Errors
    /// The folder of links cannot be made.
    pub fn find(places: &Places) -> io::Result<Self> {
        let mut links: Vec<(OsString, PathBuf)> = Vec::new();
        let mut missing = Vec::new();
        for wanted in WANTED {
            if wanted.tried.iter().any(|name| places.loader_finds(name)) {
                continue;
            }
            match places.find(wanted.stem) {
                Some(library) => links.extend(links_to(&wanted, &library)),
                None => missing.push(wanted.stem),
            }
        }
        let folder = if links.is_empty() { None } else { Some(make_folder(&links)?) };
        Ok(Self { folder, missing })
    }

    /// Libraries found nowhere: `nvrtc`, `cublas`, `nccl`.
    pub fn missing(&self) -> &[&'static str] {
        &self.missing
    }

    /// `LD_LIBRARY_PATH` of a child: the links in front of this process's own. None: nothing to change.
    pub fn search_path(&self) -> Option<OsString> {
        let mut path = self.folder.clone()?.into_os_string();
        if let Some(before) = std::env::var_os("LD_LIBRARY_PATH").filter(|before| !before.is_empty()) {
            path.push(":");
            path.push(before);
        }
        Some(path)
    }
}

impl Drop for Libraries {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// A link of the name that cudarc tries first, and links of those beside the library that it loads by their own names.
fn links_to(wanted: &Wanted, library: &Path) -> Vec<(OsString, PathBuf)> {
    let mut links = vec![(OsString::from(wanted.tried[0]), library.to_owned())];
    let folder = library.parent().unwrap_or(Path::new("."));
    let own = format!("lib{}.so.", wanted.stem);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        // Its own versioned name too: other libraries of the environment may ask for that.
        if text.contains(".so")
            && (text.starts_with(&own) || wanted.beside.iter().any(|b| text.starts_with(b)))
        {
            links.push((name, entry.path()));
        }
    }
    links
}

fn make_folder(links: &[(OsString, PathBuf)]) -> io::Result<PathBuf> {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("specplan-libraries-{}-{number}", std::process::id()));
    // Not `create_dir_all`: a folder that someone else has made beforehand is not used.
    std::fs::create_dir(&folder)?;
    for (name, target) in links {
        symlink(target, folder.join(name))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An environment as pip makes it for CUDA 13, with empty files for libraries.
    fn environment(at: &Path) {
        for file in [
            "nvidia/cu13/lib/libcublas.so.13",
            "nvidia/cu13/lib/libcublasLt.so.13",
            "nvidia/cu13/lib/libnvrtc.so.13",
            "nvidia/cu13/lib/libnvrtc.alt.so.13",
            "nvidia/cu13/lib/libnvrtc-builtins.so.13.0",
            "nvidia/nccl/lib/libnccl.so.2",
        ] {
            let path = at.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"").unwrap();
        }
    }

    #[test]
    fn an_environment_becomes_one_folder_of_links_that_goes_again() {
        let site = tempfile::tempdir().unwrap();
        environment(site.path());
        let libraries = Libraries::find(&Places::only(vec![site.path().to_owned()], Vec::new())).unwrap();
        assert!(libraries.missing().is_empty());
        let folder = libraries.folder.clone().unwrap();
        let mut names: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(
            names,
            [
                "libcublas.so",
                "libcublas.so.13",
                "libcublasLt.so.13",
                "libnccl.so",
                "libnccl.so.2",
                "libnvrtc-builtins.so.13.0",
                "libnvrtc.so",
                "libnvrtc.so.13"
            ]
        );
        assert!(
            std::fs::read_link(folder.join("libnccl.so")).unwrap().ends_with("nvidia/nccl/lib/libnccl.so.2")
        );
        assert!(libraries.search_path().unwrap().to_string_lossy().starts_with(&*folder.to_string_lossy()));
        drop(libraries);
        assert!(!folder.exists());
    }

    #[test]
    fn what_the_loader_finds_is_left_alone() {
        let site = tempfile::tempdir().unwrap();
        environment(site.path());
        let known = ["libnccl.so", "libcublas.so.12", "libnvrtc.so.13"].map(str::to_owned).to_vec();
        let libraries = Libraries::find(&Places::only(vec![site.path().to_owned()], known)).unwrap();
        assert_eq!((libraries.folder.as_ref(), libraries.search_path()), (None, None));
    }

    #[test]
    fn nothing_anywhere_is_said() {
        let libraries = Libraries::find(&Places::only(Vec::new(), Vec::new())).unwrap();
        assert_eq!(libraries.missing(), ["nvrtc", "cublas", "nccl"]);
        assert_eq!(libraries.search_path(), None);
    }
}
