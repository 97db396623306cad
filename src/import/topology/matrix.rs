//! A matrix while its rows come in.

use super::PeerMatrix;

/// What the numbers of a matrix are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Title {
    Access,
    Bandwidth { bidirectional: bool, p2p: bool, reads: bool },
    Latency { p2p: bool },
}

impl Title {
    /// `Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)` and its siblings.
    pub(super) fn of(text: &str) -> Option<Self> {
        if !text.contains("Matrix") {
            return None;
        }
        let p2p = text.contains("P2P=Enabled");
        if text.contains("Connectivity") {
            Some(Self::Access)
        } else if text.contains("Bandwidth") {
            let bidirectional = text.contains("Bidirectional");
            Some(Self::Bandwidth { bidirectional, p2p, reads: text.contains("Reads") })
        } else {
            text.contains("Latency").then_some(Self::Latency { p2p })
        }
    }
}

/// What is read now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Of `nvidia-smi topo`: paths, or whether peers are reached.
    Words {
        numa: Option<usize>,
    },
    Numbers {
        title: Title,
        host: bool,
    },
}

/// A matrix that is not complete yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Open {
    line: u64,
    what: What,
    size: usize,
    rows: Vec<Vec<String>>,
    numa: Vec<Option<u32>>,
}

impl Open {
    /// A header row: `GPU0 GPU1 ... CPU Affinity NUMA Affinity`, `D\D 0 1`, `GPU 0 1`, `CPU 0 1`.
    pub(super) fn begins(words: &[&str], title: Option<Title>, line: u64) -> Option<Self> {
        let gpus = words.iter().take_while(|word| is_gpu(word)).count();
        if gpus > 0 && words[0] == "GPU0" && !words.contains(&"X") {
            return Some(Self::new(What::Words { numa: numa_column(&words[gpus..]) }, gpus, line));
        }
        let (first, rest) = words.split_first()?;
        let counted = !rest.is_empty() && rest.iter().enumerate().all(|(at, word)| word.parse() == Ok(at));
        let host = *first == "CPU";
        let latency = matches!(title, Some(Title::Latency { .. }));
        let headed = *first == "D\\D" || (latency && (*first == "GPU" || host));
        (counted && headed).then(|| {
            Self::new(What::Numbers { title: title.unwrap_or(Title::Access), host }, rest.len(), line)
        })
    }

    fn new(what: What, size: usize, line: u64) -> Self {
        Self { line, what, size, rows: Vec::new(), numa: Vec::new() }
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Takes the next row, if this is one.
    pub(super) fn row(&mut self, words: &[&str]) -> Option<Result<(), String>> {
        let at = self.rows.len();
        let (first, rest) = words.split_first()?;
        let named = match self.what {
            What::Words { .. } => format!("GPU{at}"),
            What::Numbers { .. } => at.to_string(),
        };
        if at >= self.size || *first != named {
            return None;
        }
        if rest.len() < self.size {
            return Some(Err(format!("{} of {} figures", rest.len(), self.size)));
        }
        self.rows.push(rest[..self.size].iter().map(|&word| word.to_owned()).collect());
        let numa = match self.what {
            What::Words { numa: Some(column) } => {
                rest.get(self.size + column).and_then(|word| word.parse().ok())
            }
            _ => None,
        };
        self.numa.push(numa);
        Some(Ok(()))
    }

    /// The whole; none for one of words that mean nothing here.
    pub(super) fn finish(self) -> Result<Option<PeerMatrix>, String> {
        if self.rows.len() < self.size {
            return Err(format!("a matrix of {} GPUs with {} rows: it is cut", self.size, self.rows.len()));
        }
        match self.what {
            What::Words { .. } => words(self.rows, self.numa),
            What::Numbers { title, host } => numbers(title, host, &self.rows).map(Some),
        }
    }
}

fn is_gpu(word: &str) -> bool {
    word.strip_prefix("GPU")
        .is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

/// Place of the NUMA node behind the GPUs: network cards take a column each, `CPU Affinity` and `NUMA Affinity` one.
fn numa_column(rest: &[&str]) -> Option<usize> {
    let cards = rest.iter().take_while(|word| **word != "CPU").count();
    let after = &rest[cards..];
    (after.len() >= 4 && after[..4] == ["CPU", "Affinity", "NUMA", "Affinity"]).then_some(cards + 1)
}

/// More NVLinks than any two GPUs have between them.
const MOST_LINKS: u32 = 64;

fn words(rows: Vec<Vec<String>>, numa: Vec<Option<u32>>) -> Result<Option<PeerMatrix>, String> {
    let off =
        || rows.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().filter(move |(j, _)| i != *j));
    let path =
        |word: &str| ["PIX", "PXB", "PHB", "NODE", "SYS", "SOC"].contains(&word) || word.starts_with("NV");
    let links = |word: &str| word.strip_prefix("NV").and_then(|number| number.parse::<u32>().ok());
    let odd =
        |word: &str| word.starts_with("NV") && !links(word).is_some_and(|n| (1..=MOST_LINKS).contains(&n));
    if let Some((_, word)) = off().find(|(_, word)| odd(word)) {
        return Err(format!("`{word}` is no number of NVLinks between two GPUs"));
    }
    let access = |word: &str| ["OK", "CNS", "GNS", "TNS", "NS", "DR", "U"].contains(&word);
    if off().all(|(_, word)| path(word)) {
        return Ok(Some(PeerMatrix::Paths { words: rows, numa }));
    }
    if !off().all(|(_, word)| access(word)) {
        return Ok(None);
    }
    let can =
        rows.iter().map(|row| row.iter().map(|word| matches!(word.as_str(), "OK" | "X")).collect()).collect();
    Ok(Some(PeerMatrix::Access { can }))
}

fn numbers(title: Title, host: bool, rows: &[Vec<String>]) -> Result<PeerMatrix, String> {
    let mut figures = Vec::new();
    for row in rows {
        let mut line = Vec::new();
        for word in row {
            let figure: f64 = word.parse().map_err(|_| format!("`{word}` is no figure"))?;
            if !(0.0..1e9).contains(&figure) {
                return Err(format!("`{word}` is no figure of a link"));
            }
            line.push(figure);
        }
        figures.push(line);
    }
    Ok(match title {
        Title::Access => PeerMatrix::Access {
            can: figures.iter().map(|row| row.iter().map(|f| *f > 0.5).collect()).collect(),
        },
        Title::Bandwidth { bidirectional, p2p, reads } => {
            PeerMatrix::Bandwidth { bidirectional, p2p, reads, gb_s: figures }
        }
        Title::Latency { p2p } => PeerMatrix::Latency { p2p, host, us: figures },
    })
}
