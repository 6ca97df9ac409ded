//! What every engine must do, beside plain computation.

mod checks;
mod processes;
mod speed;
mod threads;
