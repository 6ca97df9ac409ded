//! Operations on operands of different kinds compared with PyTorch's table (`blend.json`): `lerp`, `prelu`, `frexp`, complex numbers from
//! parts, scalars on the left, `index_put`, `unique_axis`, several quantiles; and their types.

use crate::common::{Answer, Tally, Token, Tolerance, json, parse_all};
use castiron::{
    Complex, Dyn, Interpolation, Meta, Shape, Tensor, axis, bf16, float_power, floor_divide, pow, shape, tensor,
    xlog1py, xlogy, zeta,
};
use serde_json::Value;

type One<E> = Tensor<E, (Dyn,)>;
type Two<E> = Tensor<E, (Dyn, Dyn)>;
type Answers = castiron::Result<Vec<(Vec<usize>, Answer)>>;

/// The operands and parameters of a row.
struct Given<'a>(&'a Value);
impl Given<'_> {
    fn number(&self) -> f64 {
        self.0[2][0].as_f64().unwrap()
    }
    fn one<E: Token>(&self, at: usize) -> One<E> {
        parse_all::<E>(self.0[3][at][2].as_str().unwrap()).into()
    }
    fn two<E: Token>(&self, at: usize) -> Two<E> {
        let sizes = [0, 1].map(|axis| self.0[3][at][1][axis].as_u64().unwrap() as usize);
        let x: Two<E> = self.one::<E>(at).reshape_sized(sizes);
        match self.0[3][at][3].as_str().unwrap() {
            "t" => x.t::<(Dyn, Dyn)>().contiguous().t(),
            "s" => {
                let [rows, columns] = sizes;
                let wider = |[i, j]: [usize; 2]| if j == 0 { E::default() } else { x[(i, j - 1)] };
                Two::<E>::from_fn_sized([rows, columns + 1], wider).narrow(axis![1], 1, columns)
            }
            _ => x,
        }
    }
}

fn answer<E: Token, S: Shape>(result: &Tensor<E, S>) -> (Vec<usize>, Answer) {
    (result.shape().as_ref().to_vec(), Answer::new(result.to_vec()))
}
fn one<E: Token, S: Shape>(result: castiron::Result<Tensor<E, S>>) -> Answers {
    Ok(vec![answer(&result?)])
}

/// `name [dtypes] |x| result;`: the case for each of the dtypes.
macro_rules! cases {
    ($($name:ident [$($ty:ident)*] |$x:ident| $run:expr;)*) => {
        fn run(name: &str, dtype: &str, row: &Given) -> Option<Answers> {
            $($({
                #[allow(dead_code)]
                type E = $ty;
                if name == stringify!($name) && dtype == stringify!($ty) {
                    let $x = row;
                    // A closure, so that `?` leaves the case alone.
                    #[allow(clippy::redundant_closure_call)]
                    return Some((|| -> Answers { $run })());
                }
            })*)*
            None
        }
    };
}
#[allow(non_camel_case_types)]
type c64 = Complex<f32>;

cases! {
    lerp_scalar [bf16 f32 f64 c64] |x| one(x.two::<E>(0).try_lerp(x.two::<E>(1), x.number()));
    lerp [bf16 f32 f64 c64] |x| one(x.two::<E>(0).try_lerp(x.two::<E>(1), x.two::<E>(2)));
    lerp_broadcast [f32] |x| one(x.two::<E>(0).try_lerp(x.two::<E>(1), x.two::<E>(2)));
    prelu [bf16 f32 f64] |x| one(x.two::<E>(0).try_prelu(x.one::<E>(1)));
    frexp [bf16 f32 f64] |x| {
        let (mantissa, exponent) = x.two::<E>(0).try_frexp()?;
        Ok(vec![answer(&mantissa), answer(&exponent)])
    };
    complex [f32 f64] |x| one(x.two::<E>(0).try_complex(x.two::<E>(1)));
    polar [f32 f64] |x| one(x.two::<E>(0).try_polar(x.two::<E>(1)));
    logcumsumexp [c64] |x| one(x.two::<E>(0).try_logcumsumexp(axis![1]));
    pow_int [bool u8 i64 bf16 f32 f64 c64] |x| one(castiron::try_pow(x.number() as i64, x.two::<E>(0)));
    pow_float [bool u8 i64 bf16 f32 f64 c64] |x| one(castiron::try_pow(x.number(), x.two::<E>(0)));
    float_power [u8 f32 c64] |x| one(castiron::try_float_power(x.number(), x.two::<E>(0)));
    floor_divide [u8 i64 f32 f64] |x| one(castiron::try_floor_divide(x.number() as i64, x.two::<E>(0)));
    xlogy [u8 bf16 f32 f64] |x| one(castiron::try_xlogy(x.number(), x.two::<E>(0)));
    xlog1py [u8 bf16 f32 f64] |x| one(castiron::try_xlog1py(x.number(), x.two::<E>(0)));
    zeta [u8 f32 f64] |x| one(castiron::try_zeta(x.number(), x.two::<E>(0)));
    put1 [bool u8 i64 bf16 f32 c64] |x| {
        one(x.two::<E>(0).try_index_put([&x.one::<i64>(1)], x.two::<E>(2), x.number() == 1.0))
    };
    put2 [bool u8 i64 bf16 f32 c64] |x| {
        let (i, j) = (x.one::<i64>(1), x.one::<i64>(2));
        one(x.two::<E>(0).try_index_put([&i, &j], x.one::<E>(3), x.number() == 1.0))
    };
    unique0 [bool u8 i64 bf16 f32 f64] |x| {
        let (values, inverse, counts) = x.two::<E>(0).try_unique_axis(axis![0])?;
        Ok(vec![answer(&values), answer(&inverse), answer(&counts)])
    };
    unique1 [bool u8 i64 bf16 f32 f64] |x| {
        let (values, inverse, counts) = x.two::<E>(0).try_unique_axis(axis![-1])?;
        Ok(vec![answer(&values), answer(&inverse), answer(&counts)])
    };
    quantiles_linear [f32 f64] |x| one(x.two::<E>(0).try_quantiles(x.one::<E>(1), Interpolation::Linear));
    quantiles_midpoint [f32] |x| one(x.two::<E>(0).try_quantiles(x.one::<E>(1), Interpolation::Midpoint));
    quantiles_nearest [f32] |x| one(x.two::<E>(0).try_quantiles(x.one::<E>(1), Interpolation::Nearest));
    quantiles0_lower [f32] |x| one(x.two::<E>(0).try_quantiles_axis(axis![0], x.one::<E>(1), Interpolation::Lower));
    quantiles1_linear [f32 f64] |x| one(x.two::<E>(0).try_quantiles_axis(axis![1], x.one::<E>(1), Interpolation::Linear));
    quantiles1_higher [f32] |x| one(x.two::<E>(0).try_quantiles_axis(axis![1], x.one::<E>(1), Interpolation::Higher));
    nanquantiles1_linear [f32 f64] |x| {
        one(x.two::<E>(0).try_nanquantiles_axis(axis![1].keepdim(), x.one::<E>(1), Interpolation::Linear))
    };
}

fn tolerance(name: &str, dtype: &str) -> Tolerance {
    let ulps = match name {
        "prelu" | "frexp" | "complex" | "put1" | "put2" | "unique0" | "unique1" | "floor_divide" => 0.0,
        "zeta" => 12.0,
        "logcumsumexp" => 8.0,
        _ if dtype == "c64" => 16.0,
        _ => 2.0,
    };
    // What lies between two elements is near 0 where they cancel.
    Tolerance { ulps, of_one: if name.contains("quantiles") { 2.0 } else { 0.0 } }
}

#[test]
fn results_are_pytorchs() {
    let mut tally = Tally::default();
    for row in json("blend.json")["rows"].as_array().unwrap() {
        let (name, dtype) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
        let Some(ours) = run(name, dtype, &Given(row)) else { continue };
        let what = format!("{name} {dtype} {} {} {}", row[2], row[3][0][1], row[3][0][3]);
        match (ours, row[4].as_array()) {
            (Err(_), None) => tally.agree += 1,
            (Ok(answers), Some(results)) => {
                assert_eq!(answers.len(), results.len(), "{what}");
                for ((sizes, answer), result) in answers.iter().zip(results) {
                    assert_eq!(serde_json::json!(sizes), result[1], "{what}");
                    let tokens = result[2].as_str().unwrap();
                    tally.row(&what, answer, result[0].as_str().unwrap(), tokens, &Value::Null, tolerance(name, dtype));
                }
            }
            (Err(error), Some(_)) => tally.disagree.push(format!("{what}: {error}, PyTorch {}", row[4])),
            (Ok(_), None) => tally.disagree.push(format!("{what}: PyTorch refuses")),
        }
    }
    tally.finish("blend");
}

/// Known sizes are in the types of results.
#[test]
fn types_of_results() {
    let x = Tensor::<f32, shape![3, 4]>::ones();
    let row = Tensor::<f32, shape![4]>::ones();
    let _: Tensor<f32, shape![3, 4]> = row.lerp(&x, 0.5);
    let _: Tensor<f32, shape![2, 3, 4]> = row.lerp(&row, Tensor::<f32, shape![2, 3, 1]>::ones());
    let _: Tensor<Complex<f32>, shape![3, 4]> = x.complex(&row);
    let _: Tensor<Complex<f64>, shape![4]> = row.to::<f64>().polar(tensor![0.5; f64]);
    let _: Tensor<f32, shape![3, 3]> = x.quantiles_axis(axis![1], tensor![0.1, 0.5, 0.9], Interpolation::Linear);
    let _: Tensor<f32, shape![2, 3, 1]> = x.quantiles_axis(axis![1].keepdim(), tensor![0.1, 0.9], Interpolation::Lower);
    let (values, inverse, _): (Tensor<f32, shape![_, 4]>, Tensor<i64, shape![3]>, _) = x.unique_axis(axis![0]);
    assert_eq!((values.shape(), inverse.to_vec()), ([1, 4], vec![0; 3]));
    let _: Tensor<f64, shape![4]> = float_power(2, &row);
    let _: Tensor<i64, shape![2]> = pow(true, tensor![1, 2]);
    let _: Tensor<i64, ()> = row.searchsorted_scalar(0.5, false);
    // Tensors without data have shapes.
    let meta = Tensor::<f32, shape![3, 4], Meta>::zeros();
    let _: Tensor<f32, shape![3, 4], Meta> = meta.lerp(&meta, &meta).prelu(&meta.select(axis![0], 0));
    let _: Tensor<f32, shape![3, 4], Meta> = meta.masked_fill(meta.lt(0), meta.sum());
    assert_eq!(meta.frexp().1.shape(), [3, 4]);
}

#[test]
fn errors_say_what_is_wrong() {
    let x = tensor![[0, 0, 0], [0, 0, 0]];
    let error = |result: castiron::Result<Tensor<i64, shape![2, 3]>>| result.unwrap_err().to_string();
    assert_eq!(
        error(x.try_index_put([&tensor![0, 2]], tensor![1], false)),
        "index_put: index 2 is out of range for axis 0 of size 2"
    );
    let values = tensor![1, 2].with_shape::<shape![_]>();
    assert!(error(x.try_index_put([&tensor![0, 1]], values, false)).contains("do not broadcast"));
    let slopes =
        tensor![[1.0, 2.0]].try_prelu(tensor![0.5, 0.5, 0.5].with_shape::<shape![_]>()).unwrap_err().to_string();
    assert_eq!(slopes, "prelu: 2 channels take as many slopes or one, got 3");
    assert_eq!(floor_divide(1, tensor![0.0]).to_vec(), [f32::INFINITY]);
    assert!(castiron::try_floor_divide(1, tensor![0]).is_err());
    assert_eq!((xlogy(0, tensor![0]).to_vec(), xlog1py(0, tensor![5]).to_vec()), (vec![0.0_f32], vec![0.0_f32]));
    assert_eq!(zeta(1, tensor![2.0]).to_vec(), [f32::INFINITY]);
}

/// In place, whatever the layout, and seen in no other tensor.
#[test]
fn index_put_writes_where_the_elements_are() {
    let (i, j) = (tensor![0, 2], tensor![1, -1]);
    let x = tensor![[1, 2, 3], [4, 5, 6]];
    let mut turned = x.t();
    turned.index_put_([&i, &j], tensor![10, 20], true);
    assert_eq!(turned.to_vec(), [1, 14, 2, 5, 3, 26]);
    let mut shared = x.clone();
    shared.index_put_([&tensor![1]], tensor![0], false);
    assert_eq!((shared.to_vec(), x.to_vec()), (vec![1, 2, 3, 0, 0, 0], vec![1, 2, 3, 4, 5, 6]));
    let mut own = &x + 0;
    let place = own.as_slice().map(|elements| elements.as_ptr());
    own.index_put_([&tensor![0]], tensor![7, 8, 9], false);
    assert_eq!((own.as_slice().map(|elements| elements.as_ptr()), own.to_vec()), (place, vec![7, 8, 9, 4, 5, 6]));
}
