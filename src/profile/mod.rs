//! What operations cost: [`profile`] runs a function and says which calls its operations made to devices, how long each took and how much
//! memory it read and wrote.

mod clock;
mod record;
mod table;

pub(crate) use clock::Clock;
pub(crate) use record::{About, is_on, span, timed};
pub use record::{Profile, Record};

use record::Recording;

/// Runs a function and records the operations that it runs on this thread: the result, and what they cost.
///
/// An operation is recorded as the calls that it makes to its device: a `layer_norm` is one, a loss may be several. Loops inside a call may
/// use several threads; what the function does on other threads of its own is not recorded. On a GPU the times are those that its stream
/// takes, measured by events; the function itself is not waited for, the profile is.
///
/// PyTorch: `torch.profiler.profile`, with `record_shapes`.
///
/// ```
/// use castiron::{Tensor, profile, shape};
/// let (x, w) = (Tensor::<f32, shape![64, 256]>::ones(), Tensor::<f32, shape![256, 256]>::ones());
/// let (y, profile) = profile(|| x.matmul(&w).relu().sum());
/// assert_eq!(y.item(), 64.0 * 256.0 * 256.0);
/// let names: Vec<&str> = profile.records().iter().map(|record| record.name()).collect();
/// assert_eq!(names, ["matmul", "relu", "sum"]);
/// println!("{profile}");
/// ```
///
/// The table has a line for each operation with its dtypes, those that took longest first. The last column compares with the bytes per
/// second of copying more than the caches hold, so that it is above 1 for operands in the cache. The example prints:
///
/// ```text
/// operation  dtypes            calls        time   share     GB/s  of copying
/// matmul     float32, float32      1     49.3 us   94.8 %      8.0        0.27
/// relu       float32               1      1.6 us    3.0 %     82.8        2.76
/// sum        float32               1      1.1 us    2.2 %     57.1        1.91
/// 52.0 us in 3 calls, of 60.9 us in all
/// ```
pub fn profile<T>(run: impl FnOnce() -> T) -> (T, Profile) {
    let recording = Recording::begin();
    let result = run();
    (result, recording.end())
}
