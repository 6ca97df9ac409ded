//! Elementary and special functions are as accurate as `docs/accuracy.md` promises.

#[path = "../../examples/accuracy/src/measure.rs"]
mod measure;

use measure::{double, single};

#[test]
fn functions_keep_what_they_promise() {
    let mut broken = String::new();
    for row in measure::ROWS {
        for (dtype, error, bound) in [("f32", single(row, 262_147), row.single), ("f64", double(row), row.double)] {
            if !error.is_within(bound) {
                broken +=
                    &format!("{} of {dtype}: {:.2} ulp at {:?}, promised {bound}\n", row.name, error.ulps, error.at);
            }
        }
    }
    assert!(broken.is_empty(), "\n{broken}");
}

/// How many elements stand beside one makes no difference to it.
#[test]
fn one_element_and_many_have_the_same_bits() {
    for row in measure::ROWS {
        for x in measure::arguments(row) {
            let (one, many) = measure::alone_and_beside_others(row, &x);
            assert!(one == many || (one.is_nan() && many.is_nan()), "{} of {x:?}: {one:?} and {many:?}", row.name);
        }
    }
}
