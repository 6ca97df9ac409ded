//! What looks at examples, lines and matrices by themselves over 1, 2, 4 and 5 ranks, and what looks along cut axes, beside the same of whole
//! tensors.

use castiron::nn::{Conv, Nearest, Pool, Same};
use castiron::{Dyn, Element, Interpolation, Shape, Tensor, axis, dim, dims, shape};
use castiron_mesh::{At, Dist, Mesh, mesh, simulate};

mesh! { Ranks: Data }
mesh! { Grid: Down, Across }
dims! { Batch, Lines, Rows, Columns, Outs, Places }

const RANKS: [usize; 4] = [1, 2, 4, 5];
type Mine = At<Batch, Data>;
type Images = (Batch, dim!(4), Lines, Rows);

/// Eighths, in no order.
fn numbers<S: Shape>(sizes: S::Sizes, step: usize) -> Tensor<f32, S> {
    let len: usize = sizes.as_ref().iter().product();
    let list = (0..len).map(|at| ((at * 7 + at / 3) * step % 23) as f32 / 8.0 - 1.125).collect();
    Tensor::from_vec_sized(list, sizes)
}

#[track_caller]
fn near<S: Shape, T: Shape>(what: &str, found: &Tensor<f32, S>, expected: &Tensor<f32, T>) {
    assert_eq!(found.shape().as_ref(), expected.shape().as_ref(), "{what}");
    let far = |(x, y): (&f32, &f32)| !((x - y).abs() <= 1e-5 * (1.0 + y.abs()) || x.is_nan() && y.is_nan());
    let pairs = || found.iter().zip(expected.iter());
    assert!(!pairs().any(far), "{what}: {found} beside {expected}");
}
fn same<E: Element, S: Shape, T: Shape>(what: &str, found: &Tensor<E, S>, expected: &Tensor<E, T>) {
    let text = |sizes: &[usize], elements: &[E]| format!("{sizes:?} {elements:?}");
    let (x, y) = (text(found.shape().as_ref(), &found.to_vec()), text(expected.shape().as_ref(), &expected.to_vec()));
    assert_eq!(x, y, "{what}");
}

/// Each row with parameters; all rows of the table are here.
macro_rules! tuned {
    ($($op:ident($($argument:expr),*))*) => {
        fn each_tuned_row(mesh: &mut Mesh<Ranks>) {
            let x = numbers::<(Batch, Rows)>([7, 3], 3);
            let cut = Dist::<f32, (Mine, Rows)>::distribute(mesh, &x).unwrap();
            $(same(stringify!($op), &cut.$op($($argument),*).full_tensor(mesh).unwrap(), &x.$op($($argument),*));)*
        }
        const CALLED: &[&str] = &[$(stringify!($op)),*];
    };
}
tuned! {
    elu(1.5) celu(1.5) softplus(1, 20) softshrink(0.5) hardshrink(0.5) hardtanh(-1, 0.5) leaky_relu(0.1) threshold(0.5, -1)
    logit(Some(0.01)) nan_to_num(0.0, None, None) round_decimals(1) polygamma(1) mvlgamma(1)
}
macro_rules! names {
    ($($op:ident { $($rest:tt)* })*) => { const TABLE: &[&str] = &[$(stringify!($op)),*]; };
}
castiron::__tuned_rows!(names);

#[test]
fn rows_with_parameters() {
    assert_eq!(CALLED, TABLE);
    for ranks in RANKS {
        simulate::<Ranks, _>(ranks, &[0], each_tuned_row);
    }
}

/// Of pictures whose batch is cut.
#[test]
fn examples_are_whole() {
    let x = numbers::<(Batch, dim!(4), dim!(8), dim!(6))>([7, 4, 8, 6], 1);
    let weight = numbers::<shape![6, 4, 3, 3]>([6, 4, 3, 3], 5);
    let each = numbers::<shape![4, 1, 5, 5]>([4, 1, 5, 5], 3);
    let bias = numbers::<shape![6]>([6], 2);
    let scale = numbers::<shape![4]>([4], 3);
    let level = &scale + 2.0;
    for ranks in RANKS {
        simulate::<Ranks, _>(ranks, &[0], |mesh| {
            let cut = Dist::<f32, (Mine, dim!(4), dim!(8), dim!(6))>::distribute(mesh, &x).unwrap();
            let w = Dist::same(mesh, weight.clone()).unwrap();
            let each_channel = Dist::same(mesh, each.clone()).unwrap();
            let b = Dist::same(mesh, bias.clone()).unwrap();
            let (s, l) = (Dist::same(mesh, scale.clone()).unwrap(), Dist::same(mesh, level.clone()).unwrap());
            macro_rules! beside {
                ($($what:literal: $found:expr, $expected:expr;)*) => {$(
                    near($what, &$found.full_tensor(mesh).unwrap(), &$expected);
                )*};
            }
            let padded = Conv::new().padding::<dim!(1)>();
            let halved = Conv::new().stride::<dim!(2)>();
            let grouped = Conv::new().groups::<dim!(4)>();
            let pool = Pool::<dim!(2)>::new();
            beside! {
                "conv2d": cut.conv2d(&w, Some(&b), padded), x.conv2d(&weight, Some(&bias), padded);
                "stride": cut.conv2d(&w, None, halved), x.conv2d(&weight, None, halved);
                "groups": cut.conv2d(&each_channel, None, grouped), x.conv2d(&each, None, grouped);
                "max_pool2d": cut.max_pool2d(pool), x.max_pool2d(pool);
                "avg_pool2d": cut.avg_pool2d(pool), x.avg_pool2d(pool);
                "group_norm": cut.group_norm::<dim!(2), _, _>(&s, (), 1e-5), x.group_norm::<dim!(2), _, _>(&scale, (), 1e-5);
                "instance_norm": cut.instance_norm((), &s, 1e-5), x.instance_norm((), &scale, 1e-5);
                "batch_norm": cut.batch_norm(&s, &l, &l, &s, 1e-5), x.batch_norm(&scale, &level, &level, &scale, 1e-5);
                "local_response_norm": cut.local_response_norm(3, 1.0, 0.5, 1.0), x.local_response_norm(3, 1.0, 0.5, 1.0);
                "channel_shuffle": cut.channel_shuffle::<dim!(2)>(), x.channel_shuffle::<dim!(2)>();
                "interpolate": cut.interpolate::<shape![5, 9]>(Nearest {}), x.interpolate::<shape![5, 9]>(Nearest {});
                "glu": cut.glu(axis![1]), x.glu(axis![1]);
                "diff": cut.diff(axis![3], 2), x.diff(axis![3], 2);
                "flip": cut.flip(axis![2, 3]), x.flip(axis![2, 3]);
                "roll_axis": cut.roll_axis(axis![2], 3), x.roll_axis(axis![2], 3);
                "normalize": cut.normalize(axis![1], 2.0, 1e-12), x.normalize(axis![1], 2.0, 1e-12);
                "quantile_axis": cut.quantile_axis(axis![2], 0.3, Interpolation::Linear), x.quantile_axis(axis![2], 0.3, Interpolation::Linear);
                "adaptive_max_pool2d": cut.adaptive_max_pool2d::<shape![3, 2]>(), x.adaptive_max_pool2d::<shape![3, 2]>();
                "adaptive_avg_pool2d": cut.adaptive_avg_pool2d::<shape![1, 1]>(), x.adaptive_avg_pool2d::<shape![1, 1]>();
                "tril": cut.tril(1), x.tril(1);
                "triu": cut.triu(-1), x.triu(-1);
            }
            macro_rules! pairs {
                ($($name:ident($($argument:expr),*);)*) => {$({
                    let ((found, places), (expected, expected_places)) = (cut.$name($($argument),*), x.$name($($argument),*));
                    same(stringify!($name), &found.full_tensor(mesh).unwrap(), &expected);
                    same(stringify!($name), &places.full_tensor(mesh).unwrap(), &expected_places);
                })*};
            }
            pairs! {
                topk_sized(axis![3], 2, true);
                kthvalue(axis![2].keepdim(), 3);
                mode(axis![1]);
                median_axis(axis![3]);
                nanmedian_axis(axis![2]);
                frexp();
            }
            let hot = cut.gt(0.0).to::<i64>();
            same("one_hot", &hot.one_hot_sized(3).full_tensor(mesh).unwrap(), &x.gt(0.0).to::<i64>().one_hot_sized(3));
            let labels =
                Tensor::<i64, (Batch, dim!(8), dim!(6))>::from_fn_sized([7, 8, 6], |[n, row, column]: [usize; 3]| {
                    ((n + row * column) % 4) as i64
                });
            let l = Dist::<i64, (Mine, dim!(8), dim!(6))>::distribute(mesh, &labels).unwrap();
            let expected = x.cross_entropy(&labels, &scale, 2, 0.1, castiron::reduction::Unreduced);
            near("cross_entropy", &cut.cross_entropy(&l, &s, 2, 0.1).full_tensor(mesh).unwrap(), &expected);
            let shuffled = cut.pixel_shuffle::<dim!(2), _>();
            beside! {
                "pixel_shuffle": shuffled, x.pixel_shuffle::<dim!(2), _>();
                "pixel_unshuffle": shuffled.pixel_unshuffle::<dim!(2), _>(), x;
            }
        });
    }
}

/// Channels standardised over batches and pictures that are cut, on ranks without any of them, too.
#[test]
fn channels_of_all_ranks() {
    let x = numbers::<Images>([3, 4, 7, 5], 1) * 3.0 + 2.0;
    let (scale, level) = (numbers::<shape![4]>([4], 3), numbers::<shape![4]>([4], 5));
    let (mean, variance) = (x.mean_axis(axis![0, 2, 3]), x.var_axis(axis![0, 2, 3], 0));
    let expected = x.batch_norm(&mean, &variance, &scale, &level, 1e-5);
    let rows = x.select(axis![3], 0).select(axis![2], 0);
    let rows_expected = rows.batch_norm(&rows.mean_axis(axis![0]), &rows.var_axis(axis![0], 0), (), (), 1e-5);
    for ranks in RANKS {
        simulate::<Ranks, _>(ranks, &[0], |mesh| {
            let (s, l) = (Dist::same(mesh, scale.clone()).unwrap(), Dist::same(mesh, level.clone()).unwrap());
            let cut = Dist::<f32, (Mine, dim!(4), Lines, Rows)>::distribute(mesh, &x).unwrap();
            let (found, means, variances) = cut.batch_norm_over(Some(&s), Some(&l), 1e-5, mesh).unwrap();
            near("batch", &found.full_tensor(mesh).unwrap(), &expected);
            near("means", means.whole(), &mean);
            near("variances", variances.whole(), &variance);
            let cut = Dist::<f32, (Batch, dim!(4), Lines, At<Rows, Data>)>::distribute(mesh, &x).unwrap();
            let found = cut.batch_norm_over(Some(&s), Some(&l), 1e-5, mesh).unwrap().0;
            near("width", &found.full_tensor(mesh).unwrap(), &expected);
            let cut = Dist::<f32, (Mine, dim!(4))>::distribute(mesh, &rows).unwrap();
            let found = cut.batch_norm_over(None, None, 1e-5, mesh).unwrap().0;
            near("rows", &found.full_tensor(mesh).unwrap(), &rows_expected);
        });
    }
}

/// Lines and volumes; channels that are made are cut; what features and tables have.
#[test]
fn other_ranks_and_channels() {
    let x = numbers::<(Batch, dim!(3), Dyn)>([5, 3, 12], 1);
    let volume = numbers::<(Batch, dim!(2), Dyn, Dyn, Dyn)>([5, 2, 4, 6, 4], 1);
    let narrow = numbers::<(Outs, dim!(3), dim!(3))>([6, 3, 3], 5);
    let cube = numbers::<shape![2, 2, 3, 3, 3]>([2, 2, 3, 3, 3], 5);
    let bias = numbers::<(Outs,)>([6], 2);
    let rows = numbers::<(Batch, dim!(3))>([5, 3], 1);
    let weight = numbers::<(Outs, dim!(3))>([6, 3], 4);
    let table = numbers::<(Places, dim!(3))>([9, 3], 4);
    let index = Tensor::<i64, (Batch, Lines)>::from_fn_sized([5, 2], |[row, column]: [usize; 2]| {
        ((row * 4 + column) % 9) as i64
    });
    for ranks in RANKS {
        simulate::<Ranks, _>(ranks, &[0], |mesh| {
            let cut = Dist::<f32, (Mine, dim!(3), Dyn)>::distribute(mesh, &x).unwrap();
            let whole = Dist::same(mesh, x.clone()).unwrap();
            let w = Dist::same(mesh, narrow.clone()).unwrap();
            let b = Dist::same(mesh, bias.clone()).unwrap();
            let own = Dist::<f32, (At<Outs, Data>, dim!(3), dim!(3))>::distribute(mesh, &narrow).unwrap();
            let own_bias = Dist::<f32, (At<Outs, Data>,)>::distribute(mesh, &bias).unwrap();
            let expected = x.conv1d(&narrow, Some(&bias), Conv::new());
            near("conv1d", &cut.conv1d(&w, Some(&b), Conv::new()).full_tensor(mesh).unwrap(), &expected);
            let channels: Dist<f32, (Batch, At<Outs, Data>, Dyn)> = whole.conv1d(&own, Some(&own_bias), Conv::new());
            near("channels", &channels.full_tensor(mesh).unwrap(), &expected);
            let pool = Pool::<dim!(3)>::new();
            near("max_pool1d", &cut.max_pool1d(pool).full_tensor(mesh).unwrap(), &x.max_pool1d(pool));
            near("avg_pool1d", &channels.avg_pool1d(pool).full_tensor(mesh).unwrap(), &expected.avg_pool1d(pool));

            let cut = Dist::<f32, (Mine, dim!(2), Dyn, Dyn, Dyn)>::distribute(mesh, &volume).unwrap();
            let w = Dist::same(mesh, cube.clone()).unwrap();
            near(
                "conv3d",
                &cut.conv3d(&w, None, Conv::new()).full_tensor(mesh).unwrap(),
                &volume.conv3d(&cube, None, Conv::new()),
            );
            let pool = Pool::<dim!(2)>::new();
            near("max_pool3d", &cut.max_pool3d(pool).full_tensor(mesh).unwrap(), &volume.max_pool3d(pool));
            near("avg_pool3d", &cut.avg_pool3d(pool).full_tensor(mesh).unwrap(), &volume.avg_pool3d(pool));

            let cut = Dist::<f32, (Mine, dim!(3))>::distribute(mesh, &rows).unwrap();
            let features = Dist::<f32, (At<Outs, Data>, dim!(3))>::distribute(mesh, &weight).unwrap();
            let expected = rows.linear(&weight, Some(&bias));
            let w = Dist::same(mesh, weight.clone()).unwrap();
            near("linear", &cut.linear(&w, Some(&b)).full_tensor(mesh).unwrap(), &expected);
            let wide = Dist::same(mesh, rows.clone()).unwrap().linear(&features, Some(&own_bias));
            near("features", &wide.full_tensor(mesh).unwrap(), &expected);
            let t = Dist::same(mesh, table.clone()).unwrap();
            let i = Dist::<i64, (Mine, Lines)>::distribute(mesh, &index).unwrap();
            near("embedding", &t.embedding(&i).full_tensor(mesh).unwrap(), &table.embedding(&index));
        });
    }
}

/// Pictures that are cut along their height, along both axes, lines and volumes along one.
#[test]
fn windows_over_cut_axes() {
    let x = numbers::<Images>([2, 4, 11, 13], 1);
    let three = numbers::<(Outs, dim!(4), dim!(3), dim!(3))>([6, 4, 3, 3], 5);
    let even = numbers::<shape![2, 4, 2, 4]>([2, 4, 2, 4], 5);
    let each = numbers::<shape![4, 1, 3, 3]>([4, 1, 3, 3], 5);
    let bias = numbers::<(Outs,)>([6], 2);
    let same_size = Conv::new().padding::<Same>();
    let far = same_size.dilation::<dim!(2)>();
    let grouped = same_size.groups::<dim!(4)>();
    for ranks in RANKS {
        simulate::<Ranks, _>(ranks, &[0], |mesh| {
            let cut = Dist::<f32, (Batch, dim!(4), At<Lines, Data>, Rows)>::distribute(mesh, &x).unwrap();
            let (w, b) = (Dist::same(mesh, three.clone()).unwrap(), Dist::same(mesh, bias.clone()).unwrap());
            let (e, g) = (Dist::same(mesh, even.clone()).unwrap(), Dist::same(mesh, each.clone()).unwrap());
            let found = cut.conv2d_over(&w, Some(&b), same_size, mesh).unwrap();
            let _: &Dist<f32, (Batch, Outs, At<Lines, Data>, Rows)> = &found;
            near("3 x 3", &found.full_tensor(mesh).unwrap(), &x.conv2d(&three, Some(&bias), same_size));
            let found = cut.conv2d_over(&w, None, far, mesh).unwrap();
            near("dilation", &found.full_tensor(mesh).unwrap(), &x.conv2d(&three, None, far));
            let found = cut.conv2d_over(&e, None, same_size, mesh).unwrap();
            near("2 x 4", &found.full_tensor(mesh).unwrap(), &x.conv2d(&even, None, same_size));
            let found = cut.conv2d_over(&g, None, grouped, mesh).unwrap();
            near("groups", &found.full_tensor(mesh).unwrap(), &x.conv2d(&each, None, grouped));
        });
    }
    for sizes in [[2, 2], [1, 4], [3, 1]] {
        simulate::<Grid, _>(sizes[0] * sizes[1], &sizes, |mesh| {
            let cut = Dist::<f32, (Batch, dim!(4), At<Lines, Down>, At<Rows, Across>)>::distribute(mesh, &x).unwrap();
            let w = Dist::same(mesh, three.clone()).unwrap();
            let found = cut.conv2d_over(&w, None, far, mesh).unwrap();
            near("both axes", &found.full_tensor(mesh).unwrap(), &x.conv2d(&three, None, far));
        });
    }
    let line = numbers::<(Batch, dim!(3), Lines)>([3, 3, 17], 1);
    let narrow = numbers::<shape![2, 3, 5]>([2, 3, 5], 5);
    let volume = numbers::<(Batch, dim!(2), Lines, Rows, Columns)>([2, 2, 3, 11, 4], 1);
    let cube = numbers::<shape![2, 2, 3, 3, 3]>([2, 2, 3, 3, 3], 5);
    for ranks in RANKS {
        simulate::<Ranks, _>(ranks, &[0], |mesh| {
            let cut = Dist::<f32, (Batch, dim!(3), At<Lines, Data>)>::distribute(mesh, &line).unwrap();
            let w = Dist::same(mesh, narrow.clone()).unwrap();
            let found = cut.conv1d_over(&w, None, same_size, mesh).unwrap();
            near("lines", &found.full_tensor(mesh).unwrap(), &line.conv1d(&narrow, None, same_size));
            let cut = Dist::<f32, (Batch, dim!(2), Lines, At<Rows, Data>, Columns)>::distribute(mesh, &volume).unwrap();
            let w = Dist::same(mesh, cube.clone()).unwrap();
            let found = cut.conv3d_over(&w, None, same_size, mesh).unwrap();
            near("volumes", &found.full_tensor(mesh).unwrap(), &volume.conv3d(&cube, None, same_size));
        });
    }
    // A block smaller than what a window reaches beyond it.
    let refused = simulate::<Ranks, _>(8, &[0], |mesh| {
        let cut = Dist::<f32, (Batch, dim!(4), At<Lines, Data>, Rows)>::distribute(mesh, &x).unwrap();
        cut.conv2d_over(&Dist::same(mesh, three.clone()).unwrap(), None, far, mesh).is_err()
    });
    assert_eq!(refused, [true; 8]);
}

/// Quantiles, medians and histograms over cut axes: with NaN, equals, and fewer elements than ranks.
#[test]
fn places_in_the_order_of_all() {
    for (ranks, lines) in RANKS.into_iter().flat_map(|ranks| [(ranks, 1), (ranks, 3), (ranks, 40)]) {
        simulate::<Ranks, _>(ranks, &[0], |mesh| {
            let mut x = numbers::<(Rows, Lines, Columns)>([2, lines, 3], 11);
            x[(1, lines / 2, 2)] = f32::NAN;
            x[(0, lines - 1, 0)] = f32::NEG_INFINITY;
            let cut = Dist::<f32, (Rows, At<Lines, Data>, Columns)>::distribute(mesh, &x).unwrap();
            use Interpolation::{Higher, Linear, Lower, Midpoint, Nearest};
            for (q, how) in [
                (0.0, Linear),
                (0.3, Linear),
                (0.5, Midpoint),
                (0.77, Lower),
                (0.6, Higher),
                (0.9, Nearest),
                (1.0, Linear),
            ] {
                let found = cut.quantile_over(axis![1], q, how, mesh).unwrap();
                same(&format!("{q} {how:?} of {lines} on {ranks}"), found.whole(), &x.quantile_axis(axis![1], q, how));
            }
            assert!(cut.quantile_over(axis![1], 1.5, Linear, mesh).is_err());
            same("median", cut.median_over(axis![1], mesh).unwrap().whole(), &x.median_axis(axis![1]).0);
            let wide = x.to::<f64>() * -1.7;
            let found = Dist::<f64, (Rows, At<Lines, Data>, Columns)>::distribute(mesh, &wide).unwrap();
            let quantile = found.quantile_over(axis![1], 0.3, Linear, mesh).unwrap();
            same("f64", quantile.whole(), &wide.quantile_axis(axis![1], 0.3, Linear));
            macro_rules! integers {
                ($($dtype:ident)*) => {$({
                    let x = (x.nan_to_num(0.0, None, Some(-2.0)) * 20.0).to::<$dtype>();
                    let cut = Dist::<$dtype, (Rows, At<Lines, Data>, Columns)>::distribute(mesh, &x).unwrap();
                    same(stringify!($dtype), cut.median_over(axis![1], mesh).unwrap().whole(), &x.median_axis(axis![1]).0);
                })*};
            }
            integers!(i8 i32 i64);

            let x = numbers::<(Rows, Lines)>([2, lines], 11);
            let cut = Dist::<f32, (Rows, At<Lines, Data>)>::distribute(mesh, &x).unwrap();
            for range in [None, Some([-1.0, 0.5])] {
                let (counts, edges) = cut.histogram_over(5, range, mesh).unwrap();
                let (expected, expected_edges) = x.histogram(5, range, None, false);
                same("counts", counts.whole(), &expected);
                same("edges", edges.whole(), &expected_edges);
            }
            assert!(cut.histogram_over(0, None, mesh).is_err());
        });
    }
    // Nothing has no median.
    let refused = simulate::<Ranks, _>(2, &[0], |mesh| {
        Dist::<f32, (At<Lines, Data>,)>::zeros(mesh, [0]).unwrap().median_over(axis![0], mesh).is_err()
    });
    assert_eq!(refused, [true, true]);
}

/// A factor between sizes is stated, on ranks without elements, too; blocks that are none are refused.
#[test]
fn sizes_that_are_stated() {
    type Frames = Dist<f32, (At<Lines, Data>, dim!(3))>;
    let frames = |ranks, samples, count| {
        simulate::<Ranks, _>(ranks, &[0], |mesh| {
            let x = Dist::<f32, (At<Places, Data>,)>::from_fn(mesh, [samples], |[at]| at as f32).unwrap();
            let frames: castiron_mesh::Result<Frames> = x
                .map_block_sized([count, 3], mesh, |block| block.reshape_sized::<shape![_, 3]>([block.numel() / 3, 3]));
            frames.map(|frames| frames.full_tensor(mesh).unwrap().to_vec())
        })
    };
    let expected: Vec<f32> = (0..12).map(|at| at as f32).collect();
    for ranks in [1, 2, 4] {
        assert!(frames(ranks, 12, 4).into_iter().all(|found| found.as_ref() == Ok(&expected)));
    }
    assert!(frames(4, 0, 0).into_iter().all(|found| found == Ok(Vec::new())));
    assert!(frames(2, 12, 6).into_iter().all(|found| found.is_err()));
}
