//! Structs of tensors loaded from a checkpoint by `#[derive(Module)]`; every mismatch is reported at once.

use castiron::io::{CheckpointWriter, Difference, LoadOptions, StoredTensor, ToDevice};
use castiron::{Checkpoint, Cpu, Device, Error, Meta, Module, Tensor, dims, shape, tensor};
use std::collections::{BTreeMap, HashMap};

dims! { Vocab }

#[derive(Module)]
struct Norm {
    weight: Tensor<f32, shape![4]>,
    bias: Tensor<f32, shape![4]>,
}

#[derive(Module)]
struct Linear<D: Device = Cpu> {
    weight: Tensor<f32, shape![4, 4], D>,
    bias: Tensor<f32, shape![4], D>,
}

#[derive(Module)]
struct Layer {
    #[module(rename = "attention.query")]
    query: Linear,
    norm: Norm,
}

#[derive(Module)]
struct Model {
    words: Tensor<f32, shape![Vocab, 4]>,
    head: Tensor<f32, shape![Vocab]>,
    layers: Vec<Layer>,
}

/// A checkpoint of these tensors.
fn checkpoint<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a dyn StoredTensor)>) -> Checkpoint {
    let writer = tensors.into_iter().fold(CheckpointWriter::new(), |writer, (name, x)| writer.tensor(name, x));
    Checkpoint::from_bytes(writer.to_bytes().unwrap()).unwrap()
}

fn model(layers: usize) -> Model {
    let linear = || Linear { weight: Tensor::full(2.0), bias: Tensor::ones() };
    let layer = |_| Layer { query: linear(), norm: Norm { weight: Tensor::ones(), bias: Tensor::zeros() } };
    Model {
        words: Tensor::ones_sized([10, 4]),
        head: Tensor::zeros_sized([10]),
        layers: (0..layers).map(layer).collect(),
    }
}

fn saved(module: &impl Module) -> Checkpoint {
    checkpoint(module.named_parameters().iter().map(|parameter| (parameter.name.as_str(), parameter.tensor)))
}

fn names(module: &impl Module) -> Vec<String> {
    module.named_parameters().into_iter().map(|parameter| parameter.name).collect()
}

#[test]
fn a_struct_is_saved_and_loaded_under_pytorchs_names() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("modules-{}.st", std::process::id()));
    model(2).save(&path).unwrap();
    let file = Checkpoint::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let listed: Vec<&str> = file.names().collect();
    assert_eq!(listed.len(), 10);
    assert_eq!(listed[..3], ["head", "layers.0.attention.query.bias", "layers.0.attention.query.weight"]);
    let loaded = Model::load(&file).unwrap();
    assert_eq!((loaded.words.shape(), loaded.layers.len()), ([10, 4], 2));
    assert_eq!(loaded.layers[1].query.weight.to_vec(), [2.0; 16]);
    assert_eq!(names(&loaded)[2..4], ["layers.0.attention.query.weight", "layers.0.attention.query.bias"]);
    assert_eq!(loaded.named_parameters()[0].to_string(), "words: float32 [10, 4]");
}

#[test]
fn every_difference_is_said_at_once() {
    let half: Tensor<castiron::f16, shape![4]> = Tensor::ones();
    let (fewer, pooler) = (Tensor::<f32, shape![_]>::zeros_sized([9]), Tensor::<f32, shape![4]>::zeros());
    let model = model(2);
    let mut tensors: Vec<(String, &dyn StoredTensor)> =
        model.named_parameters().into_iter().map(|parameter| (parameter.name, parameter.tensor)).collect();
    tensors.retain(|(name, _)| name != "layers.1.attention.query.bias");
    for (name, tensor) in &mut tensors {
        match name.as_str() {
            "head" => *tensor = &fewer,
            "layers.0.norm.weight" => *tensor = &half,
            _ => {}
        }
    }
    tensors.push(("pooler.weight".to_owned(), &pooler));
    let file = checkpoint(tensors.iter().map(|(name, tensor)| (name.as_str(), *tensor)));
    let error = Model::load(&file).err().unwrap();
    assert_eq!(
        error.to_string(),
        "load: memory: the checkpoint does not fit (4 differences):\n  \
         head: `Vocab` is 9 here and 10 in words\n  \
         layers.0.norm.weight: expected float32 [4], found float16 [4]\n  \
         layers.1.attention.query.bias: missing (expected float32 [4])\n  \
         pooler.weight: nothing takes it"
    );
    let Error::Checkpoint { differences, .. } = error else { panic!("{error}") };
    assert!(matches!(&differences[0], Difference::Size { dimension: "Vocab", size: 9, other_size: 10, .. }));
    assert_eq!(differences.iter().map(Difference::name).collect::<Vec<_>>()[3], "pooler.weight");
}

#[test]
fn a_module_is_loaded_on_any_device_and_moved() {
    #[derive(Module)]
    struct Two<D: Device = Cpu> {
        layers: [Linear<D>; 2],
        last: Option<Box<Linear<D>>>,
        #[module(skip)]
        name: String,
    }
    let linear = || Linear { weight: Tensor::ones(), bias: Tensor::zeros() };
    let two = Two { layers: [linear(), linear()], last: Some(Box::new(linear())), name: "two".to_owned() };
    let file = saved(&two);
    assert_eq!(file.len(), 6);
    let plan = Two::<Meta>::load(&file).unwrap();
    assert_eq!((plan.layers[1].weight.shape(), plan.name.as_str()), ([4, 4], ""));
    assert!(plan.layers[0].weight.to_device::<Cpu>().is_err(), "there are no elements");
    let moved: Two<Meta> = Two::<Cpu>::load(&file).unwrap().to_device::<Meta>().unwrap();
    assert_eq!(moved.last.unwrap().bias.shape(), [4]);
    let same: Two = two.to_device().unwrap();
    assert!(same.layers[0].weight.shares_storage(&two.layers[0].weight) && same.name == "two");
}

#[test]
fn what_is_optional_may_be_missing_and_what_is_skipped_is_not_looked_for() {
    #[derive(Module)]
    struct Head<M: Module = Tensor<f32, shape![2]>> {
        weight: M,
        bias: Option<Tensor<f32, shape![2]>>,
        #[module(skip)]
        steps: Vec<u8>,
    }
    let x = tensor![1.0, 2.0];
    let head = Head::<Tensor<f32, shape![2]>>::load(&checkpoint([("weight", &x as _)])).unwrap();
    assert_eq!((head.weight.to_vec(), head.bias.is_none(), head.steps), (vec![1.0, 2.0], true, vec![]));
    let wrong = tensor![1.0];
    let error =
        Head::<Tensor<f32, shape![2]>>::load(&checkpoint([("weight", &x as _), ("bias", &wrong as _)])).err().unwrap();
    assert!(error.to_string().ends_with("(1 difference):\n  bias: expected float32 [2], found float32 [1]"), "{error}");
}

#[test]
fn names_may_be_left_out_numbered_and_ignored() {
    #[derive(Module)]
    struct Pair(Tensor<i64, shape![1]>, Tensor<i64, shape![1]>);
    #[derive(Module)]
    #[module(ignore("position_ids", "pooler"))]
    struct Outer {
        #[module(rename = "")]
        inner: Inner,
        r#type: Pair,
    }
    #[derive(Module)]
    struct Inner {
        x: Tensor<i64, shape![1]>,
    }
    #[derive(Module)]
    struct Nothing;
    let one = tensor![1];
    let all = ["x", "type.0", "type.1", "position_ids", "pooler.weight", "pooler.bias"];
    let outer = Outer::load(&checkpoint(all.map(|name| (name, &one as _)))).unwrap();
    assert_eq!((outer.inner.x.item(), outer.r#type.0.item() + outer.r#type.1.item()), (1, 2.into()));
    assert_eq!(names(&outer), ["x", "type.0", "type.1"]);
    let error =
        Outer::load(&checkpoint(["x", "type.0", "type.1", "poolers"].map(|name| (name, &one as _)))).err().unwrap();
    assert!(error.to_string().ends_with("poolers: nothing takes it"), "{error}");
    assert!(Nothing::load(&checkpoint([])).is_ok());
}

#[test]
fn a_map_has_what_the_checkpoint_names() {
    #[derive(Module)]
    #[module(ignore("heads.steps"), tied("heads.tied" = "heads.color"))]
    struct Heads<D: Device = Cpu> {
        heads: BTreeMap<String, Weight<D>>,
        biases: HashMap<String, Tensor<f32, shape![1], D>>,
    }
    #[derive(Module)]
    struct Weight<D: Device = Cpu> {
        weight: Tensor<f32, shape![1], D>,
    }
    let (one, two) = (tensor![1.0], tensor![2.0]);
    let all = ["heads.shape.weight", "heads.color.weight", "heads.steps", "biases.b", "biases.a", "biases.c"];
    let file = checkpoint(all.map(|name| (name, if name == "biases.a" { &two as _ } else { &one as _ })));
    let heads = Heads::<Cpu>::load(&file).unwrap();
    let listed = ["heads.color.weight", "heads.shape.weight", "biases.a", "biases.b", "biases.c"];
    assert_eq!(names(&heads), listed);
    assert_eq!((heads.heads["tied"].weight.to_vec(), heads.biases["a"].item()), (vec![1.0], 2.0));
    // Saving writes what was loaded, and `load_over` keeps entries that were there before.
    let again = Heads::<Cpu>::load(&saved(&heads)).unwrap().to_device::<Meta>().unwrap();
    assert_eq!(names(&again), listed);
    let mut biases = heads.biases.clone();
    biases.insert("z".to_owned(), tensor![9.0]);
    let (over, differences) = Heads { biases, ..heads }.load_over(&file).unwrap();
    assert_eq!((over.biases["z"].item(), over.biases["a"].item(), differences.len()), (9.0, 2.0, 1));
    let error = Heads::<Cpu>::load(&checkpoint([("heads.color", &one as _)])).err().unwrap();
    assert!(error.to_string().contains("heads.color.weight: missing"), "{error}");
}

#[derive(Module)]
#[module(tied("head.weight" = "words.weight"))]
struct TiedModel {
    words: Weight,
    head: Weight,
}
#[derive(Module)]
struct Weight {
    weight: Tensor<f32, shape![2]>,
}

#[test]
fn tied_tensors_are_stored_once_under_either_name_and_shared() {
    let x = tensor![1.0, 2.0];
    for stored in [&["words.weight"][..], &["head.weight"], &["words.weight", "head.weight"]] {
        let file = checkpoint(stored.iter().map(|&name| (name, &x as _)));
        let model = TiedModel::load(&file).unwrap();
        assert!(model.words.weight.shares_storage(&model.head.weight) && model.head.weight == x, "{stored:?}");
        assert_eq!(names(&model), ["words.weight"]);
    }
    let y = tensor![1.0, 3.0];
    let error = TiedModel::load(&checkpoint([("words.weight", &x as _), ("head.weight", &y as _)])).err().unwrap();
    assert!(
        error.to_string().ends_with("head.weight: tied to words.weight, and the elements of the two differ"),
        "{error}"
    );
    let error = TiedModel::load(&checkpoint([])).err().unwrap();
    assert!(error.to_string().contains("(2 differences)"), "{error}");

    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tied-{}.st", std::process::id()));
    let equal = TiedModel { words: Weight { weight: x.clone() }, head: Weight { weight: &x + 0.0 } };
    equal.save(&path).unwrap();
    assert_eq!(Checkpoint::open(&path).unwrap().len(), 1);
    std::fs::remove_file(&path).unwrap();
    let apart = TiedModel { words: Weight { weight: x }, head: Weight { weight: y } };
    let error = apart.save(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("tensor `head.weight` is tied to `words.weight`, and the elements of the two differ"),
        "{error}"
    );
    assert!(!path.exists());

    #[derive(Module)]
    struct Fields {
        a: Tensor<f32, shape![2]>,
        #[module(tied = "a")]
        b: Tensor<f32, shape![_]>,
    }
    let a = tensor![5.0, 6.0];
    let fields = Fields::load(&checkpoint([("a", &a as _)])).unwrap();
    assert_eq!((names(&fields), fields.b.to_vec(), fields.a), (vec!["a".to_owned()], vec![5.0, 6.0], a));
}

#[test]
fn what_is_missing_keeps_its_values_when_loaded_over_and_what_has_another_shape_is_refused() {
    let (x, other) = (tensor![7.0, 7.0, 7.0, 7.0], tensor![1]);
    let file = checkpoint([("layers.0.norm.weight", &x as _), ("other", &other as _)]);
    let (loaded, differences) = model(2).load_over(&file).unwrap();
    assert_eq!((loaded.layers.len(), loaded.layers[0].norm.weight.to_vec()), (2, vec![7.0; 4]));
    assert_eq!((loaded.layers[1].norm.weight.to_vec(), loaded.words.shape()), (vec![1.0; 4], [10, 4]));
    assert_eq!(differences.len(), 10);
    assert!(differences.iter().any(|difference| difference.to_string() == "other: nothing takes it"));
    let error = model(2).load_over(&checkpoint([("head", &x.reshape::<shape![2, 2]>() as _)])).err().unwrap();
    assert!(error.to_string().contains("head: expected float32 [Vocab], found float32 [2, 2]"), "{error}");
}

#[test]
fn a_part_of_a_checkpoint_is_loaded_by_its_prefix() {
    let (x, y) = (tensor![1.0, 2.0], tensor![3]);
    let file =
        checkpoint([("bert.weight", &x as _), ("bert.more", &y as _), ("cls", &y as _), ("berth.weight", &y as _)]);
    let error = LoadOptions::new().prefix("bert").load::<Weight>(&file).err().unwrap().to_string();
    assert!(error.ends_with("(1 difference):\n  bert.more: nothing takes it"), "{error}");
    let mut seen = Vec::new();
    let options = LoadOptions::new().prefix("bert").allow_unexpected().on_progress(|at| seen.push((at.done, at.total)));
    assert_eq!(options.load::<Weight>(&file).unwrap().weight, x);
    assert_eq!(seen, [(8, 16)]);
}

#[cfg(feature = "any")]
#[test]
fn a_field_may_have_any_dtype_and_shape() {
    #[derive(Module)]
    struct Open {
        table: castiron::AnyTensor,
        list: Vec<castiron::AnyTensor>,
    }
    let (x, y) = (tensor![[true]], tensor![1, 2]);
    let open = Open::load(&checkpoint([("table", &x as _), ("list.0", &y as _), ("list.1", &x as _)])).unwrap();
    assert_eq!((open.table.dtype().name(), open.list[0].shape(), open.list.len()), ("bool", &[2][..], 2));
    assert_eq!(names(&open), ["table", "list.0", "list.1"]);
}
