//! Tensors over 1, 2, 4 and 5 ranks beside the same tensors of castiron, whole: every row of the tables, every move between placements.

use castiron::{Dim, Dtype, Dyn, Element, Float, Generator, Shape, Tensor, axis, dim, dims, shape};
use std::process::Command;

use castiron_mesh::{At, Dist, Edge, Mesh, MeshAxes, Pending, Result, Sum, Together, mesh, simulate};

mesh! { Ranks: Data }
mesh! { Grid: Rank, Model }
dims! { Rows, Columns, Others }

type Mine = At<Rows, Data>;

const RANKS: [usize; 4] = [1, 2, 4, 5];

/// Whole numbers, small and negative, in no order.
fn numbers(sizes: [usize; 2], step: usize) -> Tensor<i64, (Rows, Columns)> {
    Tensor::from_fn_sized(sizes, |[row, column]: [usize; 2]| ((row * 7 + column * 3) * step % 23) as i64 - 9)
}
fn floats(sizes: [usize; 2], step: usize) -> Tensor<f32, (Rows, Columns)> {
    numbers(sizes, step).to::<f32>() / 8.0
}

/// Runs a check on threads.
fn over_threads(check: fn(&mut Mesh<Ranks>)) {
    for ranks in RANKS {
        simulate::<Ranks, _>(ranks, &[0], check);
    }
}

/// What processes check, too.
const CHECKS: &[fn(&mut Mesh<Ranks>)] = &[
    each_unary_row,
    each_binary_row,
    sums_are_what_their_columns_say,
    each_reduction,
    each_edge,
    each_over,
    each_order,
];

/// The same as processes, where there is a launcher.
#[test]
fn over_processes() {
    let is_there = Command::new("mpirun").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        return eprintln!("NOTICE: no `mpirun`: ranks are threads alone");
    }
    for ranks in ["1", "2", "4"] {
        let mut mpirun = Command::new("mpirun");
        mpirun.args(["--oversubscribe", "-np", ranks]).arg(std::env::current_exe().unwrap());
        mpirun.args(["--exact", "as_a_rank", "--ignored", "--nocapture"]);
        mpirun.env("RAYON_NUM_THREADS", "1");
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            mpirun.env(name, "1");
        }
        let output = mpirun.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        // Each of the processes knew of the others.
        assert_eq!(said.matches(&format!("one of {ranks} ranks")).count().to_string(), ranks, "{said}");
    }
}

#[test]
#[ignore = "one of several processes, which `over_processes` starts"]
fn as_a_rank() {
    let mut mesh = Mesh::<Ranks>::join(&[0]).unwrap();
    println!("one of {} ranks", mesh.ranks());
    CHECKS.iter().for_each(|check| check(&mut mesh));
}

/// The elements as text, in which NaN is NaN.
fn text<E: Element, S: Shape>(x: &Tensor<E, S>) -> String {
    format!("{:?} {:?}", x.shape().as_ref(), x.to_vec())
}

#[track_caller]
fn same<E: Element, S: Shape, T: Shape>(what: &str, found: &Tensor<E, S>, expected: &Tensor<E, T>) {
    assert_eq!(text(found), text(expected), "{what}");
}

/// Each unary row, of rows that are cut.
macro_rules! unary_rows {
    ($($op:ident { $admits:ident $result:ident, $doc:literal, $torch:literal, $operand:literal = $elements:literal $(, $special:ident)* })*) => {
        fn each_unary_row(mesh: &mut Mesh<Ranks>) {
                $({
                    let x = unary_rows!(@of $admits 1);
                    let cut = Dist::<_, (Mine, Columns)>::distribute(mesh, &x).unwrap();
                    same(stringify!($op), &cut.$op().full_tensor(mesh).unwrap(), &x.$op());
                })*
        }
        /// The rows whose column says that they are linear, and those that are.
        fn linear_rows() -> (Vec<&'static str>, Vec<&'static str>) {
            let (mut said, mut are) = (Vec::new(), Vec::new());
            $({
                let (x, y) = (unary_rows!(@of $admits 1), unary_rows!(@of $admits 5));
                // (A mask is no number.)
                if unary_rows!(@is_number $result) && close(&(&x + &y).$op().to::<f64>(), &(x.$op() + y.$op()).to::<f64>()) {
                    are.push(stringify!($op));
                }
                $(if stringify!($special) == "linear" { said.push(stringify!($op)); })*
            })*
            (said, are)
        }
    };
    (@of bits $step:literal) => { numbers([7, 3], $step) };
    (@of $admits:ident $step:literal) => { floats([7, 3], $step) };
    (@is_number boolean) => { false };
    (@is_number mask) => { false };
    (@is_number $result:ident) => { true };
}
castiron::__unary_rows!(unary_rows);

fn close<S: Shape>(x: &Tensor<f64, S>, y: &Tensor<f64, S>) -> bool {
    x.iter().zip(y.iter()).all(|(x, y)| (x - y).abs() <= 1e-5 * (1.0 + y.abs()))
}

#[test]
fn unary_rows() {
    over_threads(each_unary_row);
}

#[test]
fn the_column_says_which_rows_are_linear() {
    let (said, are) = linear_rows();
    assert_eq!(said, are);
    assert!(said.len() >= 6, "{said:?}");
}

/// Each binary row: cut beside cut, cut beside whole, whole beside cut.
macro_rules! binary_rows {
    ($($op:ident { $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal, $left:literal $right:literal = $elements:literal $(, $special:ident)* })*) => {
        fn each_binary_row(mesh: &mut Mesh<Ranks>) {
                $({
                    let (x, y) = (binary_rows!(@of $admits 1), binary_rows!(@of $admits 5));
                    let row = y.narrow(axis![0], 1, 1).with_shape::<(dim!(1), Columns)>();
                    let cut = Dist::<_, (Mine, Columns)>::distribute(mesh, &x).unwrap();
                    let other = Dist::<_, (Mine, Columns)>::distribute(mesh, &y).unwrap();
                    let whole = Dist::same(mesh, row.clone()).unwrap();
                    let op = stringify!($op);
                    same(op, &cut.$op(&other).full_tensor(mesh).unwrap(), &x.$op(&y));
                    same(op, &cut.$op(&whole).full_tensor(mesh).unwrap(), &x.$op(&row));
                    same(op, &whole.$op(&cut).full_tensor(mesh).unwrap(), &row.$op(&x));
                })*
        }
    };
    // (Not divided by zero, nor shifted by more than there are bits.)
    (@of bits $step:literal) => { numbers([7, 3], $step).abs() + 1_i64 };
    (@of integer_pair $step:literal) => { numbers([7, 3], $step).abs() + 1_i64 };
    (@of $admits:ident $step:literal) => { floats([7, 3], $step) };
}
castiron::__binary_rows!(binary_rows);

#[test]
fn binary_rows() {
    over_threads(each_binary_row);
}

#[test]
fn sums_of_parts() {
    over_threads(sums_are_what_their_columns_say);
}
fn sums_are_what_their_columns_say(mesh: &mut Mesh<Ranks>) {
    let (x, y) = (floats([9, 3], 1), floats([9, 3], 5));
    let cut = |x: &Tensor<f32, (Rows, Columns)>| Dist::<f32, (Mine, Columns)>::distribute(mesh, x).unwrap();
    let whole = Dist::same(mesh, floats([1, 3], 2).select(axis![0], 0)).unwrap();
    let (a, b) = (cut(&x).sum_axis(axis![0]), cut(&y).sum_axis(axis![0]));
    let sum: Dist<f32, (Columns,), Pending<Sum, Data>> = &a + &b;
    let more = -((sum - &a * 2.0) * &whole / 4.0 - &b * 0.5);
    let (p, q) = (x.sum_axis(axis![0]), y.sum_axis(axis![0]));
    let expected = -((&p + &q - &p * 2.0) * whole.whole() / 4.0 - &q * 0.5);
    let found = more.all_reduce(mesh).unwrap();
    assert!(close(&found.whole().to(), &expected.to()));
}

/// Of cut axes, of whole ones, of both; of blocks that are empty.
#[test]
fn reductions() {
    over_threads(each_reduction);
}
fn each_reduction(mesh: &mut Mesh<Ranks>) {
    let ranks = mesh.ranks();
    for rows in [1, 3, 8] {
        let x = numbers([rows, 3], 1);
        let cut = Dist::<i64, (Mine, Columns)>::distribute(mesh, &x).unwrap();
        macro_rules! each {
                ($($all:ident $axis:ident)*) => {$(
                    let what = format!("{} of {rows} rows on {ranks}", stringify!($all));
                    same(&what, &cut.$all().settled(mesh).unwrap().into_whole(), &x.$all());
                    same(&what, &cut.$axis(axis![0]).all_reduce(mesh).unwrap().into_whole(), &x.$axis(axis![0]));
                    same(&what, &cut.$axis(axis![1]).full_tensor(mesh).unwrap(), &x.$axis(axis![1]));
                    let kept = cut.$axis(axis![0, 1].keepdim()).settled(mesh).unwrap();
                    same(&what, &kept.into_whole(), &x.$axis(axis![0, 1].keepdim()));
                )*};
            }
        each!(sum sum_axis prod prod_axis any any_axis all all_axis amax amax_axis amin amin_axis);
        let (x, cut) = (x.to::<f64>(), cut.to::<f64>());
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-12, "{x} {y}");
        near(cut.mean().all_reduce(mesh).unwrap().item(), x.mean().item());
        let columns = cut.mean_axis(axis![0]).all_reduce(mesh).unwrap();
        near(columns.whole()[(2,)], x.mean_axis(axis![0])[(2,)]);
        same("argmax", &cut.argmax_axis(axis![1]).full_tensor(mesh).unwrap(), &x.argmax_axis(axis![1]));
        same("softmax", &cut.softmax(axis![1]).full_tensor(mesh).unwrap(), &x.softmax(axis![1]));
        same("cumsum", &cut.cumsum(axis![1]).full_tensor(mesh).unwrap(), &x.cumsum(axis![1]));
        same("sort", &cut.sort(axis![1], true).0.full_tensor(mesh).unwrap(), &x.sort(axis![1], true).0);
        macro_rules! whole_axes {
            ($($name:ident($($argument:expr),*);)*) => {$(
                same(stringify!($name), &cut.$name($($argument),*).full_tensor(mesh).unwrap(), &x.$name($($argument),*));
            )*};
        }
        whole_axes! {
            cumprod(axis![1]);
            logcumsumexp(axis![1]);
            argsort(axis![1], false);
            var_axis(axis![1], 1);
            std_axis(axis![1].keepdim(), 0);
            logsumexp(axis![1]);
        }
        let weight = Tensor::<f64, (Columns,)>::from_fn_sized([3], |[at]| at as f64 - 0.5);
        let known = Dist::same(mesh, weight.clone()).unwrap();
        let normed = cut.layer_norm(Some(&known), Some(&known), 1e-5).full_tensor(mesh).unwrap();
        same("layer_norm", &normed, &x.layer_norm(Some(&weight), Some(&weight), 1e-5));
        let normed = cut.rms_norm(Some(&known), None).full_tensor(mesh).unwrap();
        same("rms_norm", &normed, &x.rms_norm(Some(&weight), None));
        // Rows are texts of one letter each.
        let (q, k) = (cut.unsqueeze(axis![1]), (&cut * 0.5).unsqueeze(axis![1]));
        let seen = q.scaled_dot_product_attention(&k, &q, castiron::nn::All, None);
        let (p, l) = (x.unsqueeze(axis![1]), (&x * 0.5).unsqueeze(axis![1]));
        let expected = p.scaled_dot_product_attention(&l, &p, castiron::nn::All, None);
        same("attention", &seen.full_tensor(mesh).unwrap(), &expected);
    }
}

/// Along axes that are cut: by small collectives.
#[test]
fn over_cut_axes() {
    over_threads(each_over);
}
fn each_over(mesh: &mut Mesh<Ranks>) {
    for columns in [1, 3, 11] {
        let mut x = floats([4, columns], 3);
        let near = |what: &str, found: Tensor<f32, (Rows, Columns)>, expected: Tensor<f32, (Rows, Columns)>| {
            assert!(close(&found.to(), &expected.to()), "{what} of {columns}: {found} beside {expected}");
        };
        let cut =
            |x: &Tensor<f32, (Rows, Columns)>| Dist::<f32, (Rows, At<Columns, Data>)>::distribute(mesh, x).unwrap();
        let whole = |x: Result<Dist<f32, (Rows, At<Columns, Data>)>>| x.unwrap().full_tensor(mesh).unwrap();
        let y = cut(&(&x * 100.0));
        near("softmax", whole(y.softmax_over(axis![1], mesh)), (&x * 100.0).softmax(axis![1]));
        near("log_softmax", whole(y.log_softmax_over(axis![1], mesh)), (&x * 100.0).log_softmax(axis![1]));
        near("cumsum", whole(cut(&x).cumsum_over(axis![1], mesh)), x.cumsum(axis![1]));
        let variance = cut(&x).var_over(axis![1], 0, mesh).unwrap().into_whole();
        let expected = x.var_axis(axis![1].keepdim(), 0);
        assert!(close(&variance.to(), &expected.to()), "{variance} beside {expected}");
        // Of equals the first; NaN before all.
        (x[(1, 0)], x[(1, columns - 1)], x[(2, columns / 2)]) = (9.0, 9.0, f32::NAN);
        same("argmax", cut(&x).argmax_over(axis![1], mesh).unwrap().whole(), &x.argmax_axis(axis![1]));
        let turned = Dist::<f32, (Mine, Columns)>::distribute(mesh, &x).unwrap();
        let counts = turned.sum_of_blocks(turned.block().isnan().to::<i64>().sum_axis(axis![0]));
        same("parts", counts.all_reduce(mesh).unwrap().whole(), &x.isnan().to::<i64>().sum_axis(axis![0]));
        let arriving = turned.begin_all_gather(axis![0], mesh).unwrap();
        same("arriving", &arriving.wait(mesh).unwrap().into_whole(), &x);
        let flat = turned.map_block(|block| block.unsqueeze(axis![1]));
        let _: &Dist<f32, (Mine, dim!(1), Columns)> = &flat;
        assert_eq!(flat.shape(), [4, 1, columns]);
        same("map_block", &flat.select(axis![1], 0).full_tensor(mesh).unwrap(), &x);
    }
}

/// Lists in order, with equals, NaN, and fewer elements than ranks.
#[test]
fn in_order() {
    over_threads(each_order);
}
fn each_order(mesh: &mut Mesh<Ranks>) {
    for size in [1, 3, 40, 500] {
        let mut x = floats([size, 1], 11).select(axis![1], 0);
        if size > 3 {
            x[size / 2] = f32::NAN;
        }
        let cut = Dist::<f32, (Mine,)>::distribute(mesh, &x).unwrap();
        let (sorted, places) = cut.sort_over(mesh).unwrap();
        let (expected, expected_places) = x.sort(axis![0], false);
        same("sort", &sorted.full_tensor(mesh).unwrap(), &expected);
        same("places", &places.full_tensor(mesh).unwrap(), &expected_places);
        let k = size.min(4);
        for largest in [false, true] {
            let (values, places) = cut.topk_over(k, largest, mesh).unwrap();
            same("topk", values.whole(), &x.topk_sized(axis![0], k, largest).0);
            let found: Vec<f32> = places.whole().iter().map(|&place| x[place as usize]).collect();
            assert_eq!(format!("{found:?}"), format!("{:?}", values.whole().to_vec()));
        }
        assert!(cut.topk_over(size + 1, true, mesh).is_err());
        let (values, counts) = cut.unique_over(mesh).unwrap();
        let (expected, _, expected_counts) = x.unique();
        same("unique", values.whole(), &expected);
        same("counts", counts.whole(), &expected_counts);
    }
}

/// A NaN that one rank has is the largest and the smallest of all.
#[test]
fn extremes_know_nan() {
    let found = simulate::<Ranks, _>(4, &[0], |mesh| {
        let x = Dist::<f32, (Mine,)>::from_fn(mesh, [8], |[row]| if row == 5 { f32::NAN } else { row as f32 }).unwrap();
        (x.amax().all_reduce(mesh).unwrap().item(), x.amin().all_reduce(mesh).unwrap().item())
    });
    assert!(found.iter().all(|(max, min)| max.is_nan() && min.is_nan()));
}

/// Every placement of a matrix from every other, over a mesh of two axes.
#[test]
fn placements() {
    type A = (At<Rows, Rank>, At<Columns, Model>);
    type B = (At<Rows, Model>, At<Columns, Rank>);
    type C = (At<Rows, Rank>, Columns);
    type D = (Rows, At<Columns, Rank>);
    type E = (Rows, Columns);
    for sizes in [[2, 2], [1, 4], [4, 1], [2, 3]] {
        simulate::<Grid, _>(sizes[0] * sizes[1], &sizes, |mesh| {
            let x = numbers([7, 5], 3);
            macro_rules! pairs {
                ($($from:ident)+; $to:tt) => { $(pairs!(@ $from $to);)+ };
                (@ $from:ident [$($to:ident)+]) => {$({
                    let from = Dist::<i64, $from>::distribute(mesh, &x).unwrap();
                    let to: Dist<i64, $to> = from.redistribute(mesh).unwrap();
                    let at_once = Dist::<i64, $to>::distribute(mesh, &x).unwrap();
                    same("redistribute", to.block(), at_once.block());
                    same("full_tensor", &to.full_tensor(mesh).unwrap(), &x);
                })+};
            }
            pairs!(A B C D E; [A B C D E]);
            let turned: Dist<i64, (Rows, At<Columns, Rank>)> =
                Dist::<i64, C>::distribute(mesh, &x).unwrap().all_to_all(axis![0], axis![1], mesh).unwrap();
            same("all_to_all", &turned.full_tensor(mesh).unwrap(), &x);
            let split: Dist<i64, A> = turned.t().t().all_gather(axis![1], mesh).unwrap().redistribute(mesh).unwrap();
            same("split", &split.full_tensor(mesh).unwrap(), &x);
        });
    }
}

/// Products whose rows, columns and inner axes are cut, over a mesh of two axes.
#[test]
fn products() {
    for sizes in [[2, 2], [1, 4], [3, 1]] {
        simulate::<Grid, _>(sizes[0] * sizes[1], &sizes, |mesh| {
            let x = numbers([6, 4], 1).to::<f64>();
            let up = numbers([4, 9], 3).to::<f64>().with_shape::<(Columns, Others)>();
            let down = numbers([9, 5], 5).to::<f64>().with_shape::<(Others, dim!(5))>();
            let whole = x.matmul(&up).relu().matmul(&down);
            let cut = Dist::<f64, (At<Rows, Rank>, Columns)>::distribute(mesh, &x).unwrap();
            let up = Dist::<f64, (Columns, At<Others, Model>)>::distribute(mesh, &up).unwrap();
            let down = Dist::<f64, (At<Others, Model>, dim!(5))>::distribute(mesh, &down).unwrap();
            let parts: Dist<f64, (At<Rows, Rank>, dim!(5)), Pending<Sum, Model>> = cut.matmul(&up).relu().matmul(&down);
            same("reduced", &parts.full_tensor(mesh).unwrap(), &whole);
            let scattered = parts.clone().reduce_scatter(axis![1], mesh).unwrap();
            let _: &Dist<f64, (At<Rows, Rank>, At<dim!(5), Model>)> = &scattered;
            same("scattered", &scattered.full_tensor(mesh).unwrap(), &whole);
            // Over both axes of the mesh, in their order, whichever was first.
            let all: Dist<f64, (), Pending<Sum, Rank, Pending<Sum, Model>>> = parts.sum();
            assert_eq!(all.clone().settled(mesh).unwrap().item(), whole.sum().item());
            let one = all.all_reduce::<Model, _, _>(mesh).unwrap();
            assert_eq!(one.all_reduce(mesh).unwrap().item(), whole.sum().item());
            let batch: Dist<f64, (dim!(1), At<Rows, Rank>, Columns)> = cut.unsqueeze(axis![0]);
            let sums = batch.matmul(&Dist::<f64, (Columns,)>::full(mesh, [4], 1.0).unwrap());
            assert_eq!(sums.shape(), [1, 6]);
            same("sums", &sums.select(axis![0], 0).full_tensor(mesh).unwrap(), &x.sum_axis(axis![1]));
        });
    }
}

/// The elements of other ranks that a block gets, on a cut second axis.
fn each_edge(mesh: &mut Mesh<Ranks>) {
    type Wide = (Columns, Dyn);
    let ranks = mesh.ranks();
    for edge in [Edge::None, Edge::Zeros, Edge::Periodic] {
        let x = numbers([11, 2], 3).t().with_shape::<(Columns, Rows)>();
        let cut = Dist::<i64, (Columns, Mine)>::distribute(mesh, &x).unwrap();
        let own = cut.block().shape()[1];
        if edge == Edge::None {
            let added = cut.with_halo(axis![1], [1, 2], edge, mesh, |wide| {
                Tensor::<i64, Wide>::full_sized([2, own], (wide.shape()[1] - own) as i64)
            });
            let added = added.unwrap().block().to_vec()[0];
            let each = Dist::<i64, (At<Others, Data>,)>::build(mesh, [ranks], |_| {
                Tensor::<i64, shape![_]>::try_full_sized([1], added)
            });
            assert_eq!(each.unwrap().sum().all_reduce(mesh).unwrap().item(), 3 * (ranks as i64 - 1));
            continue;
        }
        for (shift, start) in [(1, 0), (0, 1), (-1, 2), (-2, 3)] {
            let moved = cut.with_halo(axis![1], [1, 2], edge, mesh, |wide: &Tensor<i64, Wide>| {
                assert_eq!(wide.shape()[1], own + 3);
                wide.narrow(axis![1], start, own)
            });
            let mut expected = x.roll_axis(axis![1], shift);
            if edge == Edge::Zeros {
                for row in 0..2 {
                    (0..shift).for_each(|at| expected[(row, at as usize)] = 0);
                    (11 + shift.min(0)..11).for_each(|at| expected[(row, at as usize)] = 0);
                }
            }
            same(&format!("{edge:?} by {shift}"), &moved.unwrap().full_tensor(mesh).unwrap(), &expected);
        }
    }
}
#[test]
fn neighbours() {
    over_threads(each_edge);
    let refused = simulate::<Ranks, _>(4, &[0], |mesh| {
        let x = Dist::<f32, (Mine,)>::zeros(mesh, [6]).unwrap();
        x.with_halo(axis![0], [2, 0], Edge::Zeros, mesh, |wide: &Tensor<f32, shape![_]>| wide.clone()).is_err()
    });
    assert_eq!(refused, [true; 4]);
}

/// Numbers that are drawn depend neither on the number of ranks nor on the placement.
#[test]
fn random_numbers() {
    let drawn = |ranks, by_columns: bool| {
        let all = simulate::<Ranks, _>(ranks, &[0], |mesh| {
            let generator = &mut Generator::seeded(3);
            if by_columns {
                let x = Dist::<f32, (Rows, At<Columns, Data>)>::normal(mesh, [700, 5], 1.0, 2.0, generator).unwrap();
                text(&x.full_tensor(mesh).unwrap())
            } else {
                let x = Dist::<f32, (Mine, Columns)>::normal(mesh, [700, 5], 1.0, 2.0, generator).unwrap();
                text(&x.full_tensor(mesh).unwrap())
            }
        });
        all[0].clone()
    };
    let alone = drawn(1, false);
    assert!(drawn(3, false) == alone && drawn(4, true) == alone && drawn(5, true) == alone);
}

/// Several tensors, of several dtypes and sizes, by one call for each dtype and reduction; one that is large by its own.
#[test]
fn several_at_once() {
    let found = simulate::<Ranks, _>(3, &[0], |mesh| {
        let x = Dist::<f32, (Mine, dim!(2))>::from_fn(mesh, [9, 2], |[row, _]| row as f32).unwrap();
        let y = Dist::<i64, (Mine,)>::from_fn(mesh, [4], |[row]| row as i64).unwrap();
        let large = Dist::<f32, (Mine, Columns)>::full(mesh, [3, 300_000], 1.0).unwrap().sum_axis(axis![0]);
        let before = mesh.sent().calls;
        let (a, b, c, d) = (x.sum_axis(axis![0]), y.sum(), x.amax(), large).all_reduce_together(mesh).unwrap();
        assert_eq!(mesh.sent().calls - before, 4);
        let list = vec![x.sum(), x.mean()].all_reduce_together(mesh).unwrap();
        let both: [Dist<f32, ()>; 2] = [x.sum(), x.mean()].all_reduce_together(mesh).unwrap();
        let flat = (a.whole().to_vec(), b.item(), c.item(), d.whole().to_vec()[299_999]);
        (flat, list[1].item(), both[0].item())
    });
    assert_eq!(found[2], ((vec![36.0, 36.0], 6, 8.0, 3.0), 4.0, 72.0));
}

/// Sizes of all ranks together are compared, so that all ranks panic or none.
#[test]
fn sizes_that_differ_are_refused_on_all_ranks() {
    let refused = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x = Dist::<f32, (Mine,)>::zeros(mesh, [2]).unwrap();
        let y = Dist::<f32, (Mine,)>::zeros(mesh, [3]).unwrap();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| &x + &y)).is_err()
    });
    assert_eq!(refused, [true, true]);
    let error = simulate::<Ranks, Result<()>>(2, &[0], |mesh| {
        Dist::<f32, (Mine,)>::build(mesh, [5], |_| Tensor::<f32, shape![_]>::try_zeros_sized([1])).map(drop)
    });
    assert!(error.iter().all(Result::is_err));
}

/// A function for tensors that are cut in any way, or not at all.
fn scaled<E: Float, S: Shape, X: MeshAxes>(x: &Dist<E, S>, mesh: &Mesh<X>) -> Result<Dist<E, S>> {
    let largest = x.abs().amax().settled(mesh)?;
    Ok(x / &largest)
}
fn total<E: Float, N: Dim, M: Dim, X: MeshAxes>(x: &Dist<E, (N, M)>, mesh: &Mesh<X>) -> Result<Dist<E, (M,)>> {
    x.mean_axis(axis![0]).settled(mesh)
}
fn sum<E: Dtype, S: Shape>(x: &Dist<E, S>, y: &Dist<E, S>) -> Dist<E, S> {
    x + y
}

#[test]
fn generic_code() {
    let found = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x = floats([5, 2], 3);
        let cut = Dist::<f32, (Mine, Columns)>::distribute(mesh, &x).unwrap();
        let by_cut = total(&scaled(&sum(&cut, &cut), mesh).unwrap(), mesh).unwrap();
        let whole = Dist::same(mesh, x).unwrap();
        let by_whole = total(&scaled(&sum(&whole, &whole), mesh).unwrap(), mesh).unwrap();
        (by_cut.whole() - by_whole.whole()).abs().amax().item() < 1e-6
    });
    assert_eq!(found, [true, true]);
}
