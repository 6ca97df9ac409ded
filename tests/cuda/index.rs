//! Moving and indexing: the same code on the host and on a GPU gives the same elements and the same errors.

use crate::on_gpu;
use castiron::pad::{Constant, Reflect, Replicate};
use castiron::{
    Complex, Cpu, Cuda, Device, Element, Error, ScatterReduce, Shape, Tensor, axis, bf16, dim, s, shape, tensor,
};

type Matrix<E, D> = Tensor<E, shape![_, _], D>;
type Line<E, D> = Tensor<E, shape![_], D>;

/// Small numbers, most of them not zero, as elements of any dtype by `number`.
fn matrix<E: Element, D: Device>(sizes: [usize; 2], number: impl Fn(usize) -> E) -> Matrix<E, D> {
    let elements = (0..sizes[0] * sizes[1]).map(|at| number((at * 7 + at / 5) % 11)).collect();
    Matrix::<E, Cpu>::from_vec_sized(elements, sizes).to_device::<D>().unwrap()
}

fn line<E: Element, D: Device>(elements: Vec<E>) -> Line<E, D> {
    let len = elements.len();
    Line::<E, Cpu>::from_vec_sized(elements, [len]).to_device::<D>().unwrap()
}

fn host<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> String {
    let host = x.to_device::<Cpu>().unwrap();
    format!("{:?} {}", host.shape().as_ref(), crate::listed(&host.to_vec()))
}

/// Evaluates an expression with `D` as the host and as the GPU, and compares the lists of strings.
macro_rules! same {
    ($D:ident: $run:block) => {
        let on_host: Vec<String> = {
            type $D = Cpu;
            $run
        };
        let on_gpu: Vec<String> = {
            type $D = Cuda<0>;
            $run
        };
        assert_eq!(on_host.len(), on_gpu.len());
        for (at, (host, gpu)) in on_host.iter().zip(&on_gpu).enumerate() {
            assert_eq!(host, gpu, "result {at}");
        }
    };
}

/// Runs a block for an element type of each width.
macro_rules! every_width {
    ($E:ident, $number:ident: $run:block) => {{
        macro_rules! of {
            ($type:ty, $make:expr) => {{
                type $E = $type;
                let $number = $make;
                $run
            }};
        }
        of!(bool, |at: usize| at % 3 != 0);
        of!(bf16, |at: usize| bf16::from_f32(at as f32));
        of!(f32, |at: usize| at as f32 - 2.0);
        of!(Complex<f32>, |at: usize| Complex { re: at as f32, im: 1.0 });
        of!(Complex<f64>, |at: usize| Complex { re: at as f64, im: -1.0 });
    }};
}

#[test]
fn gathered_elements_are_those_of_the_host() {
    on_gpu!("index::gathered_elements_are_those_of_the_host", {
        every_width!(E, number: {
            same!(D: {
                let x: Matrix<E, D> = matrix([7, 50], number);
                let index: Matrix<i64, D> = matrix([5, 50], |at| at as i64 % 7);
                let wide: Matrix<i64, D> = matrix([3, 50], |at| at as i64 % 7 - 3);
                let list: Line<i64, D> = line(vec![6, 0, 0, 3]);
                vec![
                    host(&x.gather(axis![0], &index)),
                    host(&x.t().gather(axis![1], index.t())),
                    host(&x.index_select(axis![0], &list)),
                    host(&x.t().index_select(axis![1], &list)),
                    host(&x.slice(s![.., 3..20]).index_select(axis![-1], &list)),
                    host(&x.take_along_dim(&wide, axis![0])),
                    host(&x.take(&wide)),
                    host(&x.index_select(axis![0], &line::<i64, D>(vec![]))),
                ]
            });
        });
    });
}

#[test]
fn picked_elements_are_those_of_the_host() {
    on_gpu!("index::picked_elements_are_those_of_the_host", {
        every_width!(E, number: {
            same!(D: {
                let mut all = Vec::new();
                for sizes in [[3, 5], [40, 21], [1, 2], [5, 48]] {
                    let x: Matrix<E, D> = matrix(sizes, number);
                    all.push(host(&x.flip(axis![0, 1])));
                    all.push(host(&x.t().flip(axis![1])));
                    all.push(host(&x.roll(4)));
                    all.push(host(&x.roll_axis(axis![0, 1], [1, -2])));
                    all.push(host(&x.pad::<shape![2, 1, 0, 3], _>(Constant(number(5)))));
                    all.push(host(&x.repeat::<shape![2, 3]>()));
                    all.push(host(&x.repeat_interleave::<dim!(3), _>(axis![1])));
                }
                let wide: Matrix<E, D> = matrix([5, 48], number);
                all.push(host(&wide.slice(s![.., 1..33]).flip(axis![1])));
                all.push(host(&wide.slice(s![.., 16..48]).flip(axis![1])));
                all.push(host(&wide.roll_axis(axis![1], 16)));
                all.push(host(&wide.pad::<shape![20, 12], _>(Constant(number(5)))));
                let x: Matrix<E, D> = matrix([4, 6], number);
                all.push(host(&x.repeat_interleave_by(axis![0], &line::<i64, D>(vec![2, 0, 1, 3]))));
                let none: Matrix<E, D> = matrix([0, 6], number);
                all.push(host(&none.flip(axis![0])));
                all.push(host(&none.pad::<shape![1, 1, 2, 0], _>(Constant(number(5)))));
                all
            });
        });
        same!(D: {
            let x: Matrix<f32, D> = matrix([4, 6], |at| at as f32);
            vec![host(&x.pad::<shape![2, 1], _>(Reflect)), host(&x.pad::<shape![2, 1, 1, 3], _>(Replicate))]
        });
    });
}

#[test]
fn triangles_are_those_of_the_host() {
    on_gpu!("index::triangles_are_those_of_the_host", {
        every_width!(E, number: {
            same!(D: {
                let mut all = Vec::new();
                for sizes in [[3, 5], [30, 21], [0, 4]] {
                    let x: Matrix<E, D> = matrix(sizes, number);
                    for diagonal in [-2, 0, 3, isize::MAX, isize::MIN] {
                        all.push(host(&x.tril(diagonal)));
                        all.push(host(&x.t().triu(diagonal)));
                    }
                }
                let elements = (0..2 * 5 * 4).map(|at| number(at % 11)).collect();
                let stack: Tensor<E, shape![2, _, _]> = Tensor::from_vec_sized(elements, [2, 5, 4]);
                all.push(host(&stack.to_device::<D>().unwrap().triu(1)));
                all
            });
        });
    });
}

/// Of several elements at one place the last along the axis stays.
#[test]
fn scattered_elements_are_those_of_the_host() {
    on_gpu!("index::scattered_elements_are_those_of_the_host", {
        every_width!(E, number: {
            same!(D: {
                let x: Matrix<E, D> = matrix([7, 50], number);
                let source: Matrix<E, D> = matrix([9, 60], |at| number(10 - at));
                let index: Matrix<i64, D> = matrix([8, 40], |at| at as i64 % 7);
                let list: Line<i64, D> = line(vec![6, 0, 0, 3]);
                let rows: Matrix<E, D> = matrix([4, 50], |at| number(10 - at));
                let mut turned: Matrix<E, D> = matrix([40, 7], number).t().clone();
                turned.scatter_(axis![0], &index, &source);
                vec![
                    host(&x.scatter(axis![0], &index, &source)),
                    host(&x.t().scatter(axis![1], index.t(), source.t())),
                    host(&x.index_copy(axis![0], &list, &rows)),
                    host(&x.scatter(axis![0], &matrix::<i64, D>([0, 3], |_| 9), &source)),
                    host(&turned),
                ]
            });
        });
    });
}

#[test]
fn sums_at_indices_are_those_of_the_host() {
    on_gpu!("index::sums_at_indices_are_those_of_the_host", {
        // (Of floats as well: they are added in the order of the indices.)
        same!(D: {
            let x: Matrix<f32, D> = matrix([7, 50], |at| at as f32 / 3.0);
            let source: Matrix<f32, D> = matrix([9, 60], |at| at as f32 * 1e3);
            let index: Matrix<i64, D> = matrix([8, 40], |at| at as i64 % 7);
            let (list, rows) = (line::<i64, D>(vec![6, 0, 0, 3]), matrix::<f32, D>([4, 50], |at| at as f32));
            vec![
                host(&x.scatter_add(axis![0], &index, &source)),
                host(&x.t().scatter_add(axis![1], index.t(), source.t())),
                host(&x.index_add(axis![0], &list, &rows, 0.1)),
                host(&x.scatter_reduce(axis![0], &index, &source, ScatterReduce::Amax, false)),
                host(&x.scatter_reduce(axis![0], &index, &source, ScatterReduce::Mean, true)),
            ]
        });
        // Long lists of indices are sorted, by as many bytes as the axis has: one, two and three, and on both sides of a bound.
        for size in [200, 256, 257, 65_537] {
            same!(D: {
                let index: Line<i64, D> = line((0..5000).map(|at| at * 7919 % size).collect());
                let more: Line<f32, D> = line((0..5000).map(|at| at as f32 / 7.0).collect());
                vec![host(&Line::<f32, D>::zeros_sized([size as usize]).scatter_add(axis![0], &index, &more))]
            });
        }
        same!(D: {
            let x: Line<bool, D> = line(vec![false; 4]);
            let y: Line<i16, D> = line(vec![i16::MAX; 4]);
            let index: Line<i64, D> = line(vec![0, 2, 2]);
            vec![
                host(&x.scatter_add(axis![0], &index, &line::<bool, D>(vec![true, false, true]))),
                host(&y.scatter_add(axis![0], &index, &line::<i16, D>(vec![1, 2, 3]))),
            ]
        });
    });
}

/// Rows are moved in the largest words that their length, their place and their distance allow.
#[test]
fn gathered_rows_are_those_of_the_host() {
    on_gpu!("index::gathered_rows_are_those_of_the_host", {
        every_width!(E, number: {
            same!(D: {
                let list: Line<i64, D> = line((0..40).map(|at| at * 5 % 7).collect());
                let mut all = Vec::new();
                for columns in [1, 2, 3, 4, 6, 8, 16, 33] {
                    let x: Matrix<E, D> = matrix([7, columns + 1], number);
                    all.push(host(&x.index_select(axis![0], &list)));
                    all.push(host(&x.slice(s![.., 1..]).index_select(axis![0], &list)));
                    all.push(host(&x.slice(s![.., ..columns]).index_select(axis![0], &list)));
                }
                all
            });
        });
    });
}

/// Long lines: positions are sorted first. Of several elements at one place the last along the axis stays, and sums are formed in the order
/// of the indices.
#[test]
fn long_lines_are_scattered_as_on_the_host() {
    on_gpu!("index::long_lines_are_scattered_as_on_the_host", {
        every_width!(E, number: {
            same!(D: {
                let x: Line<E, D> = line((0..900).map(|at| number(at % 11)).collect());
                let source: Line<E, D> = line((0..3000).map(|at| number(at % 7)).collect());
                let index: Line<i64, D> = line((0..3000).map(|at| at * 77 % 890).collect());
                let rows: Matrix<E, D> = matrix([60, 9], number);
                let list: Line<i64, D> = line((0..60).map(|at| at * 7 % 13).collect());
                let lines: Matrix<i64, D> = matrix([4, 70], |at| at as i64 % 5);
                vec![
                    host(&x.scatter(axis![0], &index, &source)),
                    host(&matrix::<E, D>([13, 9], number).index_copy(axis![0], &list, &rows)),
                    host(&matrix::<E, D>([9, 13], number).index_copy(axis![1], &list, rows.t())),
                    host(&matrix::<E, D>([4, 5], number).scatter(axis![1], &lines, &matrix::<E, D>([5, 80], number))),
                ]
            });
        });
        same!(D: {
            let x: Line<f32, D> = line((0..900).map(|at| at as f32 / 3.0).collect());
            let source: Line<f32, D> = line((0..3000).map(|at| (at % 17) as f32 * 1e3).collect());
            let index: Line<i64, D> = line((0..3000).map(|at| at * 77 % 890).collect());
            let one: Line<i64, D> = line(vec![5; 3000]);
            let rows: Matrix<f32, D> = matrix([60, 9], |at| at as f32 / 7.0);
            let list: Line<i64, D> = line((0..60).map(|at| at * 7 % 13).collect());
            let lines: Matrix<i64, D> = matrix([4, 70], |at| at as i64 % 5);
            let wide = matrix::<f32, D>([5, 80], |at| at as f32 / 9.0);
            vec![
                host(&x.scatter_add(axis![0], &index, &source)),
                host(&x.scatter_add(axis![0], &one, &source)),
                host(&x.scatter_reduce(axis![0], &index, &source, ScatterReduce::Amin, true)),
                host(&matrix::<f32, D>([13, 9], |at| at as f32).index_add(axis![0], &list, &rows, 0.3)),
                host(&matrix::<f32, D>([9, 13], |at| at as f32).index_add(axis![1], &list, rows.t(), 0.3)),
                host(&matrix::<f32, D>([4, 5], |at| at as f32).scatter_add(axis![1], &lines, &wide)),
            ]
        });
    });
}

#[test]
fn selected_elements_are_those_of_the_host() {
    on_gpu!("index::selected_elements_are_those_of_the_host", {
        every_width!(E, number: {
            same!(D: {
                let mut all = Vec::new();
                for sizes in [[3, 5], [1, 4096], [90, 100], [0, 3]] {
                    let x: Matrix<E, D> = matrix(sizes, number);
                    let mask: Matrix<bool, D> = matrix(sizes, |at| at % 4 != 1);
                    all.push(host(&x.masked_select(&mask)));
                    all.push(host(&x.t().masked_select(mask.t())));
                    all.push(host(&x.masked_select(&matrix::<bool, D>([1, sizes[1]], |_| false))));
                    all.push(host(&mask.nonzero()));
                    all.push(host(&mask.t().nonzero()));
                }
                let x: Matrix<E, D> = matrix([90, 100], number);
                let mask: Matrix<bool, D> = matrix([90, 100], |at| at % 4 != 1);
                all.push(host(&x.slice(s![1..]).masked_select(mask.slice(s![1..]))));
                all.push(host(&x.reshape_sized::<shape![_, _, _]>([9, 50, 20]).nonzero()));
                all
            });
        });
    });
}

/// The errors are those of the host, and nothing is written.
#[test]
fn indices_out_of_range() {
    on_gpu!("index::indices_out_of_range", {
        fn said<T>(result: castiron::Result<T>) -> String {
            match result {
                Err(error @ Error::IndexValue { .. }) => format!("{error:?} {error}"),
                Err(error) => panic!("{error}"),
                Ok(_) => panic!("an index was out of range"),
            }
        }
        same!(D: {
            let mut x: Matrix<f32, D> = matrix([3, 4], |at| at as f32);
            let mut all = Vec::new();
            for wrong in [3, -1, i64::MIN, i64::MAX] {
                let index: Matrix<i64, D> =
                    Matrix::<i64, Cpu>::from_vec_sized(vec![0, 2, 1, wrong, 77, 0], [3, 2]).to_device().unwrap();
                let list: Line<i64, D> = line(vec![1, wrong]);
                let (source, rows) = (matrix::<f32, D>([3, 4], |_| 99.0), matrix::<f32, D>([2, 4], |_| 99.0));
                all.push(said(x.try_gather(axis![0], &index)));
                all.push(said(x.try_gather(axis![0], index.flip(axis![1]))));
                all.push(said(x.try_take_along_dim(&index.repeat::<shape![1, 2]>(), axis![0])));
                all.push(said(x.try_index_select(axis![0], &list)));
                all.push(said(x.try_scatter_(axis![0], &index, &source).map(|_| ())));
                all.push(said(x.try_scatter_add_(axis![0], &index, &source).map(|_| ())));
                all.push(said(x.try_index_copy_(axis![0], &list, &rows).map(|_| ())));
                all.push(host(&x));
            }
            let none: Matrix<f32, D> = matrix([0, 4], |_| 0.0);
            all.push(said(none.try_gather(axis![0], &matrix::<i64, D>([1, 2], |_| 0))));
            all
        });
        // From the end, where that is meant.
        let x = tensor![1.0, 2.0, 3.0].to_device::<Cuda<0>>().unwrap();
        let last = tensor![-1, -3].to_device::<Cuda<0>>().unwrap();
        assert_eq!(host(&x.take(&last)), "[2] [3.0, 1.0]");
    });
}
