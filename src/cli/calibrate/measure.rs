//! A run: results to the journal one by one, to the file after each part, and how it ended.

use std::path::PathBuf;
use std::time::Duration;

use super::files::{self, Files};
use super::torch;
use super::watch::Watch;
use crate::calibration::Draft;
use crate::calibration::measure::assemble::{Sources, assemble};
use crate::calibration::measure::child::Launcher;
use crate::calibration::measure::drive::{self, Driver, Ending};
use crate::calibration::measure::journal::{self, Header, JOURNAL, Journal, Kept, Record};
use crate::calibration::measure::plan::{Plan, Wish};
use crate::calibration::measure::rows::TableRow;
use crate::calibration::measure::{Inspection, facts, privacy};
use crate::cli::args::CalibrateArgs;
use crate::cli::exit::Failure;
use crate::cli::output::say;

/// A run that is about to start.
pub(super) struct Run<'a> {
    pub(super) args: &'a CalibrateArgs,
    pub(super) launcher: &'a Launcher,
    pub(super) found: &'a Inspection,
    pub(super) plan: &'a Plan,
    pub(super) wish: &'a Wish,
    pub(super) files: &'a Files,
    pub(super) command: String,
    pub(super) python: Option<PathBuf>,
}

impl Run<'_> {
    /// Measures, writes, and says how it ended.
    pub(super) fn measure(&self, watch: &Watch) -> Result<(), Failure> {
        let header = Header {
            journal: JOURNAL.to_owned(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            found: self.found.clone(),
            environment: self.environment(),
        };
        let mut kept = self.earlier(&header)?;
        let cannot =
            |error| Failure::Input(format!("cannot write {}: {error}", self.files.journal.display()));
        let mut journal = Journal::create(&self.files.journal, &header, &kept).map_err(cannot)?;
        let others = kept.others.clone();
        let mut tell = |event: drive::Event| {
            if let drive::Event::GroupDone { records } = event {
                // A file that cannot be written now is tried again at the end; the journal has everything.
                let _ = self.write(records, &others, &[], true);
            } else {
                watch.tell(&event);
            }
        };
        let stop = || watch.stopped();
        let mut driver = Driver {
            launcher: self.launcher,
            found: self.found,
            stop: &stop,
            watch: &mut tell,
            journal: &mut journal,
            limit: self.args.limit_ms.map(Duration::from_millis),
        };
        let mut ending = drive::run(&mut driver, self.plan, &mut kept.records);
        let mut notes = Vec::new();
        if let (Ending::Complete, Some(python), true) = (&ending, &self.python, kept.others.is_empty()) {
            watch.part("pytorch");
            match self.probe(python, &stop)? {
                None => ending = Ending::Stopped,
                Some(probed) => {
                    notes.extend(torch::note(&probed));
                    kept.others = probed.rows;
                    journal.append_others(&kept.others).map_err(cannot)?;
                }
            }
        }
        watch.finish();
        self.end(&ending, &kept, &notes)
    }

    fn end(&self, ending: &Ending, kept: &Kept, notes: &[String]) -> Result<(), Failure> {
        let whole = matches!(ending, Ending::Complete);
        let records = &kept.records;
        let written = self.write(records, &kept.others, notes, !whole)?;
        if whole && records.iter().all(Record::settled) {
            let _ = std::fs::remove_file(&self.files.journal);
        }
        if let Some(draft) = &written {
            self.files.summary(self.args, draft, records, self.found)?;
        }
        let resume = format!("the same command with --resume continues ({})", self.files.journal.display());
        match ending {
            Ending::Complete if written.is_none() => {
                Err(Failure::Input(format!("no measurement succeeded: {}", first_failure(records))))
            }
            Ending::Complete => {
                let failed = records.iter().filter(|record| !record.settled()).count();
                if failed > 0 && !self.args.quiet {
                    let were = if failed == 1 { "measurement" } else { "measurements" };
                    say(&format!("note: {failed} {were} failed; {resume}"));
                }
                Ok(())
            }
            Ending::Stopped => {
                say(&format!("interrupted; what was measured is kept: {resume}"));
                Err(Failure::Interrupted)
            }
            Ending::Lost(failure) => {
                say(&format!(
                    "error: a GPU was lost: {}; what was measured is kept: {resume}",
                    failure.because
                ));
                Err(Failure::Reported)
            }
            Ending::Journal(error) => {
                Err(Failure::Input(format!("cannot write {}: {error}", self.files.journal.display())))
            }
        }
    }

    /// Writes the calibration of what was measured so far; none where nothing was.
    fn write(
        &self,
        records: &[Record],
        others: &[TableRow],
        notes: &[String],
        partial: bool,
    ) -> Result<Option<Draft>, Failure> {
        let sources = Sources {
            found: self.found,
            environment: &self.environment(),
            others,
            left_out: &self.plan.left_out,
            notes,
            command: &self.command,
            date: &files::today(),
            tool: env!("CARGO_PKG_VERSION"),
            hidden: &files::hidden(),
            partial,
        };
        let Some(draft) = assemble(records, &sources) else { return Ok(None) };
        self.files.replace(&draft.to_yaml())?;
        Ok(Some(draft))
    }

    fn environment(&self) -> Vec<(String, String)> {
        let shown = |(name, value): &(String, String)| (name.clone(), privacy::value(name, value));
        self.wish.environment.iter().map(shown).collect()
    }

    /// What an earlier run measured.
    fn earlier(&self, header: &Header) -> Result<Kept, Failure> {
        let path = &self.files.journal;
        if !path.exists() {
            if self.args.resume && !self.args.quiet {
                say("note: there is nothing to resume; everything is measured");
            }
            return Ok(Kept::default());
        }
        if self.args.fresh {
            return Ok(Kept::default());
        }
        if !self.args.resume {
            return Err(Failure::Input(format!(
                "{} is the journal of a run that ended early: --resume continues it, --fresh begins anew",
                path.display()
            )));
        }
        let faulty = |error| {
            Failure::Input(format!("cannot resume from {}: {error}; --fresh begins anew", path.display()))
        };
        let (earlier, kept) = journal::read(path).map_err(faulty)?;
        match other_box(&earlier, header) {
            None => Ok(kept),
            Some(what) => Err(Failure::Input(format!(
                "cannot resume from {}: it was begun with {what}; --fresh begins anew",
                path.display()
            ))),
        }
    }
}

/// What makes two boxes different ones.
fn other_box(earlier: &Header, now: &Header) -> Option<String> {
    let names = |header: &Header| header.found.gpus.iter().map(|gpu| gpu.name.clone()).collect::<Vec<_>>();
    if names(earlier) != names(now) {
        let count = earlier.found.gpus.len();
        let name = names(earlier).into_iter().next().unwrap_or_default();
        return Some(format!("{count}x {}", facts::preset_of(&name)));
    }
    for (what, a, b) in
        [("driver", &earlier.found.driver, &now.found.driver), ("specplan", &earlier.tool, &now.tool)]
    {
        if a != b {
            return Some(format!("{what} {a}"));
        }
    }
    if earlier.found.nccl != now.found.nccl {
        return Some(format!("NCCL {}", earlier.found.nccl.as_deref().unwrap_or("none")));
    }
    if earlier.found.synthetic != now.found.synthetic {
        return Some("another meter".to_owned());
    }
    (earlier.environment != now.environment).then(|| "other NCCL_* variables".to_owned())
}

fn first_failure(records: &[Record]) -> String {
    records.iter().find_map(|r| r.result.as_ref().err()).map_or_else(String::new, |f| f.because.clone())
}
