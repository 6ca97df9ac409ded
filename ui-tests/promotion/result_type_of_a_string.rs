//! The type of a result follows from tensors and scalars.
//!
//! Instead: `result_type(&x, 1.5)`, or `result_type(&x, OperandType::scalar(dtype))` for a dtype known at run time.
//!
//! names: &str
//! names: dtype
//! says: OperandType | scalar

use castiron::dtype::result_type;
use castiron::tensor;

fn main() {
    let _ = result_type(tensor![1, 2], "float32");
    // instead: let _ = result_type(tensor![1, 2], 1.5);
}
