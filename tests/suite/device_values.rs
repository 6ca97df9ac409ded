//! Devices as values, compared with PyTorch's: parsing, printing, equality and hashing, mixing, the
//! current device and the default device. Rows set aside are counted by the rule for which they are.

use crate::common::json;
use castiron::device::{
    CurrentDeviceGuard, DefaultDeviceGuard, DeviceType, current_device, default_device, scoped_current_device,
    scoped_default_device, set_current_device, set_default_device,
};
use castiron::{AnyDevice, Cpu, Cuda, Device, Error, IntoDevice, Meta, Result, Tensor, shape, tensor};
use serde_json::Value;
use static_assertions::{assert_impl_all, assert_not_impl_any};
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::{Add, AddAssign};

/// Where castiron departs on purpose.
const OUT_OF_RANGE: &str = "an ordinal out of range is an error";
const NO_ACCELERATOR: &str = "an ordinal alone is an error where there is no accelerator";
const TWO_DEVICES: &str = "operands on two devices are refused";
const PYTHON: &str = "the argument's type does not compile";

#[derive(Default)]
struct Tally {
    agree: usize,
    set_aside: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn set_aside(&mut self, why: &'static str) {
        *self.set_aside.entry(why).or_default() += 1;
    }

    /// One row: a device with its type, ordinal, `str` and `repr`, or a refusal.
    fn row(&mut self, row: &Value, ours: Result<AnyDevice>) {
        if row["error"].is_string() {
            assert!(matches!(ours, Err(Error::InvalidArgument { op: "device", .. })), "{row}: {ours:?}");
            self.agree += 1;
            return;
        }
        let printed = row["repr"].as_str().unwrap();
        if row["index"].as_i64().is_some_and(|index| index < 0) || is_wrapped(row) {
            assert!(ours.unwrap_err().to_string().contains("is out of range"), "{row}");
            return self.set_aside(OUT_OF_RANGE);
        }
        let ours = ours.unwrap_or_else(|error| panic!("{row}: {error}"));
        assert_eq!(ours.kind().name(), row["type"], "{row}");
        assert_eq!(ours.index().map(|index| index as u64), row["index"].as_u64(), "{row}");
        assert_eq!(ours.to_string(), row["str"].as_str().unwrap(), "{row}");
        assert_eq!(format!("{ours:?}"), printed, "{row}");
        assert_eq!(ours.to_string().parse(), Ok(ours));
        self.agree += 1;
    }

    fn finish(self, what: &str) {
        println!("{what}: {} rows agree; set aside: {:?}", self.agree, self.set_aside);
        assert!(self.agree > 0);
    }
}

/// Whether PyTorch has wrapped an ordinal to eight bits: the one asked for is not the one it gives.
fn is_wrapped(row: &Value) -> bool {
    let asked = ["in", "args", "arg"].iter().find_map(|key| row[*key].as_str()).unwrap();
    let digits: String = asked.chars().filter(char::is_ascii_digit).collect();
    digits.parse().is_ok_and(|asked: i64| row["index"] != asked)
}

#[test]
fn strings_parse_and_print_as_in_pytorch() {
    let mut tally = Tally::default();
    for row in json("device.json")["strings"].as_array().unwrap() {
        let text = row["in"].as_str().unwrap();
        let ours: Result<AnyDevice> = text.parse();
        assert_eq!(AnyDevice::try_from(text), ours);
        assert_eq!(AnyDevice::try_from(text.to_owned()), ours);
        assert_eq!((AnyDevice::new(text), AnyDevice::new(text.to_owned())), (ours.clone(), ours.clone()));
        tally.row(row, ours);
    }
    tally.finish("strings");
}

#[test]
fn a_type_and_an_ordinal() {
    let mut tally = Tally::default();
    for row in json("device.json")["type_index"].as_array().unwrap() {
        let arguments = row["args"].as_str().unwrap().trim_matches(['(', ')']);
        let (name, index) = arguments.split_once(", ").unwrap();
        let name = name.trim_matches('\'');
        match (index, index.parse::<i64>()) {
            (_, Ok(index)) => tally.row(row, AnyDevice::new((name, index))),
            ("None", _) => tally.row(row, AnyDevice::new(name)),
            _ => {
                assert!(row["error"].is_string());
                tally.set_aside(PYTHON);
            }
        }
    }
    tally.finish("type and ordinal");
}

assert_not_impl_any!(f64: IntoDevice);
assert_not_impl_any!(bool: IntoDevice);
assert_not_impl_any!((): IntoDevice);
assert_not_impl_any!(Vec<i64>: IntoDevice);
assert_not_impl_any!((&str, &str): IntoDevice);
assert_not_impl_any!((&str, f64): IntoDevice);
assert_not_impl_any!((&str, bool): IntoDevice);
assert_impl_all!(AnyDevice: Send, Sync, Copy, IntoDevice, std::str::FromStr, TryFrom<&'static str>, From<Cpu>);
assert_impl_all!(DefaultDeviceGuard: std::fmt::Debug);
assert_not_impl_any!(DefaultDeviceGuard: Send, Sync);
assert_not_impl_any!(CurrentDeviceGuard: Send, Sync);

#[test]
fn other_arguments() {
    let mut tally = Tally::default();
    for row in json("device.json")["other_args"].as_array().unwrap() {
        let arg = row["arg"].as_str().unwrap();
        match (arg, arg.parse::<i64>()) {
            (_, Ok(index)) => match AnyDevice::new(index) {
                Err(Error::DeviceUnavailable { .. }) => {
                    assert!(current_device().is_err());
                    tally.set_aside(NO_ACCELERATOR);
                }
                ours => tally.row(row, ours),
            },
            ("b'cuda'" | "type='cuda'", _) => tally.row(row, AnyDevice::new("cuda")),
            ("torch.device('cuda:1')", _) => tally.row(row, AnyDevice::new(AnyDevice::new("cuda:1").unwrap())),
            ("type='cuda',index=2", _) => tally.row(row, AnyDevice::new((DeviceType::CUDA, 2_usize))),
            // (a tuple is a type and an ordinal in Rust)
            _ => {
                assert!(row["error"].is_string(), "{row}");
                tally.set_aside(PYTHON);
            }
        }
    }
    tally.finish("other arguments");
}

#[test]
fn equality_and_hashing() {
    let mut tally = Tally::default();
    let hashing = RandomState::new();
    for row in json("device.json")["equality"].as_array().unwrap() {
        let [a, b] = [0, 1].map(|i| AnyDevice::new(row[i].as_str().unwrap()).unwrap());
        assert_eq!(a == b, row[2].as_bool().unwrap(), "{row}");
        assert_eq!(hashing.hash_one(a) == hashing.hash_one(b), row[3].as_bool().unwrap(), "{row}");
        tally.agree += 1;
    }
    tally.finish("equality");
    let distinct: HashSet<AnyDevice> = ["cpu", "cpu:0", "cpu", "cuda:0"].map(|name| name.parse().unwrap()).into();
    assert_eq!(distinct.len(), 3);
}

type On<D, S> = Tensor<f32, S, D>;
assert_not_impl_any!(On<Cpu, shape![2]>: Add<On<Meta, shape![2]>>, Add<On<Meta, ()>>);
assert_not_impl_any!(On<Meta, shape![2]>: Add<On<Cpu, shape![2]>>);
assert_impl_all!(On<Meta, shape![2]>: Add<On<Cpu, ()>, Output = On<Meta, shape![2]>>);
assert_impl_all!(On<Cpu, ()>: Add<On<Meta, shape![2]>, Output = On<Meta, shape![2]>>);
assert_impl_all!(On<Cpu, ()>: Add<On<Meta, ()>, Output = On<Meta, ()>>);
assert_impl_all!(On<Meta, ()>: Add<On<Cpu, ()>, Output = On<Meta, ()>>, Add<f32>, AddAssign<On<Cpu, ()>>);

#[test]
fn mixing_devices() {
    let mut tally = Tally::default();
    let at_use = |name: &str| AnyDevice::new(name).and_then(AnyDevice::resolve).map(|device| device.to_string());
    for (what, row) in json("device.json")["misc"].as_object().unwrap() {
        let refused = row.get("error").is_some();
        let same = |ours: &str| assert_eq!(row, ours, "{what}");
        match what.as_str() {
            // A device is no string, and has no order: neither compiles.
            "device('cuda') == 'cuda'" | "device('cpu') < device('cuda')" => {
                assert_not_impl_any!(AnyDevice: PartialEq<str>, PartialEq<&'static str>, PartialOrd);
            }
            "tensor on cpu .device" => same(&tensor![1].device().to_string()),
            "tensor.to('cpu:0').device" | "empty(device='cpu:0').device" => same(&at_use("cpu:0").unwrap()),
            "empty(device='cpu:1').device" => same(&at_use("cpu:1").unwrap()),
            "empty.device == device('cpu')" => assert_eq!(tensor![1].device() == AnyDevice::CPU, *row),
            "empty(device='cpu:0').device == device('cpu')" => assert_eq!(at_use("cpu:0").unwrap() == "cpu", *row),
            "empty(device='meta').device" => same(&at_use("meta").unwrap()),
            "empty(device='meta:1').device" => same(&at_use("meta:1").unwrap()),
            "empty(device='cuda')" if at_use("cuda").is_ok() => tally.set_aside("a machine with CUDA"),
            "empty(device=0)" if at_use("cuda:0").is_ok() => tally.set_aside("a machine with CUDA"),
            "empty(device='cuda')" => assert!(refused && at_use("cuda").is_err()),
            "empty(device=0)" => assert!(refused && AnyDevice::new(0).is_err()),
            "empty(device='xpu')" => assert!(refused && at_use("xpu").is_err()),
            "empty(device='mps')" => assert!(refused && at_use("mps").is_err()),
            "empty(device='gpu')" => assert!(refused && at_use("gpu").is_err()),
            // The assertions above ask the compiler; `where` and joining: `ui-tests/device`.
            "cpu + meta" | "meta + cpu" | "cpu + meta 0-d" | "cat cpu,meta" | "where cpu cond, meta" => {
                assert!(refused, "{what}")
            }
            "meta + cpu 0-d" | "cpu 0-d + meta" | "cpu 0-d + meta 0-d" | "meta 0-d + cpu 0-d" | "meta + 1"
            | "meta iadd cpu 0-d" => same("meta"),
            "cpu iadd meta"
            | "meta iadd cpu"
            | "mm cpu,meta"
            | "meta index with cpu long"
            | "cpu index with meta long" => {
                tally.set_aside(TWO_DEVICES);
                continue;
            }
            "meta.to('cpu')" | "cpu copy_ meta" => {
                assert!(refused && tensor![1].to_device::<Meta>().unwrap().to_device::<Cpu>().is_err());
            }
            "meta copy_ cpu" => same(&tensor![1].to_device::<Meta>().unwrap().device().to_string()),
            // There is no `item` of a meta tensor.
            "meta.item()" => assert!(refused),
            "empty.get_device()" => assert!(*row == -1 && tensor![1].device().index().is_none()),
            "with device('meta')" => {
                let answers = {
                    let _guard = scoped_default_device("meta").unwrap();
                    let made: Tensor<i64, shape![1]> = Tensor::zeros();
                    format!("{} / explicit cpu: {} / tensor: {}", default_device(), made.device(), default_device())
                };
                same(&answers);
            }
            "pickle" => same(&format!("{:?}", "cuda:1".parse::<AnyDevice>().unwrap())),
            // Layouts and memory formats, which the table names here.
            _ if what.contains("layout") || what.contains("torch.s") || what.contains("memory_formats") => continue,
            _ => panic!("unknown row {what}: {row}"),
        }
        tally.agree += 1;
    }
    tally.finish("mixing");
}

#[test]
fn errors_say_what_is_wrong_and_what_to_write() {
    let text = |device: Result<AnyDevice>| device.unwrap_err().to_string();
    let parsed = |name: &str| text(AnyDevice::new(name));
    assert_eq!(
        parsed("cuda:01"),
        "device: `cuda:01` is not a device: an ordinal has no zeros before it; devices are written `cpu`, `cuda`, \
         `cuda:1`, `meta`"
    );
    assert!(
        parsed("gpu:0").starts_with("device: no device type is called `gpu`: expected one of `cpu`, `cuda`, `ipu`")
    );
    assert_eq!(parsed("cuda:128"), "device: ordinal 128 of `cuda` is out of range: ordinals are 0 to 127");
    assert_eq!(
        text(AnyDevice::new(("cuda", -1))),
        "device: ordinal -1 of `cuda` is out of range: ordinals are 0 to 127"
    );
    assert_eq!(text(AnyDevice::new(("cuda:0", 1))), "device: `cuda:0` has an ordinal, and 1 is given beside it");
    assert_eq!(
        text(AnyDevice::new(Cuda::<128>)),
        "device: ordinal 128 of `cuda` is out of range: ordinals are 0 to 127"
    );
    assert_eq!(
        text(AnyDevice::new("mps").unwrap().resolve()),
        "mps is not available: castiron makes tensors on `cpu`, `cuda` and `meta`"
    );
    if current_device().is_err() {
        assert!(text(AnyDevice::new("cuda").unwrap().resolve()).starts_with("cuda:0 is not available: "));
        assert!(text(AnyDevice::new(0)).starts_with("the accelerator that an ordinal counts is not available: "));
    }
}

fn named_by<D: Device>() -> AnyDevice {
    D::default().into_device().unwrap()
}

#[test]
fn typed_devices_are_the_values_of_the_same_name() {
    assert_eq!([named_by::<Cpu>(), named_by::<Meta>()], [AnyDevice::CPU, AnyDevice::META]);
    assert_eq!(named_by::<Cuda<3>>(), AnyDevice::new("cuda:3").unwrap());
    assert_eq!(AnyDevice::from(Cpu).to_string(), Cpu::name());
    assert_eq!(AnyDevice::from(Meta).to_string(), Meta::name());
    assert_eq!(named_by::<Cuda<3>>().to_string(), Cuda::<3>::name());
    assert_eq!((&AnyDevice::META).into_device(), DeviceType::META.into_device());
    assert_eq!(format!("{:>6}|{:<8}|", AnyDevice::CPU, AnyDevice::new("cuda:1").unwrap()), "   cpu|cuda:1  |");
    for kind in DeviceType::ALL {
        assert_eq!(kind.name().parse(), Ok(*kind));
        assert_eq!(AnyDevice::new(*kind).unwrap().kind(), *kind);
    }
}

#[test]
fn the_default_device_is_that_of_the_innermost_guard_on_this_thread() {
    set_default_device("cpu:0").unwrap();
    assert_eq!(default_device(), AnyDevice::new("cpu:0").unwrap());
    set_default_device(Cpu).unwrap();
    let outer = scoped_default_device("meta").unwrap();
    let inner = scoped_default_device(("cuda", 1)).unwrap();
    assert_eq!(default_device().to_string(), "cuda:1");
    // Setting it inside a scope ends with the scope.
    set_default_device("cuda:2").unwrap();
    assert!(set_default_device("gpu").is_err());
    assert_eq!(default_device().to_string(), "cuda:2");
    assert_eq!(std::thread::spawn(default_device).join().unwrap(), AnyDevice::CPU);
    // Guards may go in any order.
    drop(outer);
    assert_eq!(default_device().to_string(), "cuda:2");
    drop(inner);
    assert_eq!(default_device(), AnyDevice::CPU);
    let panicked = std::panic::catch_unwind(|| {
        let _guard = scoped_default_device(Meta).unwrap();
        panic!("inside");
    });
    assert!(panicked.is_err());
    assert_eq!(default_device(), AnyDevice::CPU);
    // A tensor's device is in its type: the default changes nothing there.
    let _guard = scoped_default_device("meta").unwrap();
    assert_eq!(Tensor::<f32, shape![2]>::zeros().device(), AnyDevice::CPU);
}

#[test]
fn the_current_device_is_a_cuda_device() {
    assert!(matches!(set_current_device("cpu"), Err(Error::InvalidArgument { op: "set_current_device", .. })));
    assert!(scoped_current_device("meta").is_err());
    match current_device() {
        Ok(device) => {
            set_current_device(device).unwrap();
            assert_eq!(AnyDevice::new("cuda").unwrap().resolve(), Ok(device));
        }
        Err(error) => {
            assert!(matches!(error, Error::DeviceUnavailable { .. }));
            assert!(matches!(set_current_device("cuda:1"), Err(Error::DeviceUnavailable { .. })));
            assert!(matches!(scoped_current_device(Cuda::<0>), Err(Error::DeviceUnavailable { .. })));
            assert!(matches!(set_current_device(0), Err(Error::DeviceUnavailable { .. })));
        }
    }
}
