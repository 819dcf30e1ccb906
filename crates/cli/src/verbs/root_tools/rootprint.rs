//! `rootprint`: draws the histograms of files, with the flags of ROOT's tool. Other objects are said to be left out.

use std::ffi::OsString;
use std::path::PathBuf;

use flow::inputs::{Input, inputs};
use lab::look::draw::{Format, histograms};
use lab::look::listing::{ListOptions, list};
use rootfile::{Error, NewFolder, Result};

use super::tool::{root_tool, say};
use crate::output::{self, Answer};

/// Draw the histograms of files as pictures, with the flags of ROOT's rootprint. See also `draw`.
#[derive(clap::Args)]
pub struct Args {
    /// FILE, FILE:PATH, or a pattern.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<OsString>,
    /// The folder of the pictures, which is made if it is not there.
    #[arg(short, long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
    /// The format of the pictures: pdf, which is the default, png or svg.
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<String>,
    /// Not possible: pictures are one for each object.
    #[arg(short, long, value_name = "OUTPUT")]
    output: Option<PathBuf>,
    /// Not possible: the picture holds one object.
    #[arg(long, value_name = "X,Y")]
    divide: Option<String>,
    /// Without effect.
    #[arg(short = 'D', long, value_name = "OPTION")]
    draw: Option<String>,
    /// Without effect: pictures have one size.
    #[arg(short, long, value_name = "WIDTHxHEIGHT")]
    size: Option<String>,
    /// Not possible: a style is a macro for ROOT.
    #[arg(short = 'S', long, value_name = "STYLE")]
    style: Option<PathBuf>,
    /// Say which pictures are made.
    #[arg(short, long)]
    verbose: bool,
    /// Directories with all below them.
    #[arg(short, long)]
    recursive: bool,
}

impl Args {
    fn do_it(&self) -> Result<Answer> {
        self.refuse_what_cannot_be()?;
        let format = self.format()?;
        let made = self.directory.as_deref().map(NewFolder::make).transpose()?;
        let options = ListOptions { recursive: self.recursive, ..ListOptions::default() };
        let (mut drawn, mut left_out) = (0, 0);
        for file in list(&inputs(&self.inputs)?, &options)?.files {
            for object in file.objects.into_iter().filter(|object| !object.directory) {
                let input = Input { path: file.path.clone().into(), tree: Some(object.path.clone()) };
                match histograms(&[input]) {
                    Ok(drawing) => {
                        let name = format!("{}.{}", object.path.replace('/', "_"), format.name());
                        let path =
                            self.directory.as_ref().map_or_else(|| name.clone().into(), |folder| folder.join(&name));
                        output::bytes_file(&path, &format.picture(&drawing, false)?, true)?;
                        if self.verbose {
                            say("Info", "rootprint", &format!("{} has been created", path.display()));
                        }
                        drawn += 1;
                    }
                    Err(why) => {
                        let what = format!("{} of class {} is not drawn: {why}", object.path, object.class);
                        say("Warning", "rootprint", &what);
                        left_out += 1;
                    }
                }
            }
        }
        made.into_iter().for_each(NewFolder::keep);
        Ok(if drawn > 0 || left_out == 0 { Answer::Yes } else { Answer::No })
    }

    fn format(&self) -> Result<Format> {
        let Some(name) = &self.format else { return Ok(Format::Pdf) };
        Format::named(name).ok_or_else(|| {
            Error::request(format!("pictures are pdf, png or svg, not {name}: give one of them as -f, or leave -f out"))
        })
    }

    /// Refuses what only ROOT's canvas does.
    fn refuse_what_cannot_be(&self) -> Result<()> {
        let given = [
            ("-o", self.output.is_some(), "each object has a picture of its own"),
            ("--divide", self.divide.is_some(), "each object has a picture of its own"),
            ("-S", self.style.is_some(), "a style is a macro, which only ROOT runs"),
        ];
        match given.iter().find(|(_, given, _)| *given) {
            Some((option, _, why)) => Err(Error::request(format!("{option} is not possible here: {why}"))),
            None => Ok(()),
        }
    }
}

root_tool!(Args, "rootprint");
