//! Learns a text letter by letter, and writes more of it: a transformer in the style of GPT-2, with every shape in its type.
//!
//! `cargo run --release -p gpt` learns castiron's own documentation in a few minutes; `-- --resume` goes on where it was interrupted, and
//! `-- --write "The "` only writes, with what was learned.
//!
//! | option | means |
//! |---|---|
//! | `--tiny` | a network that learns in seconds, and little |
//! | `--steps N` | how long it learns |
//! | `--resume` | goes on with the file that was saved, bit for bit as if it had not been interrupted |
//! | `--folder FOLDER` | where the checkpoint and the loss curve are written, `target/gpt` if not given |
//! | `--write TEXT` | goes on with a text |
//! | `--temperature T`, `--top-k K` | how letters are drawn |

#[path = "../../chart/mod.rs"]
mod chart;
mod model;
mod training;
mod writing;

use castiron::io::Parameter;
use castiron::optim::Schedule;
use castiron::{Generator, Module, dim};
use chart::Series;
use model::{Gpt, Size};
use std::error::Error;
use training::{Text, Training};
use writing::{Choice, write};

/// The network that `--tiny` names.
#[derive(Clone)]
struct Tiny;
impl Size for Tiny {
    type Context = dim!(16);
    type Width = dim!(32);
    type Heads = dim!(2);
    type Features = dim!(16);
    type Inner = dim!(64);
    const BLOCKS: usize = 1;
}

/// The network otherwise: 0.8 million parameters.
#[derive(Clone)]
struct Small;
impl Size for Small {
    type Context = dim!(64);
    type Width = dim!(128);
    type Heads = dim!(4);
    type Features = dim!(32);
    type Inner = dim!(512);
    const BLOCKS: usize = 4;
}

struct Options {
    is_tiny: bool,
    resumes: bool,
    steps: Option<usize>,
    folder: String,
    /// What is gone on with, instead of learning.
    start: Option<String>,
    choice: Choice,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut options = Options {
            is_tiny: false,
            resumes: false,
            steps: None,
            folder: "target/gpt".to_owned(),
            start: None,
            choice: Choice { temperature: 0.8, top_k: 20 },
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value"));
            match argument.as_str() {
                "--tiny" => options.is_tiny = true,
                "--resume" => options.resumes = true,
                "--steps" => options.steps = Some(value()?.parse()?),
                "--folder" => options.folder = value()?,
                "--write" => options.start = Some(value()?),
                "--temperature" => options.choice.temperature = value()?.parse()?,
                "--top-k" => options.choice.top_k = value()?.parse()?,
                _ => {
                    return Err("usage: gpt [--tiny] [--steps N] [--resume] [--folder FOLDER] [--write TEXT] \
                        [--temperature T] [--top-k K]"
                        .into());
                }
            }
        }
        Ok(options)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(std::env::args().skip(1))?;
    if options.is_tiny { run::<Tiny>(&options, 2000, 32) } else { run::<Small>(&options, 1500, 16) }
}

/// Castiron's documentation.
fn documentation() -> Result<String, Box<dyn Error>> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut paths = vec![format!("{root}/README.md").into()];
    for entry in std::fs::read_dir(format!("{root}/docs"))? {
        paths.push(entry?.path());
    }
    paths.retain(|path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "md"));
    paths.sort();
    Ok(paths.iter().map(std::fs::read_to_string).collect::<Result<Vec<_>, _>>()?.concat())
}

fn run<Z: Size>(options: &Options, steps: usize, windows: usize) -> Result<(), Box<dyn Error>> {
    let path = format!("{}/{}.safetensors", options.folder, if options.is_tiny { "tiny" } else { "small" });
    let generator = &mut Generator::seeded(1);
    if let Some(start) = &options.start {
        let training = Training::<Gpt<Z>>::resume(&path)?;
        println!("{start}{}", write(&training.model, start, 400, options.choice, generator)?);
        return Ok(());
    }

    // 1. The text, and the network: new, or as it was saved.
    let text = Text::new(&documentation()?)?;
    let steps = options.steps.unwrap_or(steps);
    let by_frequency = text.loss_by_frequency();
    let mut training: Training<Gpt<Z>> =
        if options.resumes { Training::resume(&path)? } else { Training::new(&text, 7)? };
    if training.model.alphabet.to_vec() != text.alphabet.to_vec() {
        return Err(format!("{path}: learned from a text with other letters").into());
    }
    let sizes = |parameter: Parameter<'_>| parameter.tensor.sizes().iter().product::<usize>();
    // (The alphabet is in the model, and is not learned.)
    let learned = training.model.named_parameters().into_iter().filter(|parameter| parameter.name != "alphabet");
    let parameters: usize = learned.map(sizes).sum();
    println!(
        "{} letters to learn, {} held out, {} different ones; {parameters} parameters; from step {} to {steps}",
        text.train.len(),
        text.test.len(),
        text.alphabet.numel(),
        training.steps(),
    );
    println!("who knows how frequent each letter is has a loss of {by_frequency:.3}\n");

    // 2. Learn. The rate rises at first, and then falls by half a cosine.
    let warm = (steps / 10) as u64;
    let schedule = Schedule::linear(3e-3, 0.05, 1.0, warm)
        .then(warm, Schedule::cosine(3e-3, (steps as u64).saturating_sub(warm)).least(3e-4));
    std::fs::create_dir_all(&options.folder)?;
    let every = (steps / 12).max(1);
    while training.steps() < steps {
        let loss = training.step(&text, windows, &schedule)?;
        let done = training.steps();
        if done.is_multiple_of(every) || done == steps {
            // Saved whole or not at all: an interruption loses the steps since.
            training.save(&path)?;
            let held_out = training.test(&text, 32);
            println!("step {done:>4}/{steps} {} loss {loss:.3}, held out {held_out:.3}", chart::bar(done, steps));
        }
    }

    // 3. What it looks like.
    let losses = training.losses.to_vec();
    let curve = [Series::counted("loss (means)", '*', chart::smoothed(&losses, losses.len().div_ceil(72)))];
    println!("\n{}", chart::text(&curve));
    let drawing = format!("{}/loss.svg", options.folder);
    std::fs::write(&drawing, chart::svg("loss of each step", &[Series::counted("loss", '*', losses.iter().copied())]))?;
    println!("{path}\n{drawing}\n");
    println!("castiron{}\n", write(&training.model, "castiron", 300, options.choice, generator)?);

    // 4. Whether it learned something: more than how frequent each letter is.
    let held_out = training.test(&text, 128);
    println!("loss on the text held out: {held_out:.3}");
    if held_out.is_nan() || held_out >= by_frequency {
        return Err(format!("nothing was learned: loss {held_out:.3}, by frequency {by_frequency:.3}").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use castiron::Checkpoint;

    /// As small as can be: debug builds compute slowly.
    #[derive(Clone)]
    struct Least;
    impl Size for Least {
        type Context = dim!(8);
        type Width = dim!(16);
        type Heads = dim!(2);
        type Features = dim!(8);
        type Inner = dim!(32);
        const BLOCKS: usize = 1;
    }

    const TEXT: &str = "tensors whose dtype, shape, device and layout are in the type. ";

    #[test]
    fn learns_and_resumes_bit_for_bit() -> Result<(), Box<dyn Error>> {
        let text = Text::new(&TEXT.repeat(1000))?;
        let schedule = Schedule::constant(1e-2);
        let folder = std::env::temp_dir().join(format!("castiron-gpt-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("least.safetensors");
        let path = path.to_str().ok_or("a path of UTF-8")?;

        let mut whole = Training::<Gpt<Least>>::new(&text, 1)?;
        for step in 0..30 {
            whole.step(&text, 8, &schedule)?;
            if step == 14 {
                whole.save(path)?;
            }
        }
        let losses = whole.losses.to_vec();
        assert!(losses[29] < 0.8 * losses[0], "{losses:?}");

        let mut resumed = Training::<Gpt<Least>>::resume(path)?;
        assert_eq!(resumed.steps(), 15);
        while resumed.steps() < 30 {
            resumed.step(&text, 8, &schedule)?;
        }
        resumed.save(path)?;
        let (other, file) = (folder.join("whole.safetensors"), Checkpoint::open(path)?);
        whole.save(&other)?;
        assert!(file.len() > 40);
        assert!(std::fs::read(&other)? == std::fs::read(path)?, "the interruption can be seen in the bits");

        let written =
            write(&resumed.model, "tensors", 20, Choice { temperature: 0.5, top_k: 3 }, &mut Generator::seeded(0))?;
        assert_eq!(written.chars().count(), 20);
        std::fs::remove_dir_all(folder)?;
        Ok(())
    }

    #[test]
    fn the_loss_on_a_tape_is_the_loss() -> Result<(), Box<dyn Error>> {
        use castiron::grad::Grad;
        let text = Text::new(&TEXT.repeat(100))?;
        let model = Gpt::<Least>::new(text.alphabet.clone(), &mut Generator::seeded(1))?;
        let [letters, next] = training::windows::<dim!(8)>(&text.train, &[0, 5, 700]);
        let (loss, _) = model.value_and_grad((&letters, &next), |model, (letters, next)| model.loss(letters, next));
        assert!((loss.item() - model.loss(&letters, &next).item()).abs() < 1e-5);
        Ok(())
    }

    #[test]
    fn letters_are_not_seen_before_their_turn() -> Result<(), Box<dyn Error>> {
        use castiron::{Tensor, axis};
        let text = Text::new(TEXT)?;
        let model = Gpt::<Least>::new(text.alphabet.clone(), &mut Generator::seeded(1))?;
        let mut letters: Tensor<i64, (dim!(1), dim!(8))> = Tensor::zeros();
        let before = model.forward(&letters);
        letters.select_mut(axis![1], 7).fill(3);
        let after = model.forward(&letters);
        assert!(before.narrow(axis![1], 0, 7).to_vec() == after.narrow(axis![1], 0, 7).to_vec());
        assert!(before.to_vec() != after.to_vec());
        Ok(())
    }
}
