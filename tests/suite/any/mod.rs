//! The run-time world.

mod basics;
mod empties;
mod model;
mod moving;
mod reduce;
mod robustness;
mod sharing;
mod sparse;
mod views_mut;
mod visit;
