//! Dtypes as values and as types, compared with PyTorch's: names, predicates, limits, promotion, casting, and every
//! 8-bit code.

use crate::common::{Token, code, dtype, json};
use castiron::{
    CanCast, Complex, DType, Dtype, Element, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, Promote,
    Tensor, axis, bf16, f16, shape, tensor,
};
use std::marker::PhantomData;

#[test]
fn names_sizes_predicates_and_limits_are_pytorchs() {
    let table = json("dtypes.json");
    let mut rows = 0;
    for row in table["dtypes"].as_array().unwrap() {
        rows += 1;
        let dtype = dtype(row["code"].as_str().unwrap()).unwrap();
        assert_eq!(dtype.name(), row["name"]);
        assert_eq!(format!("{dtype:?}"), row["repr"]);
        assert_eq!(dtype.itemsize() as u64, row["itemsize"]);
        assert_eq!(dtype.is_floating_point(), row["is_floating_point"]);
        assert_eq!(dtype.is_complex(), row["is_complex"]);
        assert_eq!(dtype.is_signed(), row["is_signed"]);
        assert_eq!(code(dtype.to_real()), row["to_real"]);
        assert_eq!(dtype.to_complex().map(code), row["to_complex"].as_str());
        let mut names: Vec<&str> = dtype.aliases().to_vec();
        names.push(dtype.name());
        for alias in row["aliases"].as_array().unwrap() {
            let alias = alias.as_str().unwrap();
            assert!(names.contains(&alias), "{dtype} is not called {alias}");
            assert_eq!(alias.parse(), Ok(dtype));
            assert_eq!(format!("torch.{alias}").parse(), Ok(dtype));
        }
        assert_eq!(names.len(), row["aliases"].as_array().unwrap().len());
        match dtype.iinfo() {
            Some(info) => {
                assert_eq!(info.bits, row["iinfo"]["bits"]);
                assert_eq!(info.min.to_string(), row["iinfo"]["min"].to_string());
                assert_eq!(info.max.to_string(), row["iinfo"]["max"].to_string());
                assert_eq!(info.dtype.name(), row["iinfo"]["dtype"]);
            }
            None => assert!(row["iinfo"]["error"].is_array(), "{dtype} has iinfo"),
        }
        match dtype.finfo() {
            Some(info) => {
                let limits = &row["finfo"];
                assert_eq!(info.bits, limits["bits"]);
                for (ours, theirs) in [
                    (info.eps, "eps"),
                    (info.min, "min"),
                    (info.max, "max"),
                    (info.smallest_normal, "smallest_normal"),
                    (info.tiny(), "tiny"),
                    (info.resolution, "resolution"),
                ] {
                    assert_eq!(ours, limits[theirs].as_f64().unwrap(), "{dtype} {theirs}");
                }
                assert_eq!(info.dtype.name(), limits["dtype"]);
            }
            None => assert!(
                row["finfo"]["error"].is_array() || row["finfo"]["max"]["error"].is_array(),
                "{dtype} has finfo"
            ),
        }
    }
    assert!(rows > 0);
    for (name, row) in table["alias_constants"].as_object().unwrap() {
        assert_eq!(name.parse::<DType>().map(code), Ok(row.as_str().unwrap()));
    }
}

#[test]
fn unknown_names_are_refused_with_a_hint() {
    for name in ["", "float31", "Float32", "torch.", "int 8", "torch.torch.int8"] {
        let error = name.parse::<DType>().unwrap_err();
        assert!(error.to_string().contains("expected one of PyTorch's names"), "{error}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn dtypes_serialize_by_name() {
    let text = serde_json::to_string(&DType::BF16).unwrap();
    assert_eq!(text, "\"bfloat16\"");
    assert_eq!(serde_json::from_str::<DType>("\"half\"").unwrap(), DType::F16);
    assert!(serde_json::from_str::<DType>("\"f33\"").is_err());
}

/// A probe: the inherent constant exists where the bound holds and shadows the trait's.
struct Pair<A, B>(PhantomData<(A, B)>);
trait Refused {
    const PROMOTES: Option<DType> = None;
    const CASTS: bool = false;
}
impl<A, B> Refused for Pair<A, B> {}
impl<A: Promote<B>, B> Pair<A, B> {
    const PROMOTES: Option<DType> = Some(<A::Output as Element>::DTYPE);
}
impl<A: CanCast<B>, B> Pair<A, B> {
    const CASTS: bool = true;
}

/// For every ordered pair of dtypes: the two, what they promote to, whether the first may be cast to the second.
macro_rules! every_pair {
    ($($a:ty),*) => { [$(every_pair!(@row $a)),*].concat() };
    (@row $a:ty) => {
        every_pair!(@cells $a: bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64>,
            u16, u32, u64, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FNX2)
    };
    (@cells $a:ty: $($b:ty),*) => {
        [$((<$a>::DTYPE, <$b>::DTYPE, <Pair<$a, $b>>::PROMOTES, <Pair<$a, $b>>::CASTS)),*]
    };
}

fn pairs() -> Vec<(DType, DType, Option<DType>, bool)> {
    every_pair!(
        bool,
        u8,
        i8,
        i16,
        i32,
        i64,
        f16,
        bf16,
        f32,
        f64,
        Complex<f16>,
        Complex<f32>,
        Complex<f64>,
        u16,
        u32,
        u64,
        F8E4M3FN,
        F8E4M3FNUZ,
        F8E5M2,
        F8E5M2FNUZ,
        F8E8M0FNU,
        F4E2M1FNX2
    )
}

#[test]
fn types_and_values_promote_alike() {
    for (a, b, promoted, casts) in pairs() {
        assert_eq!(a.promote(b), promoted, "{a} with {b}");
        assert_eq!(a.can_cast(b), casts, "{a} to {b}");
    }
}

#[test]
fn promotion_is_pytorchs() {
    let (mut agree, mut shells) = (0, 0);
    let table = json("promotion.json");
    let pairs = pairs();
    let find = |a, b| pairs.iter().find(|pair| (pair.0, pair.1) == (a, b)).unwrap();
    for row in table["promote_types"].as_array().unwrap() {
        let [a, b, result] = [0, 1, 2].map(|i| row[i].as_str().unwrap());
        let (a, b) = (dtype(a).unwrap(), dtype(b).unwrap());
        let promoted = find(a, b).2;
        if a.is_shell() || b.is_shell() {
            // promotion is not defined for shell dtypes, although PyTorch has an answer for some pairs
            assert_eq!(promoted, None, "{a} with {b}");
            shells += 1;
        } else {
            assert_eq!(promoted, dtype(result), "{a} with {b}");
            agree += 1;
        }
    }
    for row in table["can_cast"].as_array().unwrap() {
        let (a, b) = (dtype(row[0].as_str().unwrap()).unwrap(), dtype(row[1].as_str().unwrap()).unwrap());
        assert_eq!(find(a, b).3, row[2].as_bool().unwrap(), "{a} to {b}");
        agree += 1;
    }
    assert!(agree > 0);
    println!("{agree} promotions and casts agree; {shells} pairs with a shell are refused");
}

#[test]
fn promotion_is_a_join() {
    let computing: Vec<DType> = DType::ALL.iter().copied().filter(|dtype| !dtype.is_shell()).collect();
    assert_eq!(computing.len(), 13);
    for &a in &computing {
        assert_eq!(a.promote(a), Some(a));
        assert_eq!(a.promote_over(a), Some(a));
        for &b in &computing {
            let joined = a.promote(b).unwrap();
            assert_eq!(b.promote(a), Some(joined));
            assert!(a.can_cast(joined) && b.can_cast(joined));
            for &c in &computing {
                assert_eq!(joined.promote(c), a.promote(b.promote(c).unwrap()), "{a} {b} {c}");
            }
        }
    }
}

#[test]
fn every_float8_code_decodes_and_encodes_as_in_pytorch() {
    fn check<E: Token>(rows: &[serde_json::Value], name: &str, decode: impl Fn(E) -> f32) -> usize {
        let mut count = 0;
        for row in rows.iter().filter(|row| row[0] == name) {
            let (code, bits) = (row[1].as_str().unwrap(), row[2].as_str().unwrap());
            assert!(
                crate::common::agrees(decode(E::parse(code)), bits, 0.0),
                "{name} {code}: {}",
                decode(E::parse(code))
            );
            count += 1;
        }
        count
    }
    fn encode<E: Token>(rows: &[serde_json::Value], name: &str, encode: impl Fn(f32) -> E) -> usize {
        let mut count = 0;
        for row in rows.iter().filter(|row| row[0] == name) {
            let (bits, code) = (row[1].as_str().unwrap(), row[2].as_str().unwrap());
            assert_eq!(encode(f32::parse(bits)).bits(), code, "{name} of {}", f32::parse(bits));
            count += 1;
        }
        count
    }
    let table = json("values.json");
    let (decoded, encoded) = (table["f8_decode"].as_array().unwrap(), table["f8_encode"].as_array().unwrap());
    let mut count = 0;
    count += check::<F8E4M3FN>(decoded, "f8e4m3fn", F8E4M3FN::to_f32);
    count += check::<F8E4M3FNUZ>(decoded, "f8e4m3fnuz", F8E4M3FNUZ::to_f32);
    count += check::<F8E5M2>(decoded, "f8e5m2", F8E5M2::to_f32);
    count += check::<F8E5M2FNUZ>(decoded, "f8e5m2fnuz", F8E5M2FNUZ::to_f32);
    count += check::<F8E8M0FNU>(decoded, "f8e8m0fnu", F8E8M0FNU::to_f32);
    count += encode(encoded, "f8e4m3fn", F8E4M3FN::from_f32);
    count += encode(encoded, "f8e4m3fnuz", F8E4M3FNUZ::from_f32);
    count += encode(encoded, "f8e5m2", F8E5M2::from_f32);
    count += encode(encoded, "f8e5m2fnuz", F8E5M2FNUZ::from_f32);
    count += encode(encoded, "f8e8m0fnu", F8E8M0FNU::from_f32);
    assert_eq!(count, decoded.len() + encoded.len());
    println!("{count} float8 codes agree");
}

#[test]
fn float8_values_survive_the_way_there_and_back() {
    macro_rules! round_trip {
        ($($ty:ty),*) => {$(
            for code in 0..=255 {
                let value = <$ty>::from_bits(code);
                let back = <$ty>::from_f32(value.to_f32());
                assert!(back.to_bits() == code || value.to_f32().is_nan() && back.to_f32().is_nan(), "{code:02x}");
            }
        )*};
    }
    round_trip!(F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU);
    assert_eq!(F4E2M1FNX2::from_bits(0xb7).to_f32_pair(), [6.0, -1.5]);
}

/// A number whose type nothing says leaves the dtype of the result open until the end of the function. Methods are found all the same.
#[test]
fn methods_are_found_before_the_dtype_is_known() {
    let x = tensor![[1, 2], [3, 4]];
    assert_eq!((&x % 2).eq(0).to_vec(), [false, true, false, true]);
    assert_eq!((&x % 2).ne(0).to_vec(), [true, false, true, false]);
    let y = tensor![[1.0, 2.0], [3.0, 4.0]];
    assert_eq!((&y / 2.0).amax().item(), 2.0_f32);
    assert_eq!((&y * 2.0).amin().item(), 2.0_f32);
    assert_eq!(y.clamp_min(2).amin_axis(axis![1]).to_vec(), [2.0_f32, 3.0]);
    assert_eq!((y * 2).amax_axis(axis![0]).to_vec(), [6.0_f32, 8.0]);
}

#[test]
fn shells_have_equality_and_extremes() {
    use castiron::shells;
    let ids = tensor![[3, 1], [2, 5]; u16];
    assert_eq!(shells::eq(&ids, &tensor![3, 5; u16]).to_vec(), [true, false, false, true]);
    assert_eq!(shells::ne(&ids, &tensor![3, 5; u16]).to_vec(), [false, true, true, false]);
    assert_eq!((shells::amax(&ids).item(), shells::amin(&ids).item()), (5, 1));
    assert_eq!(shells::amax_axis(&ids, axis![0]).to_vec(), [3, 5]);
    assert_eq!(shells::amin_axis(&ids, axis![1]).to_vec(), [1, 2]);
    let wide = Tensor::<u16, shape![_]>::zeros_sized([3]);
    assert!(shells::try_eq(&ids, &wide).is_err() && shells::try_ne(&ids, &wide).is_err());
    assert!(shells::try_amax(&wide.slice(castiron::s![..0])).is_err());
}

#[test]
fn shells_do_not_compute() {
    static_assertions::assert_not_impl_any!(u16: Dtype);
    static_assertions::assert_not_impl_any!(F8E5M2: Dtype);
    static_assertions::assert_not_impl_any!(F4E2M1FNX2: Dtype);
    static_assertions::assert_impl_all!(u16: Element);
    static_assertions::assert_impl_all!(F4E2M1FNX2: Element);
}
