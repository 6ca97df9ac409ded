//! Merges the axes that kernels walk.

/// The axes in order, without the one left out; adjacent axes that every operand traverses as one are merged. Operands without strides are
/// ignored.
pub(super) fn merged<const K: usize>(
    sizes: &[usize],
    of: [&[usize]; K],
    but: Option<usize>,
) -> ([u64; 8], [[u64; 8]; K], u64) {
    let (mut merged, mut strides, mut rank) = ([1; 8], [[0; 8]; K], 0_usize);
    for axis in (0..sizes.len()).filter(|&axis| Some(axis) != but && sizes[axis] != 1) {
        let size = sizes[axis] as u64;
        let here = of.map(|strides| strides.get(axis).map_or(0, |&stride| stride as u64));
        if rank > 0 && (0..K).all(|k| strides[k][rank - 1] == here[k] * size) {
            rank -= 1;
            merged[rank] *= size;
        } else {
            merged[rank] = size;
        }
        (0..K).for_each(|k| strides[k][rank] = here[k]);
        rank += 1;
    }
    (merged, strides, rank as u64)
}
