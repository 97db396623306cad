use proptest::prelude::*;

use super::*;
use crate::calibration::{Family, Mode};
use crate::collective::Transport;
use crate::model::WeightFormat;
use crate::runtime::{CollectiveOp, RuntimeKind};
use crate::units::Bytes;

const HEAD: &str = "format: specplan-calibration/1\n\
    box: { gpu: rtx-pro-6000, count: 8 }\n\
    provenance: { source: a test, licence: none }\n";

fn none(_: &str) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::NotFound.into())
}

fn message(yaml: &str) -> String {
    parse("mine.yaml", yaml, &none).unwrap_err().to_string()
}

#[test]
fn a_block_and_a_file_are_read() {
    let yaml = format!(
        "{HEAD}tables:\n  collectives: |\n    op,ranks,family,mode,transport,bytes,median_us\n    \
         all-reduce,8,nccl,stream,p2p,1024,24.2\ntable_files: {{ gemm: g.csv }}\n"
    );
    let gemm = |_: &str| Ok(b"server,weights,n,k,rows,median_us\nvllm,bf16,64,64,1,2\n".to_vec());
    let calibration = parse("mine.yaml", &yaml, &gemm).unwrap();
    assert_eq!(calibration.tables.names().collect::<Vec<_>>(), ["collectives", "gemm"]);
    let (op, transport) = (CollectiveOp::AllReduce, Transport::P2p);
    let found = calibration.collective(op, 8, Family::Nccl, Mode::Graph, transport, Bytes::new(1024.0));
    assert!((found.unwrap().time.us() - 24.2).abs() < 1e-9);
    let eager = calibration.collective(op, 8, Family::Nccl, Mode::Eager, transport, Bytes::new(1024.0));
    assert_eq!(eager, None);
}

/// Own rows come first, those of the base where this file has none for a kernel; collectives are not lent.
#[test]
fn a_base_lends_its_kernels_and_nothing_else() {
    let head = "format: specplan-calibration/1\nbox: { gpu: h200, count: 2 }\n\
        provenance: { source: a test, licence: none }\nbase: h200-x2-shm\n";
    let yaml = format!(
        "{head}tables:\n  gemm: |\n    server,weights,n,k,rows,median_us\n    cuda,bf16,64,64,1,2.25\n"
    );
    let mine = parse("mine.yaml", &yaml, &none).unwrap();
    let lender = presets::preset("h200-x2-shm").unwrap();
    assert_eq!(mine.base.as_deref(), Some("h200-x2-shm"));
    assert_eq!(mine.tables.names().collect::<Vec<_>>(), ["gemm"]);
    let (vllm, bf16) = (RuntimeKind::Vllm, WeightFormat::Bf16);
    let own = mine.gemm(vllm, bf16, 1, 64, 64).unwrap();
    assert_eq!((own.time.us(), own.server), (2.25, Some(RuntimeKind::Cuda)));
    let lent = mine.moe(vllm, bf16, 4, 2048, 768, 8, 128, 1).unwrap();
    assert_eq!(lent, lender.moe(vllm, bf16, 4, 2048, 768, 8, 128, 1).unwrap());
    assert!(lender.collective_curves().len() > 1 && mine.collective_curves().is_empty());
}

#[test]
fn a_base_must_be_known_and_of_the_same_gpu() {
    let head = |base: &str| format!("{HEAD}base: {base}\ntables: {{ launch: 'server,what,median_us' }}\n");
    assert_eq!(
        message(&head("h20-x1")),
        "line 4, column 7: `base` cannot be `h20-x1`; did you mean `h200-x1`?"
    );
    assert_eq!(
        message(&head("h200-x1")),
        "line 4, column 7: `base` is `h200-x1`, measured on `h200`, and the box has `rtx-pro-6000`: kernels of another \
         GPU lend no times"
    );
    assert_eq!(message(&head("rtx-pro-6000-x1")), "table `launch`, line 1: it has a header and no rows");
    for gpu in ["h200", "l40s", "rtx-pro-6000"] {
        let base = presets::base_for(gpu).unwrap();
        assert_eq!(presets::preset(base).unwrap().facts.unwrap().gpu, gpu);
    }
    assert_eq!(presets::base_for("rtx-4090"), None);
}

#[test]
fn a_table_that_ships_can_be_named() {
    let yaml = format!("{HEAD}table_files: {{ gemm: kernels/rtx-pro-6000/gemm.csv.gz }}\n");
    assert!(parse("mine.yaml", &yaml, &none).is_ok());
}

#[test]
fn what_is_wrong_is_said() {
    assert_eq!(
        message("format: specplan-calibration/2\nanything: else\n"),
        "the format is `specplan-calibration/2`, this version reads `specplan-calibration/1`"
    );
    assert_eq!(
        message(&format!("{HEAD}tables: {{ gemm: 'server,weights' }}\n")),
        "table `gemm`, line 1: the column `n` is missing; the header is `server,weights`"
    );
    assert!(
        message(&format!("{HEAD}table_files: {{ gemm: g.csv }}\n"))
            .starts_with("line 4, column 22: cannot read `g.csv`: ")
    );
    assert_eq!(
        message(&format!("{HEAD}tables: {{ moe: a }}\ntable_files: {{ moe: b }}\n")),
        "line 5, column 21: table `moe` stands both in `tables` and in `table_files`"
    );
    let fit = "{ of: { op: all-reduce, ranks: 8, family: one-shot, transport: p2p }, form: alpha-beta, \
         params: { alpha_us: 6.9, beta_us_per_kib: [] }, range: { from_bytes: 512, to_bytes: 4096 } }";
    assert_eq!(
        message(&format!("{HEAD}fits: [ {fit} ]\n")),
        "line 4, column 9: fit 1: 0 slopes are given, 1 needed"
    );
}

/// No message may show what the reader is made of, or the source with a caret.
fn plain(yaml: &str) -> String {
    let text = message(yaml);
    for inside in
        ["serde", "Option", "deserialize", "struct", "u32", "f64", "-->", "invalid type", "variant", "\n"]
    {
        assert!(!text.contains(inside), "{text}");
    }
    text
}

#[test]
fn keys_and_values_are_checked_with_their_place() {
    let boxed = |facts: &str| {
        format!(
            "format: {FORMAT}\nbox: {facts}\nprovenance: {{ source: a test, licence: none }}\ntables: {{}}\n"
        )
    };
    for (yaml, text) in [
        (String::new(), "the file is empty"),
        ("# nothing\n\n".to_owned(), "the file is empty"),
        ("\0\0\0".to_owned(), "the file holds NUL bytes: it is no text"),
        (HEAD.to_owned(), "the calibration holds neither a table nor a fit"),
        (boxed("{ gpu: l40s, count: 2 }"), "the calibration holds neither a table nor a fit"),
        (
            "a: 1\n".to_owned(),
            "line 1, column 1: the key `format` is missing; it takes `specplan-calibration/1`",
        ),
        (
            "format: null\n".to_owned(),
            "line 1, column 9: `format` takes `specplan-calibration/1`, not nothing",
        ),
        (
            "[]".to_owned(),
            "line 1, column 1: a calibration takes the keys format, box, provenance, base, notes, tables, table_files, fits, kernel_fits, jitter, not a list",
        ),
        (format!("{HEAD}tabels: {{}}\n"), "line 4, column 1: unknown key `tabels`; did you mean `tables`?"),
        (format!("{HEAD}box: {{}}\n"), "line 4, column 1: the key `box` stands twice, first in line 2"),
        (boxed("null"), "line 1, column 1: the key `box` is missing; it takes the box that was measured"),
        (
            boxed("{ count: 2 }"),
            "line 2, column 6: the key `gpu` is missing in `box`; it takes the name of a GPU preset",
        ),
        (
            boxed("{ gpu: '', count: 2 }"),
            "line 2, column 13: `gpu` is empty; it takes the name of a GPU preset",
        ),
        (
            boxed("{ gpu: l40s, count: 0 }"),
            "line 2, column 26: `count` takes a whole number from 1 to 1024, not `0`",
        ),
        (
            boxed("{ gpu: l40s, count: 1025 }"),
            "line 2, column 26: `count` takes a whole number from 1 to 1024, not `1025`",
        ),
        (
            boxed("{ gpu: l40s, count: two }"),
            "line 2, column 26: `count` takes a whole number from 1 to 1024, not the text `two`",
        ),
        (boxed("{ gpu: l40s, count: 1, nccl: [2] }"), "line 2, column 35: `nccl` takes a text, not a list"),
        (
            boxed("{ gpu: l40s, count: 1, environment: { PATH: x } }"),
            "line 2, column 44: `environment` holds NCCL_* variables only, not `PATH`",
        ),
        (
            boxed("{ gpu: l40s, count: 1, environment: { NCCL_: x } }"),
            "line 2, column 44: `environment` holds NCCL_* variables only, not `NCCL_`",
        ),
        (
            boxed("{ gpu: l40s, count: 1, environment: [NCCL_ALGO] }"),
            "line 2, column 42: `environment` takes NCCL_* variables with their values, not a list",
        ),
        (format!("{HEAD}tables: {{ gemm: null }}\n"), "the calibration holds neither a table nor a fit"),
        (
            format!("{HEAD}tables: {{ gemm: [1] }}\n"),
            "line 4, column 17: `gemm` takes comma-separated text after a `|`, not a list",
        ),
        (
            format!("{HEAD}tables: {{ gem: x }}\n"),
            "line 4, column 11: unknown key `gem` in `tables`; did you mean `gemm`?",
        ),
        (
            format!("{HEAD}tables: 3\n"),
            "line 4, column 9: `tables` takes the keys collectives, gemm, attention, mla, moe, launch, links, stream, not `3`",
        ),
        (
            format!("{HEAD}table_files: {{ gemm: ../g.csv }}\n"),
            "line 4, column 22: the file name `../g.csv` leaves the folder of the calibration",
        ),
        (
            format!("{HEAD}table_files: {{ gemm: /etc/passwd }}\n"),
            "line 4, column 22: the file name `/etc/passwd` is an absolute path; name a file relative to the calibration",
        ),
        (format!("{HEAD}notes: [[]]\n"), "line 4, column 9: `notes` takes a list of texts, not a list"),
    ] {
        assert_eq!(plain(&yaml), text, "{yaml}");
    }
    for broken in [
        "a: [1\n",
        "a: 1\n b: 2\n",
        "a: \"x\n",
        "a: *b\n",
        "{{a: 1}: 2}\n",
        "---\na: 1\n---\nb: 2\n",
        "\t- a\n",
        "a: &x !!binary Ä",
    ] {
        let text = plain(broken);
        assert!(text.starts_with("line "), "{text}");
    }
    assert!(plain(&format!("a: {}", "[".repeat(100))).contains("16 levels"));
    let bomb = "format: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d]\n";
    assert!(plain(bomb).contains("aliases counted"), "{}", plain(bomb));
}

/// The message about rows under a header of all columns, in a block that starts in line 6 of the file.
fn of_rows(rows: &str) -> String {
    let header = "op,ranks,family,mode,transport,bytes,median_us,p10_us,p90_us,samples";
    plain(&format!("{HEAD}tables:\n  collectives: |\n    {header}\n{rows}"))
}

#[test]
fn rows_that_nobody_measured_are_refused() {
    let row = "table `collectives`, line 2 (line 7 of the file), column";
    for (cells, text) in [
        ("1,nccl,stream,p2p,1024,24,,,", format!("{row} `ranks`: `1` is not a whole number from 2 to 1024")),
        (
            "4000000000,nccl,stream,p2p,1024,24,,,",
            format!("{row} `ranks`: `4000000000` is not a whole number from 2 to 1024"),
        ),
        (
            "8,nccl,stream,p2p,0,24,,,",
            format!("{row} `bytes`: `0` is not a whole number from 1 to 4294967295"),
        ),
        (
            "8,nccl,stream,p2p,1024,,,,",
            format!("{row} `median_us`: it is empty, but must be a time from 0.001 to 1e9 µs"),
        ),
        (
            "8,nccl,stream,p2p,1024,1e-4,,,",
            format!("{row} `median_us`: `1e-4` is not a time from 0.001 to 1e9 µs"),
        ),
        (
            "8,nccl,stream,p2p,1024,1.1e9,,,",
            format!("{row} `median_us`: `1.1e9` is not a time from 0.001 to 1e9 µs"),
        ),
        (
            "8,nccl,stream,p2p,1024,inf,,,",
            format!("{row} `median_us`: `inf` is not a time from 0.001 to 1e9 µs"),
        ),
        ("8,nccl,stream,p2p,1024,24,25,,", format!("{row} `p10_us`: `25` is not at most the median, `24`")),
        (
            "8,nccl,stream,p2p,1024,24,-1,,",
            format!("{row} `p10_us`: `-1` is not a time from 0.001 to 1e9 µs"),
        ),
        ("8,nccl,stream,p2p,1024,24,,23,", format!("{row} `p90_us`: `23` is not at least the median, `24`")),
        (
            "8,nccl,stream,p2p,1024,24,,NaN,",
            format!("{row} `p90_us`: `NaN` is not a time from 0.001 to 1e9 µs"),
        ),
        (
            "8,nccl,stream,p2p,1024,24,,,0",
            format!("{row} `samples`: `0` is not a whole number from 1 to 4294967295"),
        ),
        (
            "8,nccl,stream,p2p,1024,24,,,1.5",
            format!("{row} `samples`: `1.5` is not a whole number from 1 to 4294967295"),
        ),
        ("8,nccl,stream,pcie,1024,24,,,", format!("{row} `transport`: `pcie` is not nvlink, p2p or shm")),
    ] {
        assert_eq!(of_rows(&format!("    all-reduce,{cells}\n")), text);
    }
    let good = "    all-reduce,8,nccl,stream,p2p,1024,24,23,25,5\n";
    assert_eq!(
        of_rows(&format!("{good}\n    # again\n{good}")),
        "table `collectives`, line 5 (line 10 of the file): the same point as in an earlier line"
    );
    assert_eq!(of_rows(""), "table `collectives`, line 1 (line 6 of the file): it has a header and no rows");
    let header = "op,ranks,family,mode,transport,bytes,median_us,ranks";
    assert_eq!(
        plain(&format!("{HEAD}tables:\n  collectives: |\n    {header}\n")),
        "table `collectives`, line 1 (line 6 of the file): the header names the column `ranks` twice"
    );
    let folded = format!("{HEAD}tables:\n  collectives: \"op,ranks\"\n");
    assert!(plain(&folded).starts_with("table `collectives`, line 1: the column `family` is missing"));
    let module = "what,server,weights,kv,heads,batch,context,median_us\n    module,vllm,,bf16,8,1,1,20";
    assert!(
        plain(&format!("{HEAD}tables:\n  mla: |\n    {module}\n"))
            .contains("column `weights`: it is empty, but must be the storage")
    );
}

#[test]
fn rows_may_stand_in_any_order_and_columns_too() {
    let yaml = |rows: &[&str]| {
        let rows = rows.join("\n    ");
        format!(
            "{HEAD}tables:\n  collectives: |\n    bytes,op,ranks,family,mode,transport,median_us\n    {rows}\n"
        )
    };
    let rows = [
        "1024,all-reduce,8,nccl,stream,p2p,24",
        "4096,all-reduce,8,nccl,stream,p2p,30",
        "2048,all-reduce,8,nccl,stream,p2p,26",
    ];
    let sorted = parse("a", &yaml(&[rows[0], rows[2], rows[1]]), &none).unwrap();
    for order in [[2, 1, 0], [1, 0, 2], [0, 1, 2]] {
        let shuffled = parse("a", &yaml(&order.map(|at| rows[at])), &none).unwrap();
        assert_eq!(shuffled.collective_curves(), sorted.collective_curves());
    }
}

#[test]
fn fits_that_mean_nothing_are_refused() {
    const FIT: &str = "of: { op: all-reduce, ranks: 8, family: nccl, transport: p2p }, form: alpha-beta, \
        params: { alpha_us: 7, beta_us_per_kib: [0.2] }, range: { from_bytes: 0, to_bytes: 4096 }";
    let fit = |from: &str, to: &str| {
        assert!(FIT.contains(from));
        format!("{HEAD}fits:\n  - {{ {} }}\n", FIT.replace(from, to))
    };
    assert!(parse("a", &fit("p2p", "p2p"), &none).is_ok());
    for (from, to, text) in [
        ("alpha_us: 7", "alpha_us: 1e300", "`alpha_us` takes a number from 1e-3 to 1e9, not `1e300`"),
        ("alpha_us: 7", "alpha_us: -7", "`alpha_us` takes a number from 1e-3 to 1e9, not `-7`"),
        ("alpha_us: 7", "alpha_us: .nan", "`alpha_us` takes a number from 1e-3 to 1e9, not the text `.nan`"),
        ("[0.2]", "[-0.2]", "`beta_us_per_kib` takes a number from 0 to 1e9, not `-0.2`"),
        ("[0.2]", "0.2", "`beta_us_per_kib` takes a list of numbers, not `0.2`"),
        ("[0.2]", "[1e9]", "fit 1: it predicts more than a quarter of an hour for one call"),
        ("from_bytes: 0", "from_bytes: -1", "`from_bytes` takes a number from 0 to 1e15, not `-1`"),
        (
            "from_bytes: 0",
            "from_bytes: 8192",
            "fit 1: the range is empty: `from_bytes` must be less than `to_bytes`",
        ),
        ("to_bytes: 4096", "to_bytes: 1e300", "`to_bytes` takes a number from 1 to 1e15, not `1e300`"),
        ("ranks: 8", "ranks: 1", "`ranks` takes a whole number from 2 to 1024, not `1`"),
        ("form:", "cv_error: -0.1, form:", "`cv_error` takes a number from 0 to 10, not `-0.1`"),
        ("form:", "cv_error: .nan, form:", "`cv_error` takes a number from 0 to 10, not the text `.nan`"),
        ("form:", "cv_error: 1e9, form:", "`cv_error` takes a number from 0 to 10, not `1e9`"),
        ("form:", "source: measured, form:", "a fit is `fitted` or `assumed`; what was measured is a table"),
        (
            "form:",
            "source: guessed, form:",
            "`source` cannot be `guessed`; it takes measured, fitted or assumed",
        ),
        ("nccl", "nccI", "`family` cannot be `nccI`; did you mean `nccl`?"),
        ("form:", "fomr: 1, form:", "unknown key `fomr` in `fits`; did you mean `form`?"),
        ("form: alpha-beta,", "", "the key `form` is missing in `fits`; it takes alpha-beta or piecewise"),
    ] {
        let found = plain(&fit(from, to));
        assert!(found.starts_with("line 5, column ") && found.ends_with(text), "{found}\n{text}");
    }
    let two = format!("{HEAD}fits:\n  - {{ {FIT} }}\n  - {{ {FIT} }}\n");
    assert_eq!(
        plain(&two),
        "line 6, column 5: fit 2: it covers sizes that fit 1 of the same collective covers"
    );
}

#[test]
fn side_files_that_hold_no_text_are_called_what_they_are() {
    let yaml = format!("{HEAD}table_files: {{ gemm: g.csv }}\n");
    let of = |bytes: Vec<u8>| {
        let file = move |_: &str| Ok(bytes.clone());
        parse("a", &yaml, &file).unwrap_err().to_string()
    };
    let damaged = "table `gemm`: it cannot be read: ";
    assert_eq!(of(vec![0; 5000]), format!("{damaged}it holds NUL bytes, so it is no comma-separated text"));
    assert_eq!(of(vec![0xff, 0xfe, b'a', 0]), format!("{damaged}it is UTF-16, and should be UTF-8"));
    assert_eq!(of(vec![0xc3, 0x28]), format!("{damaged}it is not UTF-8 text"));
    assert_eq!(of(vec![0x1f, 0x8b]), format!("{damaged}the gzip file ends too early"));
    assert_eq!(of(Vec::new()), "table `gemm`: it is empty; it needs a header and at least one row");
    let zipped = |bytes: &[u8]| {
        use std::io::Write;
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(bytes).unwrap();
        gz.finish().unwrap()
    };
    assert_eq!(
        of(zipped(&[0; 100])),
        format!("{damaged}it holds NUL bytes, so it is no comma-separated text")
    );
    let (head, row) = ("server,weights,n,k,rows,median_us\n", "vllm,bf16,64,64,1,2\n");
    // Two members are one file; what follows them is not.
    let mut members = [zipped(head.as_bytes()), zipped(row.as_bytes())].concat();
    let twice = members.clone();
    assert!(parse("a", &yaml, &move |_: &str| Ok(twice.clone())).is_ok());
    members.extend(b"what follows the last member");
    assert!(of(members).starts_with(&format!("{damaged}the gzip file is damaged")));
    let marked = format!("\u{feff}{head}{row}").into_bytes();
    assert!(parse("a", &yaml, &move |_: &str| Ok(marked.clone())).is_ok());
}

#[test]
fn an_unknown_card_is_noted_and_versions_are_kept_as_written() {
    let table = "tables: { collectives: \"op,ranks,family,mode,transport,bytes,median_us\\nall-reduce,8,nccl,stream,p2p,1,2\" }\n";
    let yaml = |gpu: &str| {
        format!(
            "\u{feff}format: {FORMAT}\nbox: {{ gpu: {gpu}, count: 8, nccl: 2.30, environment: {{ NCCL_P2P_LEVEL: SYS, NCCL_DEBUG: 0 }} }}\n\
             provenance: {{ source: a test, licence: none }}\n{table}"
        )
    };
    let known = parse("a", &yaml("h200"), &none).unwrap();
    assert!(known.notes.is_empty());
    let facts = known.facts.unwrap();
    assert_eq!((facts.nccl.as_str(), facts.environment["NCCL_DEBUG"].as_str()), ("2.30", "0"));
    let unknown = parse("a", &yaml("zzz"), &none).unwrap();
    assert!(unknown.notes[0].starts_with("The GPU `zzz` of the calibration is no GPU preset: "));
    let near = parse("a", &yaml("rtx-409O"), &none).unwrap();
    assert!(near.notes[0].contains("did you mean `rtx-4090`?"), "{}", near.notes[0]);
}

proptest! {
    /// Whatever is changed, cut out or put in: the file is read, or refused in words that stand for themselves.
    #[test]
    fn any_edit_is_read_or_refused_in_words(
        at in any::<prop::sample::Index>(), cut in 0usize..6,
        put in prop::sample::select(vec!["", "-", "1e300", "null", "[", "{", "}", "|", "&a", "*a", ",", "\n", "\t", "é", ".nan", "'", "\u{0}"]),
    ) {
        const FILE: &str = "format: specplan-calibration/1\nbox: { gpu: l40s, count: 8 }\n\
            provenance:\n  source: a test\n  licence: none\nnotes: [a]\n\
            tables:\n  collectives: |\n    op,ranks,family,mode,transport,bytes,median_us,p10_us\n    \
            all-reduce,8,nccl,stream,p2p,1024,24.2,23\n    all-reduce,8,nccl,stream,p2p,2048,25.2,\n\
            fits:\n  - of: { op: all-reduce, ranks: 4, family: nccl, transport: p2p }\n    form: piecewise\n    \
            params: { alpha_us: 24, beta_us_per_kib: [0.1, 0.2], knots_kib: [62.5] }\n    \
            range: { from_bytes: 512, to_bytes: 4096 }\n    cv_error: 0.1\n";
        prop_assert!(parse("a", FILE, &none).is_ok());
        let at = at.index(FILE.len());
        let end = (at + cut).min(FILE.len());
        let edited = format!("{}{put}{}", &FILE[..at], &FILE[end..]);
        match parse("a", &edited, &none) {
            Err(error) => {
                let text = error.to_string();
                for inside in ["serde", "Option", "deserialize", "struct", "-->", "\n"] {
                    prop_assert!(!text.contains(inside), "{}", text);
                }
            }
            Ok(calibration) => {
                for curve in calibration.collective_curves() {
                    prop_assert!(curve.knots().iter().all(|knot| knot.time.is_finite() && knot.time.get() > 0.0));
                }
                for fit in &calibration.fits {
                    let times = [fit.time(fit.range.from_bytes), fit.time(fit.range.to_bytes)];
                    prop_assert!(times.iter().all(|time| time.is_finite() && time.get() > 0.0));
                }
            }
        }
    }
}
