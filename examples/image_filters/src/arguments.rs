//! The command line.

use lexopt::prelude::*;
use std::error::Error;
use std::path::PathBuf;

const HELP: &str = "\
Usage: image_filters [OPTIONS] [PICTURE] [DIRECTORY]

Filters PICTURE, a JPEG in colour, and writes PNGs into DIRECTORY (default: target/image_filters).

  --scale FACTOR   the size of the resized picture, from 0.01 to 8 (default: 0.5)
  --sigma PIXELS   the strength of the blur, from 0.1 to 100 (default: 3)
  --device DEVICE  cpu or cuda:0 (default: cpu)
  --frames COUNT   also write an animation of so many frames
  --help           this";

/// The options.
pub struct Arguments {
    pub picture: PathBuf,
    pub directory: PathBuf,
    pub scale: f64,
    pub sigma: f64,
    pub frames: u32,
    pub device: String,
}

impl Arguments {
    /// `None` if only help was asked for, which has been printed.
    pub fn parse() -> Result<Option<Self>, Box<dyn Error>> {
        let (mut picture, mut directory, mut device) = (None, None, "cpu".to_owned());
        let (mut scale, mut sigma, mut frames) = (0.5, 3.0, 0);
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("scale") => scale = within("scale", parser.value()?.parse()?, 0.01, 8.0)?,
                Long("sigma") => sigma = within("sigma", parser.value()?.parse()?, 0.1, 100.0)?,
                Long("device") => device = parser.value()?.string()?,
                Long("frames") => frames = parser.value()?.parse()?,
                Long("help") | Short('h') => {
                    println!("{HELP}");
                    return Ok(None);
                }
                Value(path) if picture.is_none() => picture = Some(path.into()),
                Value(path) if directory.is_none() => directory = Some(path.into()),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Some(Arguments {
            picture: picture.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../data/flower.jpg").into()),
            directory: directory
                .unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/image_filters").into()),
            scale,
            sigma,
            frames,
            device,
        }))
    }
}

fn within(name: &str, value: f64, least: f64, most: f64) -> Result<f64, String> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(format!("--{name} is from {least} to {most}, not {value}"))
    }
}
