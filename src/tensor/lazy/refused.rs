//! Methods of tensors that lazy expressions lack, because they are not elementwise: they exist for their error messages.

use super::Lazy;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::refused::refused;
use crate::shape::Shape;

refused! { [E: Dtype, S: Shape, D: Device, X] Lazy<E, S, D, X>, products, "a product is not computed element by element",
    "a product is computed before: `{{ x.matmul(w) }}` in `fused!`, `x.matmul(&w).lazy()` without";
    matmul (other) "an expression that runs in one pass has no `matmul`";
    mm (other) "an expression that runs in one pass has no `mm`";
    mv (other) "an expression that runs in one pass has no `mv`";
    bmm (other) "an expression that runs in one pass has no `bmm`";
    dot (other) "an expression that runs in one pass has no `dot`";
    outer (other) "an expression that runs in one pass has no `outer`";
    linear (weight, bias) "an expression that runs in one pass has no `linear`";
}
refused! { [E: Dtype, S: Shape, D: Device, X] Lazy<E, S, D, X>, views, "a view is of a tensor, and this is an expression",
    "views belong to names: `x.t() + y.t()`, not `(x + y).t()`; or they are taken of the result: `fused!(x + y).t()`";
    t () "an expression that runs in one pass has no `t`";
    transpose (a, b) "an expression that runs in one pass has no `transpose`";
    permute (axes) "an expression that runs in one pass has no `permute`";
    select (axis, index) "an expression that runs in one pass has no `select`";
    narrow (axis, start, len) "an expression that runs in one pass has no `narrow`";
    slice (items) "an expression that runs in one pass has no `slice`";
    reshape [T] () "an expression that runs in one pass has no `reshape`";
    reshape_sized [T] (sizes) "an expression that runs in one pass has no `reshape_sized`";
    flatten () "an expression that runs in one pass has no `flatten`";
    squeeze () "an expression that runs in one pass has no `squeeze`";
    squeeze_axis (axis) "an expression that runs in one pass has no `squeeze_axis`";
    unsqueeze (axis) "an expression that runs in one pass has no `unsqueeze`";
    expand [T] () "an expression that runs in one pass has no `expand`";
    diagonal () "an expression that runs in one pass has no `diagonal`";
    split (axis, size) "an expression that runs in one pass has no `split`";
    chunk (axis, chunks) "an expression that runs in one pass has no `chunk`";
    unbind (axis) "an expression that runs in one pass has no `unbind`";
}
refused! { [E: Dtype, S: Shape, D: Device, X] Lazy<E, S, D, X>, whole, "it looks at other elements than its own",
    "what looks at many elements for each is computed of a tensor: `{{ x.softmax(axis![-1]) }}` in `fused!`, `fused!(x * 2).softmax(axis![-1])` after it";
    softmax (axis) "an expression that runs in one pass has no `softmax`";
    log_softmax (axis) "an expression that runs in one pass has no `log_softmax`";
    cumsum (axis) "an expression that runs in one pass has no `cumsum`";
    cumprod (axis) "an expression that runs in one pass has no `cumprod`";
    sort (axis, descending) "an expression that runs in one pass has no `sort`";
    argsort (axis, descending) "an expression that runs in one pass has no `argsort`";
    topk [K, A] (axis) "an expression that runs in one pass has no `topk`";
    flip (axes) "an expression that runs in one pass has no `flip`";
    roll (shift, axes) "an expression that runs in one pass has no `roll`";
    gather (axis, index) "an expression that runs in one pass has no `gather`";
    index_select (axis, index) "an expression that runs in one pass has no `index_select`";
    masked_fill (mask, value) "an expression that runs in one pass has no `masked_fill`: a choice is `where_(mask, value, x)`";
    masked_select (mask) "an expression that runs in one pass has no `masked_select`";
    layer_norm (weight, bias, eps) "an expression that runs in one pass has no `layer_norm`";
    median () "an expression that runs in one pass has no `median`";
}
refused! { [E: Dtype, S: Shape, D: Device, X] Lazy<E, S, D, X>, elements, "nothing is computed yet",
    "elements and sizes are those of the tensor that is computed: `fused!(x + y).to_vec()`, or `.eval()` first";
    item () "an expression that runs in one pass has no `item`";
    to_vec () "an expression that runs in one pass has no `to_vec`";
    iter () "an expression that runs in one pass has no `iter`";
    shape () "an expression that runs in one pass has no `shape`";
    size (axis) "an expression that runs in one pass has no `size`";
    numel () "an expression that runs in one pass has no `numel`";
}
