//! Operations computed in one pass, and block by block: compared with the same step by step, or one element at a time.

use castiron::any::{Args, call};
use castiron::{AnyTensor, DType, MemoryFormat, ScalarValue, any};

/// Numbers that differ from each other, from -3 to 3; halves hold them.
fn numbers(sizes: &[usize], dtype: DType, seed: usize) -> AnyTensor {
    let len = sizes.iter().product();
    let all: Vec<ScalarValue> =
        (0..len).map(|at| ScalarValue::Float(((at * 37 + seed * 11) % 97) as f64 / 16.0 - 3.0)).collect();
    AnyTensor::from_scalars(&all, sizes, DType::F64).unwrap().to(dtype).unwrap()
}

fn items(x: &AnyTensor) -> Vec<f64> {
    let x = x.to(DType::F64).unwrap().contiguous().unwrap().reshape(&[-1]).unwrap();
    x.to_bytes().unwrap().chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn floats(values: &[f64], dtype: DType) -> AnyTensor {
    let all: Vec<ScalarValue> = values.iter().map(|&value| ScalarValue::Float(value)).collect();
    AnyTensor::from_scalars(&all, &[values.len()], DType::F64).unwrap().to(dtype).unwrap()
}

/// The same elements in other places: as they are, transposed, every second, one column or row for all.
fn laid(sizes: &[usize; 2], dtype: DType, layout: usize, seed: usize) -> AnyTensor {
    let [rows, columns] = *sizes;
    let whole = [rows as i64, columns as i64];
    match layout {
        0 => numbers(sizes, dtype, seed),
        1 => numbers(&[columns, rows], dtype, seed).transpose(0, 1).unwrap(),
        2 => numbers(&[rows, 2 * columns], dtype, seed).slice(1, Some(1), None, 2).unwrap(),
        3 => numbers(&[rows, 1], dtype, seed).expand(&whole).unwrap(),
        _ => numbers(&[1, columns], dtype, seed).expand(&whole).unwrap(),
    }
}

#[test]
fn sums_with_products_are_those_of_one_element_at_a_time() {
    let shapes = [[1, 1], [3, 511], [2, 512], [1, 513], [70, 5], [2, 1100], [0, 4]];
    for (round, dtype) in
        [DType::F32, DType::F64, DType::BF16, DType::F16, DType::I32, DType::U8, DType::C64].into_iter().enumerate()
    {
        // What halves are computed in.
        let wide = if dtype.itemsize() == 2 { DType::F32 } else { dtype };
        for (at, sizes) in shapes.iter().enumerate() {
            for layout in 0..5 {
                let x = laid(sizes, dtype, layout, 1);
                let a = laid(sizes, dtype, (layout + at) % 5, 2);
                let b = laid(sizes, dtype, (layout + at + round) % 5, 3);
                let [wx, wa, wb] = [&x, &a, &b].map(|x| x.to(wide).unwrap().contiguous().unwrap());
                for value in [1, 2] {
                    let sum = x.addcmul(&a, &b, value).unwrap();
                    let expected = wx.add(wa.mul(value).unwrap().mul(&wb).unwrap()).unwrap().to(dtype).unwrap();
                    assert!(sum.equal(&expected).unwrap(), "addcmul {dtype} {sizes:?} {layout} {value}");
                    if dtype.is_floating_point() {
                        let sum = x.addcdiv(&a, &b, value).unwrap();
                        let expected = wx.add(wa.mul(value).unwrap().div(&wb).unwrap()).unwrap().to(dtype).unwrap();
                        let (sum, expected) = (sum.nan_to_num(0.5, None, None), expected.nan_to_num(0.5, None, None));
                        assert!(sum.unwrap().equal(&expected.unwrap()).unwrap(), "addcdiv {dtype} {sizes:?} {layout}");
                    }
                }
                let (rows, columns) = (numbers(&[sizes[0]], dtype, 4), numbers(&[sizes[1]], dtype, 5));
                for (beta, alpha) in [(1, 1), (2, 3), (0, 2)] {
                    let sum = x.addr(&rows, &columns, beta, alpha).unwrap();
                    let [wr, wc] = [&rows, &columns].map(|x| x.to(wide).unwrap());
                    let outer = wr.outer(&wc).unwrap().mul(alpha).unwrap();
                    let expected = wx.mul(beta).unwrap().add(&outer).unwrap().to(dtype).unwrap();
                    assert!(sum.equal(&expected).unwrap(), "addr {dtype} {sizes:?} {layout} {beta} {alpha}");
                }
            }
        }
    }
    // No axes; and operands of other shapes and dtypes.
    let [x, a] = [numbers(&[], DType::F32, 1), numbers(&[], DType::F32, 2)];
    assert_eq!(x.addcmul(&a, &a, 1).unwrap().rank(), 0);
    let mixed =
        numbers(&[3, 1], DType::BF16, 1).addcmul(&numbers(&[4], DType::F32, 2), &numbers(&[], DType::I32, 3), 2);
    assert_eq!((mixed.as_ref().unwrap().shape(), mixed.as_ref().unwrap().dtype()), (&[3, 4][..], DType::F32));
    assert!(x.addcmul(&numbers(&[3], DType::F32, 1), &numbers(&[4], DType::F32, 1), 1).is_err());
}

#[test]
fn layers_in_one_pass_are_rounded_once() {
    for dtype in [DType::F32, DType::BF16] {
        for format in [MemoryFormat::CONTIGUOUS, MemoryFormat::CHANNELS_LAST] {
            let x = numbers(&[3, 6, 7, 9], dtype, 1).contiguous_in(format).unwrap();
            let of = |seed: usize| numbers(&[6], DType::F32, seed).abs().unwrap().add(0.5).unwrap();
            let [mean, var, weight, bias] = [1, 2, 3, 4].map(of);
            let normed = x.batch_norm(&mean, &var, Some(&weight), Some(&bias), 1e-5).unwrap();
            let by_channel = |x: &AnyTensor| x.to(DType::F32).unwrap().reshape(&[1, 6, 1, 1]).unwrap();
            // A factor and a summand for each channel are found in `f64`.
            let [mean, var, weight, bias] = [mean, var, weight, bias].map(|x| x.to(DType::F64).unwrap());
            let scale = var.add(1e-5).unwrap().sqrt().unwrap().reciprocal().unwrap().mul(&weight).unwrap();
            let shift = bias.sub(mean.mul(&scale).unwrap()).unwrap();
            let wide = x.to(DType::F32).unwrap();
            let expected = wide.mul(by_channel(&scale)).unwrap().add(by_channel(&shift)).unwrap().to(dtype).unwrap();
            assert!(normed.equal(&expected).unwrap(), "batch_norm {dtype}");
            assert_eq!(normed.stride(), x.stride());
            for dim in [1, -2] {
                let x = numbers(&[3, 6, 8, 9], dtype, 1).contiguous_in(format).unwrap();
                let halves = x.to(DType::F32).unwrap().chunk(2, dim).unwrap();
                let expected = halves[0].mul(halves[1].sigmoid().unwrap()).unwrap().to(dtype).unwrap();
                assert!(x.glu(dim).unwrap().equal(&expected).unwrap(), "glu {dtype} {dim}");
            }
            let slopes = numbers(&[6], dtype, 5);
            let bent = x.prelu(&slopes).unwrap();
            let scaled = x.mul(slopes.reshape(&[1, 6, 1, 1]).unwrap()).unwrap();
            assert!(bent.equal(&any::where_(&x.gt(0).unwrap(), &x, scaled).unwrap()).unwrap(), "prelu {dtype}");
        }
    }
}

/// Each element of a tensor by itself gives what it gives among the others.
fn expect_each(name: &str, x: &AnyTensor, run: impl Fn(&AnyTensor) -> AnyTensor) {
    let all = items(&run(x));
    for (at, &among) in all.iter().enumerate() {
        let one = items(&run(&x.narrow(0, at as i64, 1).unwrap()))[0];
        assert!(one.to_bits() == among.to_bits() || one.is_nan() && among.is_nan(), "{name} {at}: {one} {among}");
    }
}

#[test]
fn blocks_that_take_a_short_way_give_what_others_do() {
    // The first block takes the short way, the second does not, the third is a part of one.
    let mut values: Vec<f64> = (0..1100).map(|at| at as f64 / 64.0).collect();
    (values[600], values[700], values[800], values[5]) = (-1.5, -0.0, f64::NAN, f64::NAN);
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::F16] {
        let x = floats(&values, dtype);
        expect_each("elu", &x, |x| x.elu(2).unwrap());
        expect_each("celu", &x, |x| x.celu(0.5).unwrap());
        expect_each("selu", &x, |x| x.selu().unwrap());
        let kept = x.narrow(0, 6, 500).unwrap();
        assert!(kept.elu(2).unwrap().equal(&kept).unwrap());
        let mut own = x.clone();
        own.elu_(2).unwrap();
        assert_eq!(own.to_bytes().unwrap(), x.elu(2).unwrap().to_bytes().unwrap());
    }
    let mut ends: Vec<f64> = (0..1100).map(|at| (at % 4) as f64 - 1.0).collect();
    (ends[600], ends[700]) = (0.25, f64::NAN);
    let x = floats(&ends, DType::F32);
    expect_each("ndtri", &x, |x| call("special.ndtri", &Args::new().arg(x)).unwrap().tensor().unwrap());
    let by = numbers(&[1100], DType::F32, 1).abs().unwrap();
    ends.iter_mut().skip(600).step_by(50).for_each(|x| *x = 2.5);
    let x = floats(&ends, DType::F32);
    let zeta = |x: &AnyTensor, by: &AnyTensor| {
        items(&call("special.zeta", &Args::new().arg(x).arg(by)).unwrap().tensor().unwrap())
    };
    let all = zeta(&x, &by);
    for at in 0..1100 {
        let one = zeta(&x.narrow(0, at, 1).unwrap(), &by.narrow(0, at, 1).unwrap())[0];
        assert!(one == all[at as usize] || one.is_nan() && all[at as usize].is_nan(), "zeta {at}");
    }
}

#[test]
fn signs_of_halves_are_changed_and_nothing_else() {
    let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    let x = AnyTensor::from_bytes(&bytes, DType::BF16, &[1 << 16]).unwrap();
    let bits = |x: AnyTensor| -> Vec<u16> {
        x.to_bytes().unwrap().chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).collect()
    };
    let (negated, sizes, signed) =
        (bits(x.neg().unwrap()), bits(x.abs().unwrap()), bits(x.copysign(x.flip(&[0]).unwrap()).unwrap()));
    for at in 0..=u16::MAX {
        let (place, is_nan) = (at as usize, at & 0x7fff > 0x7f80);
        let agrees = |got: u16, want: u16| got == want || is_nan && got & 0x7fff > 0x7f80;
        assert!(agrees(negated[place], at ^ 0x8000) && agrees(sizes[place], at & 0x7fff), "{at:04x}");
        assert!(agrees(signed[place], at & 0x7fff | (u16::MAX - at) & 0x8000), "{at:04x}");
    }
}

#[test]
fn the_next_half_is_the_nearest_in_that_direction() {
    let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    for dtype in [DType::BF16, DType::F16] {
        let x = AnyTensor::from_bytes(&bytes, dtype, &[1 << 16]).unwrap();
        let values = items(&x);
        for towards in [f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, f64::NAN] {
            let next = x.nextafter(floats(&[towards], dtype)).unwrap();
            for (at, (&value, next)) in values.iter().zip(items(&next)).enumerate() {
                if value.is_nan() || towards.is_nan() {
                    assert!(next.is_nan(), "{dtype} {at:04x} {towards}");
                    continue;
                }
                // Of the numbers with the next bits the one on that side; from 0 the smallest one.
                let size = at as u16 & 0x7fff;
                let expected = if value == towards {
                    towards
                } else if size == 0 {
                    items(&x.narrow(0, if towards < 0.0 { 0x8001 } else { 1 }, 1).unwrap())[0]
                } else {
                    let beside = [at - 1, at + 1].map(|beside| values[beside & 0xffff]);
                    if (beside[0] > value) == (towards > value) { beside[0] } else { beside[1] }
                };
                assert_eq!(next.to_bits(), expected.to_bits(), "{dtype} {at:04x} {towards}");
            }
        }
    }
}

/// In parts, by dtypes in between.
#[test]
fn long_conversions_are_those_of_one_element_at_a_time() {
    use DType::*;
    for (from, to) in [
        (BF16, U8),
        (BF16, I16),
        (BF16, C32),
        (C64, I8),
        (C128, I16),
        (F64, BF16),
        (I16, F16),
        (I8, C32),
        (U8, F8E4M3FN),
    ] {
        for layout in 0..3 {
            let x = laid(&[3, 3001], from, layout, 1);
            let x = if to == U8 { x.abs().unwrap() } else { x };
            let converted = x.to(to).unwrap().contiguous().unwrap().reshape(&[-1]).unwrap();
            let x = x.contiguous().unwrap().reshape(&[-1]).unwrap();
            for at in (0..9003).step_by(61).chain([2047, 2048, 9002]) {
                let [one, all] = [x.narrow(0, at, 1).unwrap().to(to).unwrap(), converted.narrow(0, at, 1).unwrap()]
                    .map(|x| x.contiguous().unwrap().to_bytes().unwrap());
                assert_eq!(one, all, "{from} {to} {layout} {at}");
            }
        }
    }
}

/// Lines beside an element that is the same for all of a line.
#[test]
fn every_element_times_a_line() {
    for dtype in [DType::U8, DType::I16, DType::F32, DType::BF16] {
        for len in [255, 256, 1024, 2049] {
            let (column, row) = (numbers(&[3], dtype, 1), numbers(&[len], dtype, 2));
            let (across, along) = (column.outer(&row).unwrap(), row.outer(&column).unwrap());
            assert!(across.equal(&along.t().unwrap()).unwrap(), "{dtype} {len}");
            for at in 0..3 {
                let one = row.mul(column.select(0, at).unwrap()).unwrap();
                assert!(across.select(0, at).unwrap().equal(&one).unwrap(), "{dtype} {len}");
            }
        }
    }
}

#[test]
fn mantissas_and_exponents_make_the_number() {
    let values = [
        0.0,
        -0.0,
        1.0,
        -0.5,
        3.5,
        f64::MIN_POSITIVE,
        -5e-324,
        1e-310,
        f64::MAX,
        0.1,
        f64::INFINITY,
        f64::NAN,
        1e-40,
        65504.0,
    ];
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        let x = floats(&values, dtype);
        let (mantissas, exponents) = x.frexp().unwrap();
        assert_eq!(exponents.dtype(), DType::I32);
        for ((x, mantissa), exponent) in items(&x).into_iter().zip(items(&mantissas)).zip(items(&exponents)) {
            if x == 0.0 || !x.is_finite() {
                assert!(exponent == 0.0 && (mantissa.to_bits() == x.to_bits() || x.is_nan()), "{dtype} {x}");
                continue;
            }
            assert!((0.5..1.0).contains(&mantissa.abs()), "{dtype} {x} {mantissa}");
            let half = 2_f64.powf((exponent / 2.0).trunc());
            assert_eq!(mantissa * half * 2_f64.powf(exponent - (exponent / 2.0).trunc()), x, "{dtype}");
        }
    }
}

#[test]
fn elements_in_reverse_order() {
    for channels in 1..=6 {
        for width in [1_usize, 2, 9] {
            let plain = numbers(&[2, channels, 3, width], DType::F32, 1);
            let all = items(&plain);
            for dtype in [DType::U8, DType::BF16, DType::F32, DType::F64, DType::C128] {
                let steps = numbers(&[2, channels, 3, 2 * width], DType::F32, 1).slice(3, None, None, 2).unwrap();
                for x in [plain.contiguous_in(MemoryFormat::CHANNELS_LAST).unwrap(), plain.clone(), steps] {
                    let (x, all) = (
                        x.abs().unwrap().to(dtype).unwrap(),
                        items(&x.abs().unwrap().to(dtype).unwrap().abs().unwrap()),
                    );
                    for dims in [&[1_i64][..], &[3], &[1, 3], &[0, 2]] {
                        let flipped = items(&x.flip(dims).unwrap().abs().unwrap());
                        let sizes = [2, channels, 3, width];
                        for (at, &got) in flipped.iter().enumerate() {
                            let (mut left, mut from, mut step) = (at, 0, 1);
                            for axis in (0..4).rev() {
                                let place = left % sizes[axis];
                                left /= sizes[axis];
                                from +=
                                    step * if dims.contains(&(axis as i64)) { sizes[axis] - 1 - place } else { place };
                                step *= sizes[axis];
                            }
                            assert_eq!(got, all[from], "{dtype} {channels} {width} {dims:?} {at}");
                        }
                    }
                }
            }
            assert_eq!(all.len(), plain.numel());
        }
    }
}

#[test]
fn images_stay_in_their_format() {
    let rows = numbers(&[2, 3, 4, 5], DType::F32, 1);
    let x = rows.contiguous_in(MemoryFormat::CHANNELS_LAST).unwrap();
    let is_so = |got: &AnyTensor, want: &AnyTensor| {
        assert!(got.equal(want).unwrap() && got.is_contiguous_in(MemoryFormat::CHANNELS_LAST) && want.is_contiguous());
    };
    for dim in 0..4 {
        is_so(&any::cat(&[x.clone(), x.clone()], dim).unwrap(), &any::cat(&[rows.clone(), rows.clone()], dim).unwrap());
        assert!(any::cat(&[x.clone(), rows.clone()], dim).unwrap().is_contiguous());
        is_so(&x.roll(&[1], &[dim]).unwrap(), &rows.roll(&[1], &[dim]).unwrap());
    }
    is_so(&x.roll(&[1, 2], &[1, 3]).unwrap(), &rows.roll(&[1, 2], &[1, 3]).unwrap());
    let amounts = [1, 2, 0, 3, 1, 1];
    let value = Some(ScalarValue::Float(2.5));
    is_so(&x.pad(&amounts, "constant", value).unwrap(), &rows.pad(&amounts, "constant", value).unwrap());
    assert!(x.pad(&[1, 1], "circular", None).is_err() || x.roll(&[3], &[]).unwrap().is_contiguous());
    let volume = numbers(&[2, 3, 2, 4, 5], DType::F32, 1);
    let last = volume.contiguous_in(MemoryFormat::CHANNELS_LAST_3D).unwrap();
    let both = any::cat(&[last.clone(), last], 2).unwrap();
    assert!(both.is_contiguous_in(MemoryFormat::CHANNELS_LAST_3D));
    assert!(both.equal(&any::cat(&[volume.clone(), volume], 2).unwrap()).unwrap());
    // Copies of which a part is overwritten have the tensor's layout.
    let turned = numbers(&[4, 6], DType::F32, 1).transpose(0, 1).unwrap();
    let overwritten = turned.select_scatter(&numbers(&[4], DType::F32, 2), 0, 1).unwrap();
    assert_eq!(overwritten.stride(), turned.stride());
    assert!(overwritten.select(0, 1).unwrap().equal(&numbers(&[4], DType::F32, 2)).unwrap());
}

#[test]
fn one_value_everywhere() {
    let x = numbers(&[2, 3, 20, 30], DType::F32, 1).contiguous_in(MemoryFormat::CHANNELS_LAST).unwrap();
    for (x, value) in [(x.clone(), 2.5), (x.narrow(0, 0, 0).unwrap(), 1.0), (x.select(0, 1).unwrap(), 0.0)] {
        let filled = x.fill(value).unwrap();
        assert!(filled.is_contiguous() && items(&filled).iter().all(|&item| item == value));
        let like = call("full_like", &Args::new().arg(&x).arg(value)).unwrap().tensor().unwrap();
        assert_eq!((like.shape(), items(&like)), (x.shape(), items(&filled)));
    }
    let like = call("ones_like", &Args::new().arg(&x)).unwrap().tensor().unwrap();
    assert!(
        like.is_contiguous_in(MemoryFormat::CHANNELS_LAST)
            && like.eq(1).unwrap().all(None, false).unwrap().item().unwrap() == ScalarValue::Bool(true)
    );
    let (ints, zero) = (numbers(&[600], DType::I32, 1), numbers(&[600], DType::F32, 1));
    for (name, holds) in [
        ("isfinite", true),
        ("isreal", true),
        ("isnan", false),
        ("isinf", false),
        ("isposinf", false),
        ("isneginf", false),
    ] {
        let answers = call(name, &Args::new().arg(&ints)).unwrap().tensor().unwrap();
        assert_eq!((answers.dtype(), items(&answers)), (DType::Bool, vec![f64::from(u8::from(holds)); 600]), "{name}");
        let answers = call(name, &Args::new().arg(&zero)).unwrap().tensor().unwrap();
        assert_eq!(items(&answers), vec![f64::from(u8::from(holds)); 600], "{name}");
    }
}

#[test]
fn tensors_that_differ_anywhere_are_not_equal() {
    for sizes in [&[1_usize][..], &[40], &[7, 5], &[1, 33], &[3, 2, 4]] {
        let x = numbers(sizes, DType::F32, 1);
        assert!(x.equal(&x.copy().unwrap()).unwrap(), "{sizes:?}");
        for at in 0..x.numel() {
            let mut bytes = x.to_bytes().unwrap();
            bytes[4 * at + 3] ^= 0x80;
            let other = AnyTensor::from_bytes(&bytes, DType::F32, sizes).unwrap();
            assert_eq!(x.equal(&other).unwrap(), items(&x)[at] == 0.0, "{sizes:?} {at}");
        }
    }
    let spread = numbers(&[1], DType::F32, 1).expand(&[50]).unwrap();
    assert!(spread.equal(&spread.copy().unwrap()).unwrap() && spread.equal(&spread).unwrap());
}

#[test]
fn blocks_beside_each_other() {
    let [a, b, none] = [numbers(&[2, 3], DType::I32, 1), numbers(&[2], DType::F32, 2), numbers(&[0, 2], DType::F32, 1)];
    let joined = any::block_diag(&[a.clone(), none, b.clone()]).unwrap();
    assert_eq!((joined.shape(), joined.dtype()), (&[3, 7][..], DType::F32));
    let (all, a, b) = (items(&joined), items(&a), items(&b));
    for (at, &got) in all.iter().enumerate() {
        let want = match (at / 7, at % 7) {
            (row @ 0..2, column @ 0..3) => a[row * 3 + column],
            (2, column @ 5..7) => b[column - 5],
            _ => 0.0,
        };
        assert_eq!(got, want, "{at}");
    }
    // Large, of short lines.
    let (a, b) = (numbers(&[8, 9], DType::F32, 1), numbers(&[61, 67], DType::F32, 2));
    let (product, a, b) = (items(&a.kron(&b).unwrap()), items(&a), items(&b));
    for (at, &got) in product.iter().enumerate() {
        let (row, column) = (at / (9 * 67), at % (9 * 67));
        assert_eq!(got, a[row / 61 * 9 + column / 67] * b[row % 61 * 67 + column % 67], "{at}");
    }
    let (x, powers) = (numbers(&[9, 5], DType::F32, 1), numbers(&[9, 1], DType::F32, 2));
    let spread = powers.expand(&[9, 5]).unwrap().copy().unwrap();
    assert!(x.ldexp(&powers).unwrap().equal(&x.ldexp(&spread).unwrap()).unwrap());
    let (x, powers) = (x.to(DType::I32).unwrap(), powers.to(DType::I32).unwrap());
    assert!(x.ldexp(&powers).unwrap().equal(&x.ldexp(spread.to(DType::I32).unwrap()).unwrap()).unwrap());
}

#[test]
fn sums_of_lgammas_by_terms() {
    for dtype in [DType::F32, DType::F64] {
        let x = numbers(&[7, 30], dtype, 1).add(40).unwrap();
        for p in [1, 2, 5, 64] {
            let typed = castiron::Tensor::<f64, castiron::shape![210]>::from_vec(items(&x));
            let want = typed.mvlgamma(p).to_vec();
            for (got, want) in items(&x.mvlgamma(p).unwrap()).into_iter().zip(want) {
                let most = if dtype == DType::F32 { 3e-6 } else { 1e-14 };
                assert!((got - want).abs() <= most * want.abs().max(100.0), "{dtype} {p}: {got} {want}");
            }
        }
        assert_eq!(x.transpose(0, 1).unwrap().mvlgamma(2).unwrap().stride(), [1, 30]);
    }
}
