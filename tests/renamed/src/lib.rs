//! castiron under another name (`ct`), and as another crate re-exports it: every macro finds it in both.
#![cfg(test)]

/// A module that uses every macro of castiron's, found at a path.
macro_rules! program {
    ($module:ident, $root:literal, $($path:ident)::+) => {
        mod $module {
            use $($path)::+::grad::Grad;
            use $($path)::+::{
                AnyTensor, Dim, Module, Tensor, axis, cuda_kernel, dim, dims, einsum, formula, fused, gpu, reducer, s, shape, tensor,
                try_einsum, visit,
            };

            dims! { Batch }

            /// The formula of one's own.
            #[formula(crate = $root)]
            fn swish<F: Float>(x: F, beta: F) -> F {
                x / ((-x * beta).exp() + 1.0)
            }
            /// With all that an attribute may say besides.
            #[formula(method, crate = $root, derivative = (twice,))]
            fn squared<F: Float>(x: F) -> F {
                x * x
            }
            #[formula(crate = $root)]
            fn twice<F: Float>(x: F) -> F {
                x * 2.0
            }
            #[formula(crate = $root)]
            fn kept<I: Integer>(x: I, keep: Mask) -> I {
                select(keep, x, 0)
            }

            struct Mean;
            #[reducer(crate = $root)]
            impl Mean {
                fn start<F: Float>() -> [F; 2] {
                    [0.0, 0.0]
                }
                fn step<F: Float>([count, sum]: [F; 2], x: F) -> [F; 2] {
                    [count + 1, sum + x]
                }
                fn merge<F: Float>(one: [F; 2], other: [F; 2]) -> [F; 2] {
                    [one[0] + other[0], one[1] + other[1]]
                }
                fn finish<F: Float>([count, sum]: [F; 2]) -> F {
                    sum / count
                }
            }

            #[derive(Module)]
            #[module(crate = $root)]
            struct Layer<D: $($path)::+::Device = $($path)::+::Cpu> {
                weight: Tensor<f32, shape![2, 2], D>,
                #[module(skip)]
                steps: usize,
            }

            cuda_kernel! {
                fn doubled<N: Dim>(x: &Tensor<f32, shape![N]>, y: &mut Tensor<f32, shape![N]>) {
                    // SAFETY: no index is past `N`.
                    unsafe { "for (i64 i = threadIdx.x; i < N; i += blockDim.x) y[i] = 2 * x[i];" }
                }
            }

            #[test]
            fn shapes_and_elements() {
                let x: Tensor<f32, shape![Batch, 2 + 1]> = Tensor::zeros_sized([4, 3]);
                assert_eq!(x.shape(), [4, 3]);
                assert_eq!(<dim!(6 / 2) as Dim>::SIZE, Some(3));
                let y = tensor![[1, 2, 3], [4, 5, 6]; f64];
                let at = 1;
                assert_eq!(y.slice(s![at, ..2]).to_vec(), [4.0, 5.0]);
                assert_eq!(y.sum_axis(axis![0]).to_vec(), [5.0, 7.0, 9.0]);
                assert_eq!(tensor![1.0 + 2.0j].imag().to_vec(), [2.0]);
                assert_eq!(einsum!("ij->ji", &y).shape(), [3, 2]);
                assert_eq!(try_einsum!("ij,ij->", &y, &y).unwrap().item(), 91.0);
                let any = AnyTensor::from(y);
                assert_eq!(visit!(any, E: Float => size_of::<E>()).unwrap(), 8);
            }

            #[test]
            fn formulas_and_reducers() {
                let x = tensor![1.0, -2.0, 0.5];
                let mut total = tensor![0.0, 0.0, 0.0];
                fused!(let half = &x * 0.5; total += swish(half, 1.0) + { 1.0 });
                let expected = x.to_vec().into_iter().map(|x: f32| x * 0.5 / ((-x * 0.5).exp() + 1.0) + 1.0);
                assert!(total.to_vec().into_iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-6));
                assert_eq!(x.squared().to_vec(), [1.0, 4.0, 0.25]);
                let (_, slope) = x.value_and_grad((), |x, ()| x.squared().sum());
                assert_eq!(slope.to_vec(), [2.0, -4.0, 1.0]);
                assert_eq!(tensor![3, 4].apply(kept, tensor![true, false]).to_vec(), [3, 0]);
                assert_eq!(x.reduce_by(Mean, ()).item(), -0.5 / 3.0);
            }

            #[test]
            fn modules_and_kernels() {
                let layer: Layer = Layer { weight: Tensor::ones(), steps: 3 };
                let (loss, grads) = layer.value_and_grad((), |layer, ()| layer.weight.sum());
                assert_eq!((loss.item(), grads.weight.to_vec(), grads.steps), (4.0, vec![1.0; 4], 3));
                type Line = Tensor<f32, shape![3], $($path)::+::Cuda<0>>;
                let _: fn(gpu::Launch, &Line, &mut Line) -> $($path)::+::Result<()> = |launch, x, y| doubled(launch, x, y);
            }
        }
    };
}

program!(renamed, "::ct", ct);
program!(reexported, "::facade::tensors::castiron", facade::tensors::castiron);
