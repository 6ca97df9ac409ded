//! Lists of the rows by name that are written beside methods.

/// Lists the rows of the files of a folder: of each file `OPERATIONS`, or the lists in brackets. (A file that is forgotten has a list that
/// nobody uses, which rustc says.)
macro_rules! rows_of {
    ($($file:ident $([$($list:ident)+])?),+ $(,)?) => {
        /// The rows of the files.
        #[cfg(feature = "any")]
        pub(crate) const ROWS: crate::rows::Folder = &[$(rows_of!(@ $file $($($list)+)?)),+];
    };
    (@ $file:ident) => { &[$file::OPERATIONS] };
    (@ $file:ident $($list:ident)+) => { &[$($file::$list),+] };
}

/// The rows of a folder, by file and list.
#[cfg(feature = "any")]
pub(crate) type Folder = &'static [&'static [&'static [crate::any::NamedOp]]];
