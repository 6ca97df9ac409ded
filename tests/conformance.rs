//! The tables of what PyTorch does, against `AnyTensor`: the rows that the example `conformance` counts have no disagreement.

#[path = "../examples/conformance/src/attributes.rs"]
mod attributes;
#[path = "../examples/conformance/src/calls.rs"]
mod calls;
#[path = "../examples/conformance/src/codes.rs"]
mod codes;
#[path = "../examples/conformance/src/dtypes.rs"]
mod dtypes;
#[path = "../examples/conformance/src/layouts.rs"]
mod layouts;
#[path = "../examples/conformance/src/missing.rs"]
mod missing;
// (Every row is run here.)
#[allow(dead_code)]
#[path = "../examples/conformance/src/report.rs"]
mod report;
#[path = "../examples/conformance/src/samples.rs"]
mod samples;
#[path = "../examples/conformance/src/sparse.rs"]
mod sparse;
#[path = "../examples/conformance/src/tables.rs"]
mod tables;
#[path = "../examples/conformance/src/tokens.rs"]
mod tokens;
#[path = "../examples/conformance/src/values.rs"]
mod values;
#[path = "../examples/conformance/src/views.rs"]
mod views;

fn agrees(name: &str) {
    let folder = std::env::var_os("CASTIRON_ORACLE");
    let folder = folder.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle").into());
    let texts = tables::texts(folder.as_ref()).unwrap();
    // A folder given may hold some of the tables only.
    let Some(text) = texts.get(name) else { return };
    let read = tables::TABLES.iter().find(|(table, _)| *table == name).unwrap().1;
    let mut table = report::Table::new(name);
    read(text, &mut table).unwrap();
    table.print();
    assert!(table.agrees(), "see the rows printed above");
}

#[test]
fn what_is_missing_by_name_is_listed_with_its_reason() {
    assert_eq!(missing::mistakes(), [""; 0]);
    println!("{}", missing::text());
}

macro_rules! tables {
    ($($test:ident: $name:literal;)*) => {$(
        #[test]
        fn $test() {
            agrees($name);
        }
    )*};
}
tables! {
    attributes_of_dtypes: "dtypes.json";
    promotion: "promotion.json";
    dtypes_of_binary_operations: "binary_ops.csv";
    dtypes_of_unary_operations: "unary_ops.csv";
    operations_in_place: "inplace.csv";
    elements: "values.json";
    strides_of_views: "views.json";
    strides_of_results: "memory_format.json";
    names_of_devices: "device.json";
    sparse_tensors: "sparse.json";
    pytorchs_own_samples: "opinfo_samples.json";
}
