//! The operations named in PyTorch's tests that castiron lacks, each with the reason. Compared with [`any::ops`](castiron::any::ops) and
//! PyTorch's 636 names (`tests/oracle/opinfo_names.txt`): it is an error if a listed operation exists, or a missing one is not listed.

use std::collections::BTreeSet;

/// PyTorch's names, one per line.
const NAMES: &str = include_str!("../../../tests/oracle/opinfo_names.txt");

/// Reasons, each with the names that are missing for it.
const MISSING: &[(&str, &[&str])] = &[
    (
        "writes running statistics, which calls by name do not: `AnyTensor::batch_norm_training`",
        &["_batch_norm_with_update"],
    ),
    (
        "there are methods, which take a generator or give something else than a tensor: `AnySparse`, `empty_strided`",
        &["empty_strided", "sparse.mm", "sparse.sampled_addmm", "to_sparse"],
    ),
    (
        "a derivative, which is another library's business",
        &["_softmax_backward_data", "max_pool2d_with_indices_backward", "native_dropout_backward"],
    ),
    (
        "compiles a kernel from C++ text: PyTorch's own",
        &[
            "jiterator_2inputs_2outputs",
            "jiterator_4inputs_with_extra_args",
            "jiterator_binary",
            "jiterator_binary_return_by_ref",
            "jiterator_unary",
        ],
    ),
    (
        "private to PyTorch, or one device's own",
        &[
            "_chunk_cat",
            "_segment_reduce",
            "_unsafe_masked_index",
            "_unsafe_masked_index_put_accumulate",
            "hash_tensor",
            "nn.functional.linear_cross_entropy",
            "torch._scaled_mm",
            "torch._scaled_mm_v2",
            "torch.ops.aten._efficient_attention_forward",
            "torch.ops.aten._flash_attention_forward",
        ],
    ),
];

/// Mistakes in the list: names that exist, missing names that are not listed, and names PyTorch does not have.
pub fn mistakes() -> Vec<String> {
    let known: BTreeSet<&str> = castiron::any::ops().map(|op| op.name).collect();
    let has = |name: &str| known.contains(name) || castiron::any::alias(name).is_some();
    let listed: BTreeSet<&str> = MISSING.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let all: BTreeSet<&str> = NAMES.lines().collect();
    let there =
        listed.iter().filter(|name| has(name)).map(|name| format!("`{name}` is listed as missing, and is there"));
    let strange =
        listed.iter().filter(|name| !all.contains(*name)).map(|name| format!("`{name}` is none of PyTorch's names"));
    let unlisted = all.iter().filter(|name| !has(name) && !listed.contains(*name));
    there.chain(strange).chain(unlisted.map(|name| format!("`{name}` is missing, and no reason is listed"))).collect()
}

/// The list as text: the number of names, then a line for each reason.
pub fn text() -> String {
    let count: usize = MISSING.iter().map(|(_, names)| names.len()).sum();
    let mut text = format!("names: {} of PyTorch's {}", NAMES.lines().count() - count, NAMES.lines().count());
    for (reason, names) in MISSING {
        text += &format!("\n  {reason} ({}): {}", names.len(), names.join(", "));
    }
    text
}
