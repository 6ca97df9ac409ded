//! `affine_grid` and `grid_sample`.

use super::conv::each;
use crate::any::base::by_width::same_dtype;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::Bound;
use crate::any::elementwise::apply::same_device;
use crate::any::{AnyTensor, Value};
use crate::device::Dynamic;
use crate::error::{Result, invalid};
use crate::ops::grid::{GridMode, GridPadding};
use crate::tensor::nn::grid::{affine, sample};
use castiron_macros::operations;

impl AnyTensor {
    fn sampled(
        &self,
        op: &'static str,
        grid: &AnyTensor,
        mode: GridMode,
        padding: GridPadding,
        align_corners: bool,
    ) -> Result<AnyTensor> {
        same_dtype(op, self, grid)?;
        same_device(op, self, grid)?;
        let (buffer, sizes, strides) = dispatch_dtype!(op, self.dtype, E: Float => {
            let views = [self.elements_as()?, grid.elements_as()?];
            sample::<E, Dynamic>(op, views, mode, padding, align_corners)
        })?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &sizes, &strides))
    }

    /// `grid_sampler_2d` and `grid_sampler_3d`, whose modes are given by number.
    fn sampled_by_number(args: &Bound<'_>, axes: usize) -> Result<Value> {
        let x = args.tensor("input")?;
        let padding = match args.read::<i64>("padding_mode")? {
            0 => GridPadding::Zeros,
            1 => GridPadding::Border,
            2 => GridPadding::Reflection,
            other => return args.refused(format!("padding_mode is 0, 1 or 2, got {other}")),
        };
        let mode = match args.read::<i64>("interpolation_mode")? {
            0 => GridMode::Bilinear,
            1 => GridMode::Nearest,
            2 => GridMode::Bicubic,
            other => return args.refused(format!("interpolation_mode is 0, 1 or 2, got {other}")),
        };
        if x.rank() != axes + 2 {
            return args.refused(format!("expected a tensor of {} axes, got shape {:?}", axes + 2, x.shape()));
        }
        Ok(x.sampled(args.op, args.tensor("grid")?, mode, padding, args.read("align_corners")?)?.into())
    }
}

#[operations]
impl AnyTensor {
    /// A grid of sampling positions by affine maps (`torch.nn.functional.affine_grid`), for images `(N, C, H, W)` or volumes `(N, C, D, H,
    /// W)` of these sizes: `(N, 2, 3)` becomes `(N, H, W, 2)`, `(N, 3, 4)` becomes `(N, D, H, W, 3)`.
    ///
    /// # Errors
    /// If sizes do not match or one is 0, or the dtype is not floating.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mirror = AnyTensor::from(tensor![[[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]);
    /// assert_eq!(mirror.affine_grid(vec![1, 1, 1, 2], false)?.shape(), [1, 1, 2, 2]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(nn.functional.affine_grid(theta, size, align_corners = false), dtypes = float)]
    pub fn affine_grid(&self, sizes: Vec<i64>, align_corners: bool) -> Result<AnyTensor> {
        let op = "affine_grid";
        if !matches!(sizes.len(), 4 | 5) {
            return invalid(
                op,
                format!("sizes {sizes:?}: expected (batch, channels, …) with two or three axes behind"),
            );
        }
        let of = each(op, "size", &sizes, sizes.len())?;
        if of[1] == 0 || self.sizes.first() != Some(&of[0]) {
            return invalid(op, format!("sizes {sizes:?} do not go with affine maps of shape {:?}", self.shape()));
        }
        let (buffer, sizes, strides) = dispatch_dtype!(op, self.dtype, E: Float => affine::<E, Dynamic>(op, self.elements_as()?, &of[2..], align_corners))?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &sizes, &strides))
    }

    /// The elements at the positions of a grid (`torch.nn.functional.grid_sample`): images `(N, C, H, W)` at `(N, H', W', 2)` give
    /// `(N, C, H', W')`; volumes have one more axis.
    ///
    /// # Errors
    /// If dtypes differ or are not floating, sizes do not match, or volumes are sampled in bicubic mode.
    ///
    /// ```
    /// use castiron::any::{GridMode, GridPadding};
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[[[1.0, 2.0, 3.0]]]]);
    /// let grid = AnyTensor::from(tensor![[[[0.5, 0.0], [-2.0, 0.0]]]]);
    /// let y = x.grid_sample(&grid, GridMode::Bilinear, GridPadding::Border, true)?;
    /// assert_eq!(y.to_string(), "tensor([[[[2.5000, 1.0000]]]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn grid_sample(
        &self,
        grid: &AnyTensor,
        mode: GridMode,
        padding: GridPadding,
        align_corners: bool,
    ) -> Result<AnyTensor> {
        self.sampled("grid_sample", grid, mode, padding, align_corners)
    }

    #[op(nn.functional.grid_sample(input, grid, mode, padding_mode, align_corners), dtypes = float)]
    fn grid_sample_by_name(args: &Bound<'_>) -> Result<Value> {
        let mode = match args.read_or("mode", || "bilinear")? {
            "bilinear" => GridMode::Bilinear,
            "nearest" => GridMode::Nearest,
            "bicubic" => GridMode::Bicubic,
            other => return args.refused(format!("mode is bilinear, nearest or bicubic, got {other:?}")),
        };
        let padding = match args.read_or("padding_mode", || "zeros")? {
            "zeros" => GridPadding::Zeros,
            "border" => GridPadding::Border,
            "reflection" => GridPadding::Reflection,
            other => return args.refused(format!("padding_mode is zeros, border or reflection, got {other:?}")),
        };
        let align_corners = args.read_or("align_corners", || false)?;
        Ok(args.tensor("input")?.sampled(args.op, args.tensor("grid")?, mode, padding, align_corners)?.into())
    }
    #[op(grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners), dtypes = float)]
    fn grid_sampler_2d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::sampled_by_number(args, 2)
    }
    #[op(grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners), dtypes = float)]
    fn grid_sampler_3d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::sampled_by_number(args, 3)
    }
}
