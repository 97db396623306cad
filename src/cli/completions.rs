//! `specplan completions`: completions of a shell, or the man page, from the clap definition.

use std::io::{self, Write as _};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use super::args::{CompletionsArgs, CompletionsOf, GROUPS};
use super::exit::Failure;

/// Prints the completions of one shell, or the man page.
pub(super) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut text = Vec::new();
    let shell = match args.of {
        CompletionsOf::Bash => Shell::Bash,
        CompletionsOf::Elvish => Shell::Elvish,
        CompletionsOf::Fish => Shell::Fish,
        CompletionsOf::Powershell => Shell::PowerShell,
        CompletionsOf::Zsh => Shell::Zsh,
        CompletionsOf::Man => {
            man(&mut text)?;
            io::stdout().lock().write_all(&text)?;
            return Ok(());
        }
    };
    clap_complete::generate(shell, &mut super::command(), "specplan", &mut text);
    io::stdout().lock().write_all(&text)?;
    Ok(())
}

/// One page with every verb, since none has a page of its own.
fn man(page: &mut Vec<u8>) -> io::Result<()> {
    let mut command = super::command();
    command.build();
    let main = Man::new(command.clone());
    main.render_title(page)?;
    main.render_name_section(page)?;
    main.render_synopsis_section(page)?;
    main.render_description_section(page)?;
    for verb in GROUPS.iter().flat_map(|(_, verbs)| verbs.iter()) {
        if let Some(verb) = command.find_subcommand(verb) {
            verb_sections(verb, page)?;
        }
    }
    main.render_version_section(page)
}

/// The sections of a verb, each one level down below a heading with its name.
fn verb_sections(verb: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let man = Man::new(verb.clone());
    let mut own = Vec::new();
    man.render_description_section(&mut own)?;
    man.render_synopsis_section(&mut own)?;
    man.render_options_section(&mut own)?;
    writeln!(page, ".SH \"SPECPLAN {}\"", verb.get_name().to_uppercase())?;
    for line in String::from_utf8_lossy(&own).lines() {
        match line.strip_prefix(".SH ") {
            Some("DESCRIPTION") => {}
            Some(heading) => writeln!(page, ".SS {heading}")?,
            None => writeln!(page, "{line}")?,
        }
    }
    let Some(examples) = verb.get_after_long_help() else { return Ok(()) };
    writeln!(page, ".SS EXAMPLES\n.nf")?;
    for line in examples.to_string().lines().skip(1) {
        writeln!(page, "{}", line.trim_start().replace('\\', "\\e").replace('-', "\\-"))?;
    }
    writeln!(page, ".fi")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_man_page_holds_every_verb_with_its_options_and_examples() {
        let mut page = Vec::new();
        man(&mut page).expect("written to memory");
        let page = String::from_utf8(page).expect("UTF-8");
        assert!(page.contains(".TH specplan 1"), "{page:.300}");
        for verb in super::super::command().get_subcommands() {
            let heading = format!(".SH \"SPECPLAN {}\"\n", verb.get_name().to_uppercase());
            assert_eq!(page.matches(&heading).count(), 1, "{heading}");
        }
        for text in ["\\-\\-fail\\-below", "\\-\\-unset", ".SS EXAMPLES", "\nspecplan explain S012\n"] {
            assert!(page.contains(text), "{text}\n{page}");
        }
        assert_eq!(page.matches(".SH NAME").count(), 1);
    }
}
