//! Names of PyTorch and NumPy for what has another name here, and that rustc would answer by a method that is spelled alike (`clip` by
//! `flip`). They exist for their error messages. (Names that a user's own trait may well have, `double`, `row`, `first`, are not among
//! them: a method of the type would hide the trait's.)

use crate::device::Device;
use crate::dtype::Element;
use crate::refused::refused;
use crate::shape::Shape;
use crate::tensor::Tensor;

refused! { [E: Element, S: Shape, D: Device] Tensor<E, S, D>, of_sizes, "it has another name here",
    "`x.shape()` are the sizes, `x.size(axis![0])` is one of them, `x.numel()` the number of elements; the number of axes is `<S as Shape>::RANK`";
    len () "a tensor has no `len`: write `.numel()`, or `.size(axis![0])` for the number of rows";
    ndim () "a tensor has no `ndim`: the number of axes is in its type, and `.shape().len()`";
    dim () "a tensor has no `dim`: the number of axes is in its type, and `.shape().len()`";
}
refused! { [E: Element, S: Shape, D: Device] Tensor<E, S, D>, of_dtypes, "the dtype is a type here",
    "`x.to::<f64>()` converts; `x.try_to::<f64>()` does without a panic";
    astype (dtype) "a tensor has no `astype`: write `.to::<f64>()`";
    float () "a tensor has no `float`: write `.to::<f32>()`";
    long () "a tensor has no `long`: write `.to::<i64>()`";
    int () "a tensor has no `int`: write `.to::<i32>()`";
    type_as (other) "a tensor has no `type_as`: write `.to::<f64>()`, with the dtype of the other";
}
refused! { [E: Element, S: Shape, D: Device] Tensor<E, S, D>, of_elements, "elements are copied out by name",
    "`x.to_vec()` copies the elements into a `Vec`, `x.iter()` reads them in place, `x.item()` is the only one; `x.save_npy(path)` writes a file for NumPy (feature `npy`)";
    numpy () "a tensor has no `numpy`: write `.to_vec()`, or `.as_ndarray()` with the feature `ndarray`";
    tolist () "a tensor has no `tolist`: write `.to_vec()`";
}
refused! { [E: Element, S: Shape, D: Device] Tensor<E, S, D>, of_names, "it has another name here",
    "the book's chapters for users of PyTorch and of NumPy list the names side by side";
    clip (low, high) "a tensor has no `clip`: write `.clamp(low, high)`";
    concat (other, axis) "tensors are joined by a function: `cat((&x, &y), axis![0])`";
    concatenate (other, axis) "tensors are joined by a function: `cat((&x, &y), axis![0])`";
    append (other) "tensors are joined by a function: `cat((&x, &y), axis![0])`";
    where_ (condition, other) "a choice is a function: `where_(&condition, &x, &y)`";
    not_equal (other) "a tensor has no `not_equal`: write `.ne(&other)`";
    greater (other) "a tensor has no `greater`: write `.gt(&other)`";
    less (other) "a tensor has no `less`: write `.lt(&other)`";
    subtract (other) "a tensor has no `subtract`: write `&x - &y`, or `.sub(&y)`";
    multiply (other) "a tensor has no `multiply`: write `&x * &y`, or `.mul(&y)`";
    divide (other) "a tensor has no `divide`: write `&x / &y`, or `.div(&y)`";
    absolute () "a tensor has no `absolute`: write `.abs()`";
    expand_dims (axis) "a tensor has no `expand_dims`: write `.unsqueeze(axis![0])`";
    ravel () "a tensor has no `ravel`: write `.reshape::<shape![_]>()`";
    inverse () "a tensor has no `inverse`: write `.inv()` (feature `linalg`)";
    copy_ (source) "a tensor has no `copy_`: write `.copy_from(&source)`";
    broadcast_to (sizes) "a tensor has no `broadcast_to`: write `.expand::<shape![3, 4]>()`";
}
