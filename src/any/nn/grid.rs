//! `affine_grid` and `grid_sample`.

use super::conv::each;
use crate::any::call::Bound;
use crate::any::{AnyTensor, Value};
use crate::error::{Result, invalid};
use crate::ops::grid::{GridMode, GridPadding};
use castiron_macros::operations;

impl AnyTensor {
    /// The sizes of the images that affine maps are for, of those with the batch and the channels.
    pub(crate) fn places_of_maps(&self, sizes: &[i64]) -> Result<Vec<usize>> {
        let op = "affine_grid";
        if !matches!(sizes.len(), 4 | 5) {
            return invalid(
                op,
                format!("sizes {sizes:?}: expected (batch, channels, …) with two or three axes behind"),
            );
        }
        let mut of = each(op, "size", sizes, sizes.len())?;
        if of[1] == 0 || self.sizes.first() != Some(&of[0]) {
            return invalid(op, format!("sizes {sizes:?} do not go with affine maps of shape {:?}", self.shape()));
        }
        Ok(of.split_off(2))
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
        Ok(x.grid_sample(args.tensor("grid")?, mode, padding, args.read("align_corners")?)?.into())
    }
}

#[operations]
impl AnyTensor {
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
        Ok(args.tensor("input")?.grid_sample(args.tensor("grid")?, mode, padding, align_corners)?.into())
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
