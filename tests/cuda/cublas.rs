//! cublasLt: which products are passed to it and how often, and what happens if it refuses, fails or is missing.
//!
//! These tests count calls of the pretend libraries; `product` compares results.

use crate::on_pretend;
use crate::pretend::{self, Installed, within};
use crate::product::{filled, host};
use castiron::{Complex, Cpu, Cuda, Device, Dtype, Error, Numeric, Tensor, axis, bf16, device, f16, ops, s, shape};

type Matrix<E, D = Cuda<0>> = Tensor<E, shape![_, _], D>;
type Batch<E, D = Cuda<0>> = Tensor<E, shape![_, _, _], D>;
type Heads<E, D = Cuda<0>> = Tensor<E, shape![_, _, _, _], D>;

fn matrix<E: Dtype>(rows: usize, columns: usize) -> Matrix<E> {
    filled([rows, columns])
}

fn on_host(rows: usize, columns: usize) -> Matrix<f32, Cpu> {
    filled([rows, columns])
}

/// How often cublasLt multiplied while something was done, and how often a kernel was launched.
fn calls<T>(work: impl FnOnce() -> T) -> (usize, usize) {
    let counts = || (pretend::count("blas matmul"), pretend::count("launch"));
    let before = counts();
    drop(work());
    let after = counts();
    (after.0 - before.0, after.1 - before.1)
}

#[test]
fn which_products_it_is_asked_for() {
    on_pretend!("cublas::which_products_it_is_asked_for", {
        fn of<E: Numeric>() -> (usize, usize) {
            let (a, b) = (matrix::<E>(4, 8), matrix::<E>(8, 5));
            calls(|| a.matmul(&b))
        }
        assert_eq!([of::<f16>(), of::<bf16>(), of::<f32>(), of::<f64>()], [(1, 0); 4]);
        assert_eq!([of::<Complex<f32>>(), of::<Complex<f64>>()], [(1, 0); 2]);
        assert_eq!([of::<i8>(), of::<u8>(), of::<i32>(), of::<i64>(), of::<Complex<f16>>()], [(0, 1); 5]);
        // Rows and columns with gaps are taken as they are.
        let (a, b) = (matrix::<f32>(9, 8), matrix::<f32>(8, 9));
        assert_eq!(calls(|| b.t().matmul(&a.t())), (1, 0));
        assert_eq!(calls(|| a.narrow(axis![1], 3, 4).matmul(&b.narrow(axis![0], 1, 4))), (1, 0));
        assert_eq!(calls(|| a.matmul(&b.select(axis![1], 2))), (1, 0));
        // Every other element: our own kernel reads a few, and many are packed.
        assert_eq!(calls(|| a.slice::<_, shape![_, _]>(s![.., ..;2]).matmul(b.narrow(axis![0], 1, 4))), (0, 1));
        let large = matrix::<f32>(260, 260);
        let sparse: Matrix<f32> = large.slice(s![..;2, ..;2]);
        assert_eq!(calls(|| sparse.matmul(&sparse)), (1, 2));
        let sparse_host: Matrix<f32, Cpu> = on_host(260, 260).slice(s![..;2, ..;2]);
        assert_eq!(host(&sparse.matmul(&sparse)), host(&sparse_host.matmul(&sparse_host)));
        // A long sum of two vectors is ours, in two launches.
        let line: Tensor<f32, shape![_], Cuda<0>> = filled([2000]);
        assert_eq!(calls(|| line.dot(&line)), (0, 2));
        assert_eq!(calls(|| line.narrow(axis![0], 0, 1000).dot(line.narrow(axis![0], 500, 1000))), (1, 0));
        // Nothing to add up, nothing to do.
        assert_eq!(calls(|| matrix::<f32>(3, 0).matmul(&matrix::<f32>(0, 2))), (0, 1));
        assert_eq!(calls(|| matrix::<f32>(0, 3).matmul(&matrix::<f32>(3, 2))), (0, 0));
    });
}

/// Bytes with sums of 32 bits: taken where the sums run along memory, packed where it is worth it, else ours.
#[test]
fn products_of_bytes() {
    on_pretend!("cublas::products_of_bytes", {
        fn pair<D: Device>(m: usize, k: usize, n: usize) -> (Matrix<i8, D>, Matrix<i8, D>) {
            let value = |at: usize| (at * 37 % 251) as u8 as i8;
            let made = |sizes: [usize; 2]| -> Matrix<i8, D> {
                let all: Matrix<i8, Cpu> = Tensor::from_vec_sized((0..sizes[0] * sizes[1]).map(value).collect(), sizes);
                all.to_device::<D>().unwrap()
            };
            (made([m, k]), made([n, k]))
        }
        let same = |sizes: [usize; 3], turned: bool| {
            let [m, k, n] = sizes;
            let ((a, b), (x, y)) = (pair::<Cuda<0>>(m, k, n), pair::<Cpu>(m, k, n));
            let (b, y) = if turned { (b.t().contiguous(), y.t().contiguous()) } else { (b.t(), y.t()) };
            let counted = calls(|| a.int_mm(&b));
            assert_eq!(host(&a.int_mm(&b)), host(&x.int_mm(&y)), "{sizes:?}");
            counted
        };
        assert_eq!(same([8, 16, 12], false), (1, 0));
        assert_eq!(same([8, 16, 12], true), (0, 1));
        assert_eq!(same([8, 15, 12], false), (0, 1));
        assert_eq!(same([128, 132, 128], true), (1, 1));
        let (a, b) = pair::<Cuda<0>>(8, 24, 8);
        let (a, b): (Matrix<i8>, Matrix<i8>) = (a.narrow(axis![1], 4, 16), b.narrow(axis![1], 8, 16));
        assert_eq!(calls(|| a.int_mm(&b.t())), (1, 0));
    });
}

#[test]
fn batches_are_few_calls() {
    on_pretend!("cublas::batches_are_few_calls", {
        let one = matrix::<f32>(5, 6);
        let (left, right): (Batch<f32>, Batch<f32>) = (filled([3, 4, 5]), filled([3, 5, 6]));
        let (heads, others): (Heads<f32>, Heads<f32>) = (filled([2, 3, 4, 5]), filled([2, 3, 5, 6]));
        assert_eq!(calls(|| left.matmul(&one)), (1, 0));
        assert_eq!(calls(|| left.matmul(&right)), (1, 0));
        assert_eq!(calls(|| heads.matmul(&others)), (1, 0));
        assert_eq!(calls(|| one.t().matmul(left.transpose(axis![1], axis![2]))), (1, 0));
        // An axis that is shared and one that is not: the longer is one call's.
        assert_eq!(calls(|| heads.matmul(&right)), (2, 0));
        // More matrices than a call takes.
        let many: Batch<f32> = filled([70_000, 1, 2]);
        let ones: Batch<f32> = filled([70_000, 2, 1]);
        assert_eq!(calls(|| many.matmul(&ones)), (2, 0));
        let many_host: Batch<f32, Cpu> = filled([70_000, 1, 2]);
        assert_eq!(
            host(&many.matmul(&ones)),
            host(&many_host.matmul(&filled::<f32, shape![_, _, _], Cpu>([70_000, 2, 1])))
        );
        // So many calls would cost too much: the factors are packed.
        fn apart<D: Device>() -> [Heads<f32, D>; 2] {
            [filled::<f32, shape![_, _, _, _], D>([70, 4, 66, 8]), filled([70, 8, 66, 17])]
                .map(|x| x.permute(axis![0, 2, 1, 3]))
        }
        let [a, b] = apart::<Cuda<0>>();
        assert_eq!(calls(|| a.matmul(&b)), (1, 2));
        let [host_a, host_b] = apart::<Cpu>();
        assert_eq!(host(&a.matmul(&b)), host(&host_a.matmul(&host_b)));
    });
}

#[test]
fn what_is_added_takes_no_call_of_its_own() {
    on_pretend!("cublas::what_is_added_takes_no_call_of_its_own", {
        fn of<E: Numeric>() -> [(usize, usize); 4] {
            let (a, b) = (matrix::<E>(4, 8), matrix::<E>(8, 16));
            let (row, full) = (matrix::<E>(1, 16), matrix::<E>(4, 16));
            [
                calls(|| row.addmm(&a, &b, 1, 1)),
                calls(|| row.addmm(&a, &b, 2, 1)),
                calls(|| full.addmm(&a, &b, 1, 1)),
                calls(|| full.addmm(&a, &b, 2, 3)),
            ]
        }
        // A row is the epilogue's, if nothing is scaled; else it is copied to where the product is added.
        assert_eq!([of::<f16>(), of::<bf16>(), of::<f32>()], [[(1, 0), (1, 1), (1, 0), (1, 0)]; 3]);
        assert_eq!([of::<f64>(), of::<Complex<f32>>()], [[(1, 1), (1, 1), (1, 0), (1, 0)]; 2]);
        let (x, weight): (Batch<f32>, Matrix<f32>) = (filled([3, 4, 5]), filled([8, 5]));
        let bias: Tensor<f32, shape![_], Cuda<0>> = filled([8]);
        assert_eq!(calls(|| x.linear(&weight, Some(&bias))), (1, 0));
        assert_eq!(calls(|| x.linear_with(&weight, Some(&bias), ops::relu {})), (1, 1));
        // A factor of 0 is our own kernel's.
        assert_eq!(calls(|| matrix::<f32>(4, 4).addmm(&matrix::<f32>(4, 4), &matrix::<f32>(4, 4), 1, 0)), (0, 1));
    });
}

#[test]
fn how_is_asked_once() {
    on_pretend!("cublas::how_is_asked_once", {
        assert_eq!(device::cublas_lt_version().unwrap(), (13, 1, 2));
        let (a, b) = (matrix::<f32>(8, 8), matrix::<f32>(8, 8));
        for _ in 0..3 {
            drop((a.matmul(&b), b.matmul(&a)));
        }
        assert_eq!((pretend::count("blas create"), pretend::count("blas heuristic")), (1, 1));
        drop((a.matmul(&b.t()), matrix::<f64>(8, 8).matmul(&matrix::<f64>(8, 8))));
        // An address that is a multiple of less is another case.
        drop(matrix::<f32>(9, 8).narrow(axis![1], 1, 7).matmul(&matrix::<f32>(7, 8)));
        drop(matrix::<f32>(9, 8).narrow(axis![1], 0, 7).matmul(&matrix::<f32>(7, 8)));
        assert_eq!(pretend::count("blas heuristic"), 5);
        // One workspace for each device, which stays.
        drop((a, b));
        assert_eq!(pretend::live(), 1);
        let other = || filled::<f32, shape![_, _], Cuda<1>>([8, 8]);
        assert_eq!(host(&other().matmul(&other())), host(&matrix::<f32>(8, 8).matmul(&matrix::<f32>(8, 8))));
        assert_eq!((pretend::live(), pretend::count("blas create")), (2, 2));
        std::thread::scope(|scope| {
            for size in 5..9 {
                scope.spawn(move || {
                    let x = matrix::<f32>(size, size);
                    let expected = on_host(size, size);
                    for _ in 0..5 {
                        assert_eq!(host(&x.matmul(&x)), host(&expected.matmul(&expected)));
                    }
                });
            }
        });
    });
}

/// The pool has no room for a workspace: algorithms do without.
#[test]
fn no_room_for_the_workspace() {
    on_pretend!("cublas::no_room_for_the_workspace", ["PRETEND_MEMORY" = "0x1000000"], {
        let x = matrix::<f32>(8, 8);
        let expected = on_host(8, 8);
        for _ in 0..2 {
            assert_eq!(host(&x.matmul(&x)), host(&expected.matmul(&expected)));
        }
        assert_eq!((pretend::count("blas heuristic"), pretend::live()), (2, 1));
    });
}

#[test]
fn calls_that_fail() {
    on_pretend!("cublas::calls_that_fail", {
        for (what, call, size) in [
            ("blas create", "cublasLtCreate", 5),
            ("blas heuristic", "cublasLtMatmulAlgoGetHeuristic", 6),
            ("blas matmul", "cublasLtMatmul", 7),
        ] {
            let (x, expected) = (matrix::<f32>(size, size), on_host(size, size));
            pretend::fault(what, 1, 1, 14);
            let error = x.try_matmul(&x).unwrap_err();
            assert!(matches!(error, Error::CudaFailure { op: "matmul", .. }), "{error:?}");
            let said = format!("matmul on cuda:0: {call} answered CUBLAS_STATUS_INTERNAL_ERROR (14)");
            assert!(error.to_string().starts_with(&said), "{error}");
            assert_eq!(host(&x.matmul(&x)), host(&expected.matmul(&expected)));
        }
        let x = matrix::<f32>(8, 8);
        let expected = on_host(8, 8);
        let expected = host(&expected.matmul(&expected));
        // The allocation of the result, of the workspace of another device.
        pretend::fault("alloc", 1, 1, 999);
        assert!(x.try_matmul(&x).is_err());
        let other = filled::<f32, shape![_, _], Cuda<1>>([8, 8]);
        pretend::fault("alloc", 2, 1, 999);
        assert!(other.try_matmul(&other).unwrap_err().to_string().contains("CUDA_ERROR_UNKNOWN"));
        assert_eq!(host(&other.matmul(&other)), expected);
        drop(other);
        // Products that are not supported, whoever says so, are computed by our own kernel, and cublasLt is not asked again.
        for what in ["blas heuristic", "blas matmul"] {
            let y = matrix::<f64>(8, 8);
            let z = if what == "blas matmul" { y.matmul(&y).t() } else { y.clone() };
            pretend::fault(what, 1, 1, 15);
            assert_eq!(calls(|| z.matmul(&y)), (usize::from(what == "blas matmul"), 1));
            assert_eq!(calls(|| z.matmul(&y)), (0, 1));
        }
        drop(x);
        assert_eq!(pretend::live(), 2);
    });
}

#[test]
fn what_is_not_supported_is_done_by_the_own_kernel() {
    on_pretend!("cublas::what_is_not_supported_is_done_by_the_own_kernel", ["PRETEND_BLAS_SUPPORTS" = "0"], {
        let (a, b, row) = (matrix::<f32>(4, 8), matrix::<f32>(8, 16), matrix::<f32>(1, 16));
        assert_eq!(calls(|| a.matmul(&b)), (0, 1));
        // (The row was copied before it was known.)
        assert_eq!(calls(|| row.addmm(&a, &b, 1, 1)), (0, 2));
        assert_eq!(calls(|| matrix::<f32>(4, 16).addmm(&a, &b, 2, 3)), (0, 1));
        let expected = on_host(1, 16).addmm(&on_host(4, 8), &on_host(8, 16), 1, 1);
        assert_eq!(host(&row.addmm(&a, &b, 1, 1)), host(&expected));
    });
}

/// A row that the epilogue does not take is copied to where the product is added.
#[test]
fn a_row_that_is_no_epilogue() {
    on_pretend!("cublas::a_row_that_is_no_epilogue", ["PRETEND_BLAS_SUPPORTS" = "2"], {
        let (a, b, row) = (matrix::<f32>(4, 8), matrix::<f32>(8, 16), matrix::<f32>(1, 16));
        let expected = on_host(1, 16).addmm(&on_host(4, 8), &on_host(8, 16), 1, 1);
        assert_eq!(calls(|| row.addmm(&a, &b, 1, 1)), (1, 1));
        assert_eq!(host(&row.addmm(&a, &b, 1, 1)), host(&expected));
    });
}

fn multiplies_without(reason: &str) {
    let x = matrix::<f32>(8, 8);
    let expected = on_host(8, 8);
    assert_eq!(host(&x.matmul(&x)), host(&expected.matmul(&expected)));
    let error = device::cublas_lt_version().unwrap_err().to_string();
    assert!(error.starts_with("cublasLt is not available: ") && error.contains(reason), "{error}");
    assert_eq!(pretend::count("launch"), 1);
}

#[test]
fn no_library() {
    within("cublas::no_library", Installed::Both, &[], || {
        multiplies_without("cublasLt was not found (the library `libcublasLt.so.13` or `.12`)");
    });
}

#[test]
fn not_wanted() {
    on_pretend!("cublas::not_wanted", ["CASTIRON_CUBLASLT" = "0"], {
        multiplies_without("`CASTIRON_CUBLASLT=0` says not to use cublasLt");
    });
}

/// A fault of a product shows in a later call, or at once where it is waited for.
#[test]
fn products_that_are_waited_for() {
    on_pretend!("cublas::products_that_are_waited_for", ["CASTIRON_CUDA_SYNC" = "1"], {
        let x = matrix::<f32>(8, 8);
        pretend::fault("sync", 1, 1, 719);
        let error = x.try_matmul(&x).unwrap_err();
        assert!(error.to_string().starts_with("matmul on cuda:0: CUDA_ERROR_LAUNCH_FAILED"), "{error}");
    });
}
