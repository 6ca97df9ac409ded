//! What `profile` records: each call once, with its operands, bytes and times.

use castiron::{Record, Tensor, axis, fused, profile, shape, tensor};

fn named(records: &[Record]) -> Vec<(&str, u64, u64)> {
    records.iter().map(|record| (record.name(), record.bytes_read(), record.bytes_written())).collect()
}

#[test]
fn calls_are_recorded_once_with_their_bytes() {
    let (x, w) = (Tensor::<f32, shape![8, 16]>::ones(), Tensor::<f32, shape![16, 4]>::ones());
    let bias = Tensor::<f32, shape![4]>::ones();
    let (y, found) = profile(|| (x.matmul(&w) + &bias).softmax(axis![-1]).sum_axis(axis![0]));
    assert_eq!(y.to_vec(), [2.0; 4]);
    // The product writes what the sum reads; a bias that is broadcast is read once.
    let calls = [("matmul", 768, 128), ("add", 144, 128), ("softmax", 128, 128), ("sum", 128, 16)];
    assert_eq!(named(found.records()), calls);
    assert!(found.records().iter().all(|record| record.device() == "cpu" && record.time() >= record.own_time()));
    assert!(found.records().windows(2).all(|pair| pair[0].start() <= pair[1].start()));
    assert_eq!(found.records()[1].operands()[1].1, [8, 4]);
    let table = found.to_string();
    assert_eq!(table.lines().count(), 6, "{table}");
    assert!(found.chrome_trace().contains("\"name\":\"softmax\",\"ph\":\"X\""));
}

#[test]
fn few_elements_in_place_and_fused_are_recorded() {
    let mut x = tensor![1.0, 2.0];
    let (_, found) = profile(|| {
        x += 1.0;
        x.exp_();
        let y = fused!((x * x + 1.0).sum());
        (&x * &x, y)
    });
    let names: Vec<&str> = found.records().iter().map(|record| record.name()).collect();
    assert_eq!(names, ["add", "exp", "fused", "mul"]);
    assert_eq!(profile(|| ()).1.records().len(), 0);
    // What runs before and after is not recorded.
    let _ = x.exp();
    assert_eq!(found.records().len(), 4);
}

#[test]
fn what_the_host_computes_is_recorded_by_its_name() {
    let p = Tensor::<f32, shape![4]>::full(1.0);
    let (ones, found) = profile(|| p.binomial(&p, &mut castiron::Generator::seeded(0)));
    assert_eq!((ones.to_vec(), named(found.records())), (vec![1.0; 4], vec![("binomial", 32, 16)]));
    let (_, found) = profile(|| {
        let mut x = p.zip_map(tensor![1_i64], |(p, one)| p as f64 + one as f64);
        x.map_(|v| 2.0 * v);
        x.map_lanes(axis![0], |lane| lane.len() as i32).fold(0, |sum, v| sum + v)
    });
    assert_eq!(named(found.records()), [("zip_map", 24, 32), ("map_", 32, 32), ("map_lanes", 32, 4), ("fold", 4, 0)]);
}

#[test]
fn a_profile_within_another_records_for_itself() {
    let x = tensor![1.0, 2.0];
    let ((_, inner), outer) = profile(|| {
        let _ = x.exp();
        profile(|| x.log())
    });
    let names = |records: &[Record]| records.iter().map(|record| record.name().to_owned()).collect::<Vec<_>>();
    assert_eq!((names(inner.records()), names(outer.records())), (vec!["log".to_owned()], vec!["exp".to_owned()]));
    // After a panic nothing is recorded any more, nor by the next profile what came before.
    let caught = std::panic::catch_unwind(|| {
        profile(|| {
            if tensor![1].item() == 1 {
                panic!("a user's")
            }
        })
    });
    assert!(caught.is_err());
    let _ = x.exp();
    assert_eq!(names(profile(|| x.sqrt()).1.records()), ["sqrt"]);
}

#[test]
fn operations_of_any_tensors_are_recorded_by_name() -> castiron::Result<()> {
    let x = castiron::AnyTensor::from(Tensor::<u8, shape![100, 10]>::ones());
    let (y, found) = profile(|| (&x + 0.5)?.mul(&x)?.sum(Some(&[0]), false, None));
    assert_eq!(y?.to_string(), "tensor([150., 150., 150., 150., 150., 150., 150., 150., 150., 150.])");
    let names: Vec<&str> = found.records().iter().map(|record| record.name()).collect();
    assert_eq!(names, ["add", "mul", "sum"]);
    assert_eq!((found.records()[0].bytes_read(), found.records()[0].bytes_written()), (1000, 4000));
    Ok(())
}
