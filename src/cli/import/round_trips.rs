//! What an import writes is read back as it was meant.

use proptest::prelude::*;

use super::group::Group;
use super::render;
use crate::cli::args::{ColorChoice, ImportArgs};
use crate::diagnostic::SourceText;
use crate::hardware::{self, Hardware};
use crate::import::serving::{Counted, DecodeInterval, Server};
use crate::import::{Kind, Observation, PeerMatrix, What};
use crate::scenario::{self, Builtin, Overrides, tree};
use crate::units::AcceptLength;

fn yaml(word: &str, seen: Vec<What>) -> String {
    let args = ImportArgs {
        gpu: Some("rtx-4090".to_owned()),
        quiet: true,
        color: ColorChoice::Never,
        ..ImportArgs::default()
    };
    let kind = Kind::of_word(word).expect("a kind");
    let mut group = Group::new(kind, &args);
    group.begin("file");
    for (what, line) in seen.into_iter().zip(1..) {
        group.take(&Observation::at(line, what));
    }
    group.end("file".to_owned(), crate::import::Summary::default());
    render::yaml(&[group]).expect("a file")
}

/// The mean accept length of a scenario that names an acceptance file.
fn mean(yaml: &str, k: usize) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("acceptance.yaml"), yaml).expect("written");
    let path = folder.path().join("scenario.yaml");
    let text = format!(
        "baseline: {{ observed: {{ throughput: 82 tok/s }} }}\nspeculation:\n  draft_tokens: {}\n  \
         acceptance: {{ file: acceptance.yaml }}\n  verify: {{ observed: {{ time: 30 ms }} }}\n",
        k + 1
    );
    std::fs::write(&path, text).expect("written");
    let (_, loaded) = scenario::open(&path, &Overrides::default(), &Builtin)
        .unwrap_or_else(|found| panic!("{found:?}\n{yaml}"));
    let common = loaded.base.common();
    common.acceptance.mean(crate::speculation::DraftShape::chain(k as u32)).get()
}

fn counted(drafts: u64, shares: &[f64]) -> DecodeInterval {
    let mut left = drafts;
    let positions: Vec<u64> = shares
        .iter()
        .map(|share| {
            left = (left as f64 * share) as u64;
            left
        })
        .collect();
    let accepted = positions.iter().sum::<u64>();
    let mut interval = DecodeInterval::new(Server::Vllm, 1);
    interval.accept_length = Some(AcceptLength::new(1.0 + accepted as f64 / drafts as f64));
    interval.drafted_tokens = Some(shares.len() as u32);
    let drafted = drafts * shares.len() as u64;
    interval.counted = Some(Counted { drafts, drafted, accepted, positions, rounded: false });
    interval
}

/// The word of two GPUs, each with its socket, host bridge, root port and switch.
fn word(a: [u32; 4], b: [u32; 4]) -> &'static str {
    let apart = a.iter().zip(&b).position(|(a, b)| a != b);
    apart.map_or("PIX", |at| ["SYS", "NODE", "PHB", "PXB"][at])
}

fn boxed(places: &[[u32; 4]], p2p: bool) -> Hardware {
    let pairs = |of: &dyn Fn(usize, usize) -> String| -> Vec<Vec<String>> {
        (0..places.len()).map(|a| (0..places.len()).map(|b| of(a, b)).collect()).collect()
    };
    let words = pairs(&|a, b| if a == b { "X" } else { word(places[a], places[b]) }.to_owned());
    let numa = places.iter().map(|place| Some(place[0])).collect();
    let can = (0..places.len()).map(|a| (0..places.len()).map(|b| a == b || p2p).collect()).collect();
    let seen = [PeerMatrix::Paths { words, numa }, PeerMatrix::Access { can }];
    let text = yaml("topology", seen.map(|matrix| What::Peers(Box::new(matrix))).to_vec());
    let tree = tree::parse(&SourceText::file("file", text.clone())).expect("YAML");
    hardware::parse("file", &tree.to_json()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

proptest! {
    #[test]
    fn an_acceptance_file_has_the_mean_of_its_counts(
        drafts in 1..2_000_000_u64,
        shares in proptest::collection::vec(0.0..=1.0_f64, 1..9),
    ) {
        let interval = counted(drafts, &shares);
        let said = interval.accept_length.expect("a length").get();
        let text = yaml("prometheus", vec![What::Decode(Box::new(interval))]);
        prop_assert!((mean(&text, shares.len()) - said).abs() < 1e-9, "{}", text);
    }

    #[test]
    fn an_acceptance_file_of_a_mean_alone_has_that_mean(k in 1..16_usize, share in 0.0..=1.0_f64) {
        let said = 1.0 + share * k as f64;
        let mut interval = DecodeInterval::new(Server::Sglang, 1);
        interval.accept_length = Some(AcceptLength::new(said));
        interval.drafted_tokens = Some(k as u32);
        interval.running = Some(1);
        interval.passes = Some(40);
        let text = yaml("sglang-log", vec![What::Decode(Box::new(interval))]);
        prop_assert!((mean(&text, k) - said).abs() < 1e-4, "{}", text);
    }

    #[test]
    fn a_box_file_has_the_gpus_and_paths_of_its_matrix(
        mut places in proptest::collection::vec([0..2_u32, 0..2_u32, 0..2_u32, 0..2_u32], 2..9),
        p2p in any::<bool>(),
    ) {
        // In the order of the box file, so that its ranks are these GPUs.
        places.sort_unstable();
        let hardware = boxed(&places, p2p);
        prop_assert_eq!((hardware.count as usize, hardware.p2p), (places.len(), p2p));
        for a in 0..places.len() {
            for b in (0..places.len()).filter(|b| a != *b) {
                let path = hardware.topology.path(a as u32, b as u32).expect("a path").word();
                let said = word(places[a], places[b]);
                prop_assert_eq!(path, said, "{} {} {:?}", a, b, &places);
            }
        }
    }
}
