//! The chapters of the book, each a module, so that their code is tested and docs.rs shows them.
//!
//! A chapter links to others by name, `[Shapes][shapes]`, and says at its end where that is for a reader of `book/`. Here `book/links.md` stands before it
//! and says where it is in this documentation: of two definitions Markdown takes the first. (Tests are named by the chapter, and their lines are
//! counted from the first line of `book/links.md` on.)

macro_rules! chapters {
    ($($name:ident)*) => {$(
        #[doc = include_str!("../book/links.md")]
        #[doc = include_str!(concat!("../book/src/", stringify!($name), ".md"))]
        pub mod $name {}
    )*};
}
chapters! {
    ten_minutes
    shapes
    dtypes
    in_place
    views
    generic
    devices
    run_time
    errors
    networks
    training
    own_operations
    linear_algebra
    fourier
    sparse
    files
    machines
    speed
    from_pytorch
    from_numpy
    from_ndarray
    from_nalgebra
    from_candle
    recipes
    own_rules
    inside
}
