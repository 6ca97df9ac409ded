//! Training: what is learned, how far it got, and how it goes on.

use crate::model::{Gpt, Size, Vocab};
use castiron::grad::Grad;
use castiron::optim::{AdamW, Schedule};
use castiron::reduction::Mean;
use castiron::{Checkpoint, Device, Dim, Generator, Known, Module, Result, Tensor, axis, dims, shape};

dims! {
    /// Parts of the text that are read together.
    pub Windows,
}

/// A text, as positions in an alphabet.
pub struct Text {
    /// The letters that occur, as code points.
    pub alphabet: Tensor<i64, (Vocab,)>,
    /// What is learned.
    pub train: Vec<i64>,
    /// What is held out.
    pub test: Vec<i64>,
}

impl Text {
    /// Holds out every tenth part of 4096 letters.
    pub fn new(text: &str) -> Result<Self> {
        let letters: Vec<char> = text.chars().collect();
        let mut alphabet = letters.clone();
        alphabet.sort_unstable();
        alphabet.dedup();
        let number = |letter: &char| alphabet.binary_search(letter).map_or(0, |at| at as i64);
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for (at, part) in letters.chunks(4096).enumerate() {
            let to = if at % 10 == 9 { &mut test } else { &mut train };
            to.extend(part.iter().map(number));
        }
        let count = alphabet.len();
        let alphabet = alphabet.into_iter().map(|letter| i64::from(u32::from(letter))).collect();
        Ok(Text { alphabet: Tensor::try_from_vec_sized(alphabet, [count])?, train, test })
    }

    /// The loss of who knows how frequent each letter is and nothing else, on what is held out.
    pub fn loss_by_frequency(&self) -> f32 {
        // (One more of each, so that none is impossible.)
        let mut counts = vec![1.0; self.alphabet.numel()];
        self.train.iter().for_each(|&letter| counts[letter as usize] += 1.0);
        let total: f32 = counts.iter().sum();
        let losses = self.test.iter().map(|&letter| -(counts[letter as usize] / total).ln());
        losses.sum::<f32>() / self.test.len().max(1) as f32
    }
}

/// Windows of a text that start at these places, and the letters that follow each of theirs.
pub fn windows<T: Known>(text: &[i64], starts: &[usize]) -> [Tensor<i64, (Windows, T)>; 2] {
    let sizes = [starts.len(), T::VALUE];
    [0, 1].map(|next| Tensor::from_fn_sized(sizes, |[row, column]: [usize; 2]| text[starts[row] + column + next]))
}

impl<Z: Size, D: Device> Gpt<Z, D> {
    /// How badly the next letters are foretold: the mean of minus the logarithms of their probabilities.
    pub fn loss<N: Dim, T: Dim>(
        &self,
        text: &Tensor<i64, (N, T), D>,
        next: &Tensor<i64, (N, T), D>,
    ) -> Tensor<f32, (), D> {
        let scores = self.forward(text).flatten_axes(axis![0], axis![1]);
        scores.cross_entropy(&next.flatten_axes(axis![0], axis![1]), (), -100, 0.0, Mean)
    }
}

/// A model, its optimiser, and the losses so far: all that is needed to go on, in one file.
#[derive(Module)]
pub struct Training<M: Module> {
    pub model: M,
    adam: AdamW<M>,
    /// The loss of each step.
    pub losses: Tensor<f32, shape![_]>,
}

impl<Z: Size> Training<Gpt<Z>> {
    /// Starts with a model that has learned nothing.
    pub fn new(text: &Text, seed: u64) -> Result<Self> {
        let model = Gpt::new(text.alphabet.clone(), &mut Generator::seeded(seed))?;
        let is_no_matrix = |name: &str| name.contains("norm") || name.ends_with("bias");
        let adam = AdamW::new(&model).decay(0.1).group(is_no_matrix, |group| group.decay = 0.0);
        Ok(Training { model, adam, losses: Tensor::try_zeros_sized([0])? })
    }

    /// Goes on with what was saved.
    pub fn resume(path: &str) -> Result<Self> {
        Module::load(&Checkpoint::open(path)?)
    }

    /// How many steps are done.
    pub fn steps(&self) -> usize {
        self.losses.numel()
    }

    /// A step by `count` windows of text; returns the loss before it. The windows follow from the number of the step, so that a training that was
    /// interrupted goes on with the same bits.
    pub fn step(&mut self, text: &Text, count: usize, schedule: &Schedule) -> Result<f32> {
        let generator = &mut Generator::seeded(self.steps() as u64);
        let ends = (text.train.len() - Z::Context::VALUE) as i64;
        let starts: Tensor<i64, shape![_]> = Tensor::try_randint_sized([count], 0, ends, generator)?;
        let starts: Vec<usize> = starts.iter().map(|&start| start as usize).collect();
        let [letters, next] = windows::<Z::Context>(&text.train, &starts);

        let (loss, mut gradients) =
            self.model.try_value_and_grad((&letters, &next), |model, (letters, next)| Ok(model.loss(letters, next)))?;
        // No step is led astray by a few unusual windows.
        gradients.clip_norm(1.0);
        self.adam.set_rate(schedule.at(self.steps() as u64));
        self.adam.try_step(&mut self.model, &gradients)?;

        let loss = loss.item();
        self.losses = self.losses.iter().copied().chain([loss]).collect();
        Ok(loss)
    }

    /// The loss on windows that are spread evenly over the text that is held out.
    pub fn test(&self, text: &Text, count: usize) -> f32 {
        let ends = text.test.len() - Z::Context::VALUE;
        let starts: Vec<usize> = (0..count).map(|at| at * ends / count).collect();
        let [letters, next] = windows::<Z::Context>(&text.test, &starts);
        self.model.loss(&letters, &next).item()
    }
}
