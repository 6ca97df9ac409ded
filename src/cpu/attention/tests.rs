use super::{KEYS, attend};
use crate::dtype::{Castable, Dtype, bf16};
use crate::layout::strides::row_major;
use crate::ops::arguments::{Attention, Mask};
use crate::storage::{HostBuffer, View};

/// Numbers between -1 and 1 that every dtype can represent.
fn numbers<E: Castable>(len: usize, from: usize) -> Vec<E> {
    (0..len).map(|at| E::from_f64((((at + from) * 7919 + at / 13) % 65) as f64 / 32.0 - 1.0)).collect()
}

/// The definition, for one head; queries, keys and values row by row.
fn naive(
    q: &[f64],
    k: &[f64],
    v: &[f64],
    [features, width]: [usize; 2],
    added: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let mut out = vec![];
    for (query, q) in q.chunks(features).enumerate() {
        let scores: Vec<f64> = (k.chunks(features).enumerate())
            .map(|(key, k)| q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() / 2.0 + added(query, key))
            .collect();
        let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = scores.iter().map(|score| (score - max).exp()).collect();
        let total: f64 = shares.iter().sum();
        for at in 0..width {
            out.push(shares.iter().zip(v.chunks(width)).map(|(share, v)| share * v[at]).sum::<f64>() / total);
        }
    }
    out
}

/// Two heads, interleaved in each row or one after the other; packed and unpacked queries, and blocks of keys.
fn check<E: Dtype + Castable>(tolerance: f64) {
    let (features, width) = (19, 35);
    let kinds: &[_] = if cfg!(debug_assertions) {
        &[(1, 70), (3, 5), (8, 40), (31, 50)]
    } else {
        &[(1, 700), (3, 5), (8, 300), (61, 300), (200, 130), (1100, 530)]
    };
    for &(queries, keys) in kinds {
        let sizes = [[2, queries, features], [2, keys, features], [2, keys, width]];
        let lists = [0, 1, 2].map(|at| numbers::<E>(sizes[at].iter().product(), at * 5));
        let mask = numbers::<E>(queries * keys, 3);
        // (The first key and, where the mask is transposed, the first keys.)
        let seen: Vec<bool> = (0..queries * keys).map(|at| at % keys == 0 || at < queries || at % 3 == 0).collect();
        let buffers = [&lists[0], &lists[1], &lists[2], &mask].map(|list| HostBuffer::from_vec(list.clone()).unwrap());
        let seen_buffer = HostBuffer::from_vec(seen.clone()).unwrap();
        let mask_sizes = [2, queries, keys];
        for side_by_side in [false, true] {
            // The mask is transposed, too.
            let mask_strides = if side_by_side { [0, 1, queries] } else { [0, keys, 1] };
            let in_mask = |query: usize, key: usize| query * mask_strides[1] + key * mask_strides[2];
            let strides = sizes.map(|[_, rows, width]| match side_by_side {
                true => vec![width, 2 * width, 1],
                false => row_major(&[2, rows, width]),
            });
            for kind in 0..4 {
                let view = |at: usize| View::<_, E>::new(&buffers[at], 0, &sizes[at], &strides[at]);
                let attention = Attention {
                    query: view(0),
                    key: view(1),
                    value: view(2),
                    mask: match kind {
                        1 => Some(Mask::Added(View::new(&buffers[3], 0, &mask_sizes, &mask_strides))),
                        2 => Some(Mask::Seen(View::new(&seen_buffer, 0, &mask_sizes, &mask_strides))),
                        _ => None,
                    },
                    is_causal: kind == 3,
                    scale: 0.5,
                };
                let out = attend(&attention).unwrap();
                let out_sizes = [2, queries, width];
                let strides_of_out = row_major(&out_sizes);
                let found =
                    crate::cpu::read::download(View::<_, E>::new(&out, 0, &out_sizes, &strides_of_out)).unwrap();
                let added = |query: usize, key: usize| match kind {
                    1 => mask[in_mask(query, key)].cast::<f64>(),
                    2 if !seen[in_mask(query, key)] => f64::NEG_INFINITY,
                    3 if key > query => f64::NEG_INFINITY,
                    _ => 0.0,
                };
                for head in 0..2 {
                    let of = |at: usize| -> Vec<f64> {
                        let [_, rows, width] = sizes[at];
                        let place = |row: usize, column: usize| {
                            head * strides[at][0] + row * strides[at][1] + column * strides[at][2]
                        };
                        let places = (0..rows).flat_map(|row| (0..width).map(move |column| place(row, column)));
                        places.map(|place| lists[at][place].cast::<f64>()).collect()
                    };
                    let expected = naive(&of(0), &of(1), &of(2), [features, width], added);
                    let found = &found[head * queries * width..][..queries * width];
                    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
                        let found = found.cast::<f64>();
                        assert!(
                            (found - expected).abs() < tolerance,
                            "{} {queries} {keys} kind {kind} head {head} at {at}: {found} {expected}",
                            E::DTYPE
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn values_are_averaged_by_the_softmax_of_scores_in_every_dtype_and_layout() {
    check::<f32>(2e-6);
    check::<f64>(1e-13);
    check::<bf16>(8e-3);
}

/// A packed query does not depend on the other queries of its call, and so not on the number of threads.
#[test]
fn a_query_among_few_gets_what_it_gets_among_many() {
    let (keys, features) = (40, 8);
    let [q, k] = [numbers::<f32>(50 * features, 0), numbers::<f32>(keys * features, 7)];
    let [q, k] = [q, k].map(|list| HostBuffer::from_vec(list).unwrap());
    let of = |first: usize, count: usize, is_causal: bool| -> Vec<f32> {
        let (sizes, key_sizes) = ([count, features], [keys, features]);
        let key = View::<_, f32>::new(&k, 0, &key_sizes, &[8, 1]);
        let query = View::<_, f32>::new(&q, first * features, &sizes, &[8, 1]);
        let out = attend(&Attention { query, key, value: key, mask: None, is_causal, scale: 0.5 }).unwrap();
        crate::cpu::read::download(View::<_, f32>::new(&out, 0, &sizes, &[8, 1])).unwrap()
    };
    let all = of(0, 50, false);
    for first in [0, 11, 30] {
        assert_eq!(of(first, 20, false), all[first * features..][..20 * features]);
    }
    // Later keys are invisible to the query.
    let causal = of(0, 50, true);
    for count in [8, 20, 33] {
        assert_eq!(of(0, count, true), causal[..count * features]);
    }
}

/// Queries that see nothing, only keys of a later block, or all; and no keys at all.
#[test]
fn a_query_that_sees_no_key_of_the_first_block_averages_those_of_later_ones() {
    let (queries, width) = (9, 3);
    for keys in [0, KEYS + 5] {
        let numbers = |sizes: [usize; 3]| (0..sizes.iter().product()).map(|at| (at / width) as f32).collect::<Vec<_>>();
        let sizes = [[1, queries, width], [1, keys, width]];
        let [query, key] = sizes.map(|sizes| HostBuffer::from_vec(numbers(sizes)).unwrap());
        let strides = sizes.map(|sizes| row_major(&sizes));
        let sees = |query: usize, key: usize| [false, key >= KEYS, true][query % 3];
        let seen = (0..queries * keys).map(|at| sees(at / keys, at % keys)).collect::<Vec<_>>();
        let seen = HostBuffer::from_vec(seen).unwrap();
        let (mask_sizes, mask_strides) = ([1, queries, keys], [0, keys, 1]);
        let attention = Attention::<_, f32> {
            query: View::new(&query, 0, &sizes[0], &strides[0]),
            key: View::new(&key, 0, &sizes[1], &strides[1]),
            value: View::new(&key, 0, &sizes[1], &strides[1]),
            mask: Some(Mask::Seen(View::new(&seen, 0, &mask_sizes, &mask_strides))),
            is_causal: false,
            scale: 0.0,
        };
        let out = attend(&attention).unwrap();
        let found = crate::cpu::read::download(View::<_, f32>::new(&out, 0, &sizes[0], &strides[0])).unwrap();
        for (at, &found) in found.iter().enumerate() {
            let own = (0..keys).filter(|&key| sees(at / width, key)).collect::<Vec<_>>();
            let mean = own.iter().sum::<usize>() as f32 / own.len().max(1) as f32;
            assert!((found - mean).abs() < 1e-3, "{keys} keys, query {}: {found} {mean}", at / width);
        }
    }
}

/// NaN and infinities in masked keys and values, for any position of tiles and blocks; queries that see them get NaN.
#[test]
fn what_is_not_seen_does_not_reach_the_result() {
    let features = 8;
    for (count, hidden) in [(8, 7), (8, 3), (60, 59), (70, 20), (600, 599)] {
        let sizes = [count, features];
        let list = |from: usize| numbers::<f32>(count * features, from);
        let mask_sizes = [count, count];
        let sees = |kind: usize, query: usize, key: usize| {
            if kind == 0 { key <= query } else { key != hidden || query % 5 == 4 }
        };
        let seen =
            HostBuffer::from_vec((0..count * count).map(|at| sees(1, at / count, at % count)).collect()).unwrap();
        let added = (0..count * count).map(|at| if sees(1, at / count, at % count) { 0.25 } else { f32::NEG_INFINITY });
        let added = HostBuffer::from_vec(added.collect()).unwrap();
        let (steps, mask_steps) = ([features, 1], [count, 1]);
        for (kind, wrong) in [(0, f32::NAN), (0, f32::INFINITY), (1, f32::NAN), (1, f32::INFINITY), (2, f32::NAN)] {
            let result = |in_keys: bool, in_values: bool| -> Vec<f32> {
                let (mut keys, mut values) = (list(3), list(5));
                let place = hidden * features + 2;
                (keys[place], values[place]) = (if in_keys { wrong } else { 1.0 }, if in_values { wrong } else { 1.0 });
                let [q, k, v] = [list(0), keys, values].map(|list| HostBuffer::from_vec(list).unwrap());
                let mask = match kind {
                    0 => None,
                    1 => Some(Mask::Seen(View::new(&seen, 0, &mask_sizes, &mask_steps))),
                    _ => Some(Mask::Added(View::new(&added, 0, &mask_sizes, &mask_steps))),
                };
                let [query, key, value] = [&q, &k, &v].map(|list| View::<_, f32>::new(list, 0, &sizes, &steps));
                let out = attend(&Attention { query, key, value, mask, is_causal: kind == 0, scale: 0.5 }).unwrap();
                crate::cpu::read::download(View::<_, f32>::new(&out, 0, &sizes, &steps)).unwrap()
            };
            let right = result(false, false);
            for found in [result(true, false), result(false, true), result(true, true)] {
                for query in (0..count).filter(|&query| !sees(kind.min(1), query, hidden)) {
                    for at in query * features..(query + 1) * features {
                        let (found, right) = (found[at], right[at]);
                        assert!((found - right).abs() < 1e-5, "{count} {kind} {wrong} {query}: {found} {right}");
                    }
                }
            }
            let found = result(false, true);
            let is_wrong = |query: usize| !found[query * features + 2].is_finite();
            assert!(
                (0..count).all(|query| is_wrong(query) == sees(kind.min(1), query, hidden)),
                "{count} {kind} {wrong}"
            );
        }
    }
}
