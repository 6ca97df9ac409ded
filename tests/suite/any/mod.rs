//! The run-time world.

mod basics;
mod conjugates;
mod empties;
mod extremes;
mod making;
mod model;
mod moving;
mod outputs;
mod reduce;
mod robustness;
mod sharing;
mod sparse;
mod views_mut;
mod visit;
