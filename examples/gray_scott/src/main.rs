//! Two chemicals that react and spread (Gray and Scott): spots that grow and divide, by a stencil that is a formula of a point and its
//! neighbours.
//!
//! `cargo run --release -p gray_scott -- [--frames 60] [picture.png]`, and on a GPU
//! `cargo run --release -p gray_scott --features cuda -- --device cuda:0`
//!
//! `u` is food, `v` eats it: `du/dt = 0.16 lap(u) - u v^2 + feed (1 - u)`, `dv/dt = 0.08 lap(v) + u v^2 - (feed + kill) v`.

#[path = "../../pictures/mod.rs"]
mod png;

use castiron::{Cpu, Cuda, Device, Tensor, axis, formula, fused, s, shape};
use lexopt::prelude::*;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A field of 256 x 256 points, with an edge that repeats the opposite side.
type Field<D> = Tensor<f32, shape![258, 258], D>;
const POINTS: usize = 256;
const STEPS_PER_FRAME: usize = 100;

/// What the neighbours differ from a point.
#[formula]
fn spread<F: Float>(here: F, left: F, right: F, up: F, down: F) -> F {
    left + right + up + down - 4.0 * here
}
/// The next `u`: a point, its neighbours, and `v` there.
#[formula]
fn food<F: Float>(u: F, left: F, right: F, up: F, down: F, v: F) -> F {
    const FEED: f64 = 0.0545;
    u + 0.16 * spread(u, left, right, up, down) - u * v * v + FEED * (1.0 - u)
}
/// The next `v`: a point, its neighbours, and `u` there.
#[formula]
fn eater<F: Float>(v: F, left: F, right: F, up: F, down: F, u: F) -> F {
    const FEED_AND_KILL: f64 = 0.0545 + 0.062;
    v + 0.08 * spread(v, left, right, up, down) + u * v * v - FEED_AND_KILL * v
}

struct Dish<D: Device> {
    u: Field<D>,
    v: Field<D>,
    /// Where the next step is written.
    next: [Field<D>; 2],
}
impl<D: Device> Dish<D> {
    fn new() -> castiron::Result<Self> {
        let is_seed = |[row, column]: [usize; 2]| {
            [(128, 128), (60, 180), (190, 70)].iter().any(|&(r, c)| row.abs_diff(r) < 10 && column.abs_diff(c) < 13)
        };
        let field = |inside: f32, outside: f32| {
            Field::<Cpu>::from_fn(|at| if is_seed(at) { inside } else { outside }).to_device::<D>()
        };
        Ok(Dish { u: field(0.5, 1.0)?, v: field(0.25, 0.0)?, next: [field(0.0, 0.0)?, field(0.0, 0.0)?] })
    }

    /// How much `v` is where, as grey.
    fn picture(&self) -> castiron::Result<Tensor<u8, shape![1, 256, 256]>> {
        let v = self.v.slice(s![1..-1, 1..-1]);
        let grey: Tensor<u8, shape![256, 256], D> = fused!((v * 600.0).clamp_max(255.0).to::<u8>());
        grey.unsqueeze(axis![0]).contiguous().to_device::<Cpu>()
    }

    fn step(&mut self) {
        let Dish { u, v, next: [next_u, next_v] } = self;
        // One pass for each field: views of the neighbours, no copy of any.
        fused! {
            next_u.slice_mut(s![1..-1, 1..-1]) = food(
                u.slice(s![1..-1, 1..-1]), u.slice(s![1..-1, ..-2]), u.slice(s![1..-1, 2..]),
                u.slice(s![..-2, 1..-1]), u.slice(s![2.., 1..-1]), v.slice(s![1..-1, 1..-1])
            )
        }
        fused! {
            next_v.slice_mut(s![1..-1, 1..-1]) = eater(
                v.slice(s![1..-1, 1..-1]), v.slice(s![1..-1, ..-2]), v.slice(s![1..-1, 2..]),
                v.slice(s![..-2, 1..-1]), v.slice(s![2.., 1..-1]), u.slice(s![1..-1, 1..-1])
            )
        }
        around(next_u);
        around(next_v);
        core::mem::swap(u, next_u);
        core::mem::swap(v, next_v);
    }
}
/// The edges repeat the opposite sides.
fn around<D: Device>(field: &mut Field<D>) {
    for (edge, from) in [(0, POINTS), (POINTS + 1, 1)] {
        let row = field.select(axis![0], from).contiguous();
        field.select_mut(axis![0], edge).assign(&row);
        let column = field.select(axis![1], from).contiguous();
        field.select_mut(axis![1], edge).assign(&column);
    }
}

fn film<D: Device>(frames: u32, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut dish = Dish::<D>::new()?;
    let start = Instant::now();
    let pictures = (0..frames).map(|_| {
        (0..STEPS_PER_FRAME).for_each(|_| dish.step());
        dish.picture()
    });
    let bytes = png::animated([POINTS, POINTS], frames, pictures)?;
    let seconds = start.elapsed().as_secs_f64();
    png::write(path, &bytes)?;
    png::write(&path.with_extension("last.png"), &png::still(&dish.picture()?)?)?;
    let alive = dish.v.to_device::<Cpu>()?.amax().item();
    if !(alive > 0.1 && alive < 1.0) {
        return Err(format!("the reaction died or ran away: v is at most {alive}").into());
    }
    let steps = frames as usize * STEPS_PER_FRAME;
    println!(
        "{} ({frames} frames of {STEPS_PER_FRAME} steps, {} KB, {:.0} million points a second)",
        path.display(),
        bytes.len() / 1000,
        (steps * POINTS * POINTS) as f64 / seconds / 1e6
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut frames, mut device) = (60_u32, "cpu".to_owned());
    let mut path: PathBuf = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/gray_scott.png").into();
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("frames") => frames = arguments.value()?.parse::<u32>()?.clamp(1, 10_000),
            Long("device") => device = arguments.value()?.string()?,
            Value(to) => path = to.into(),
            other => return Err(other.unexpected().into()),
        }
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    match &*device {
        "cpu" => film::<Cpu>(frames, &path),
        "cuda" | "cuda:0" => film::<Cuda<0>>(frames, &path),
        other => Err(format!("--device is cpu or cuda:0, not {other}").into()),
    }
}
