//! The logarithms of probabilities that `ctc_loss` takes are those of steps, sequences and classes.
//!
//! Instead: give the one sequence its axis.
//!
//! names: D5, D4
//! says: unsqueeze

use castiron::{Tensor, reduction::Mean, shape, tensor};

fn main() {
    let logs: Tensor<f32, shape![5, 4]> = Tensor::full(-1.5);
    let _ = logs.ctc_loss(&tensor![[1, 2]], &[5], &[2], 0, false, Mean);
    // instead: let _ = logs.unsqueeze(castiron::axis![1]).ctc_loss(&tensor![[1, 2]], &[5], &[2], 0, false, Mean);
}
