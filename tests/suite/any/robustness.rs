//! Programs made of bytes, compared with a naive model: random ones, and those that once found a mistake.

use super::model;
use proptest::prelude::*;
use std::path::Path;

/// A test of random programs, and one of the files of `model/found`.
macro_rules! programs {
    ($($name:ident, $cases:literal;)*) => {$(
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { cases: $cases, ..ProptestConfig::default() })]
                #[test]
                fn random(data in proptest::collection::vec(any::<u8>(), 0..600)) {
                    model::$name::run(&data);
                }
            }

            #[test]
            fn found() {
                let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/any/model/found");
                assert!(found.is_dir(), "{}", found.display());
                // (There is none where nothing was found.)
                let files = std::fs::read_dir(found.join(stringify!($name))).into_iter().flatten();
                for file in files {
                    model::$name::run(&std::fs::read(file.unwrap().path()).unwrap());
                }
            }
        }
    )*};
}
programs! {
    views, 400;
    edits, 400;
    names, 400;
    calls, 400;
    typed, 400;
}
#[cfg(all(feature = "ndarray", feature = "dlpack"))]
programs! {
    foreign, 2000;
}

#[test]
fn terms_without_end_are_an_error() {
    let x = castiron::tensor![3.0];
    assert!(x.try_mvlgamma(1 << 62).is_err() && x.try_mvlgamma((1 << 24) + 1).is_err());
    assert!(x.try_mvlgamma(1 << 10).is_ok());
}
