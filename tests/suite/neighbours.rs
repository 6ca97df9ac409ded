//! Tensors as values of other crates: `serde`, `bytemuck`, `ndarray`, `image`, and DLPack.

#[cfg(feature = "serde")]
mod serialized {
    use castiron::{
        Complex, Cpu, Element, F4E2M1FNX2, F8E4M3FN, Meta, Shape, Tensor, TensorView, bf16, f16, shape, tensor,
    };

    fn json<E: Element, S: Shape>(text: &str) -> Result<Tensor<E, S>, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tensor_is_its_dtype_its_shape_and_its_numbers() {
        let x = tensor![[1.0, -0.5], [0.1, 1e30]];
        let text = serde_json::to_string(&x.t()).unwrap();
        assert!(
            text.starts_with(r#"{"dtype":"float32","shape":[2,2],"data":[1.0,0.10000000149011612,-0.5,"#),
            "{text}"
        );
        assert_eq!(json::<f32, shape![_, 2]>(&text).unwrap(), x.t());
        let view: TensorView<u8, shape![2]> = TensorView::from_slice(&[1, 255]);
        assert_eq!(serde_json::to_string(&view).unwrap(), r#"{"dtype":"uint8","shape":[2],"data":[1,255]}"#);
        assert_eq!(
            serde_json::to_string(&Tensor::<i64, ()>::scalar(-3)).unwrap(),
            r#"{"dtype":"int64","shape":[],"data":[-3]}"#
        );
    }

    #[test]
    fn elements_of_every_kind_come_back() {
        fn check<E: Element>(elements: Vec<E>) {
            let x: Tensor<E, shape![_]> = Tensor::from_vec_sized(elements.clone(), [elements.len()]);
            let text = serde_json::to_string(&x).unwrap();
            let back = json::<E, shape![_]>(&text).unwrap();
            assert_eq!(format!("{:?}", back.to_vec()), format!("{elements:?}"), "{text}");
            #[cfg(feature = "any")]
            {
                let any: castiron::AnyTensor = serde_json::from_str(&text).unwrap();
                assert_eq!((any.dtype(), serde_json::to_string(&any).unwrap()), (E::DTYPE, text));
            }
        }
        check(vec![true, false]);
        check(vec![0_u8, 255]);
        check(vec![i8::MIN, i8::MAX]);
        check(vec![i64::MIN, i64::MAX]);
        check(vec![0, u64::MAX]);
        check(vec![f16::from_f32(0.1), f16::NEG_INFINITY]);
        check(vec![bf16::from_f32(0.1), bf16::from_f32(-1e30)]);
        check(vec![0.1_f32, -0.0, f32::MIN_POSITIVE, 1e-45, f32::MAX, f32::NAN, f32::INFINITY]);
        check(vec![0.1_f64, 5e-324, f64::MAX, f64::NEG_INFINITY]);
        check(vec![Complex::new(0.1_f32, f32::NAN), Complex::new(f32::INFINITY, -0.0)]);
        check(vec![Complex::new(0.1_f64, 2.0)]);
        check((0..=0x7e).map(F8E4M3FN::from_bits).collect());
        check((0..=255).map(F4E2M1FNX2::from_bits).collect());
    }

    /// In formats that nobody reads the elements are bytes, as they are.
    #[test]
    fn binary_formats_keep_every_bit() {
        let written = |x: &Tensor<f32, shape![_]>| {
            let mut bytes = Vec::new();
            ciborium::into_writer(x, &mut bytes).unwrap();
            bytes
        };
        let read =
            |bytes: &[u8]| ciborium::from_reader::<Tensor<f32, shape![_]>, _>(bytes).map_err(|error| error.to_string());
        let x = tensor![f32::NAN, -0.0, 0.1, f32::from_bits(0x7fc0_1234)].with_shape::<shape![_]>();
        let bytes = written(&x);
        let bits = |x: Tensor<f32, shape![_]>| x.to_vec().into_iter().map(f32::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(read(&bytes).unwrap()), bits(x));
        let long = written(&Tensor::zeros_sized([10_000]));
        assert!(long.len() < 40_100, "{} bytes", long.len());
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err());
        }
        let mut bools = Vec::new();
        ciborium::into_writer(&tensor![true, false], &mut bools).unwrap();
        assert_eq!(ciborium::from_reader::<Tensor<bool, shape![2]>, _>(&bools[..]).unwrap(), tensor![true, false]);
        *bools.last_mut().unwrap() = 2;
        let error = ciborium::from_reader::<Tensor<bool, shape![2]>, _>(&bools[..]).unwrap_err().to_string();
        assert!(error.contains("a bool is a byte of 0 or 1"), "{error}");
        #[cfg(feature = "any")]
        {
            let any: castiron::AnyTensor = ciborium::from_reader(&bytes[..]).unwrap();
            let mut again = Vec::new();
            ciborium::into_writer(&any.flip(&[0]).unwrap().flip(&[0]).unwrap(), &mut again).unwrap();
            assert_eq!(again, bytes);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |text: &str, says: &str| {
            let error = json::<u8, shape![_]>(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        };
        refused(r#"{"dtype":"uint8","shape":[3],"data":[1,2]}"#, "shape [3] of uint8 takes other than the 2 elements");
        refused(r#"{"dtype":"uint8","shape":[18446744073709551615],"data":[1]}"#, "takes other than");
        refused(r#"{"dtype":"uint8","shape":[18446744073709551616],"data":[1]}"#, "");
        refused(r#"{"dtype":"uint8","shape":[1],"data":[256]}"#, "element Int(256) is none of uint8");
        refused(r#"{"dtype":"uint8","shape":[1],"data":[1.5]}"#, "is none of uint8");
        refused(r#"{"dtype":"uint8","shape":[1],"data":[true]}"#, "is none of uint8");
        refused(r#"{"dtype":"bool","shape":[1],"data":[1]}"#, "is none of bool");
        refused(r#"{"dtype":"complex64","shape":[1],"data":[[1,2,3]]}"#, "two parts");
        refused(r#"{"dtype":"complex64","shape":[1],"data":[1.0]}"#, "is none of complex64");
        refused(&format!(r#"{{"dtype":"complex64","shape":[1],"data":{}"#, "[".repeat(100_000)), "recursion limit");
        refused(r#"{"dtype":"float32","shape":[1],"data":["ten"]}"#, "`ten` is no number");
        refused(r#"{"dtype":"float32","shape":[1],"data":[1]}"#, "expected a tensor of uint8 [_], found float32 [1]");
        refused(r#"{"dtype":"uint8","shape":[1,1],"data":[1]}"#, "expected a tensor of uint8 [_], found uint8 [1, 1]");
        refused(r#"{"shape":[1],"data":[1]}"#, "`dtype` has to stand before `data`");
        refused(r#"{"dtype":"uint8","data":[1]}"#, "a tensor has `dtype`, `shape` and `data`");
        refused(r#"{"dtype":"uint9","shape":[1],"data":[1]}"#, "unknown dtype `uint9`");
        assert!(serde_json::to_string(&Tensor::<f32, shape![1], Meta>::zeros()).is_err());
        let plan: Tensor<u8, shape![1], Meta> =
            serde_json::from_str(r#"{"dtype":"uint8","shape":[1],"data":[1]}"#).unwrap();
        assert!(plan.to_device::<Cpu>().is_err());
    }
}

#[cfg(feature = "bytemuck")]
#[test]
fn plain_structs_are_seen_as_elements_and_elements_as_them() {
    use castiron::{F8E5M2, TensorView, shape, tensor};
    let codes = [0x3c_u8, 0xbc];
    let floats: &[F8E5M2] = bytemuck::cast_slice(&codes);
    assert_eq!(floats.iter().map(|x| x.to_f32()).collect::<Vec<_>>(), [1.0, -1.0]);
    let pairs = [[1.0_f32, 2.0], [3.0, 4.0]];
    let x: TensorView<f32, shape![2, 2]> = TensorView::from_pod(&pairs, [2, 2]).unwrap();
    assert_eq!((x.as_slice().unwrap().as_ptr(), x.to_vec()), (pairs[0].as_ptr(), vec![1.0, 2.0, 3.0, 4.0]));
    assert!(TensorView::<f32, shape![_, 3]>::from_pod(&pairs, [2, 3]).is_err());
    assert!(TensorView::<bool, shape![_]>::from_pod(&[1_u8, 2], [2]).is_err());
    let x = tensor![[1, 2], [3, 4]; u16];
    assert_eq!(x.as_pod::<[u16; 4]>(), Some(&[[1, 2, 3, 4]][..]));
    assert_eq!((x.as_pod::<u8>().unwrap().len(), x.as_pod::<[u16; 3]>()), (8, None));
}

#[cfg(feature = "ndarray")]
mod arrays {
    use castiron::{Error, Tensor, TensorView, axis, s, shape, tensor};
    use ndarray::{Array, Array2, ArrayD, IxDyn, ShapeBuilder, array};

    #[test]
    fn views_go_both_ways_with_any_strides() {
        let x = Tensor::<i32, shape![_]>::arange(0, 24, 1).reshape::<shape![2, 3, 4]>();
        let odd = x.permute(axis![2, 0, 1]).slice(s![1..;2, .., ::2]);
        let array = odd.as_ndarray();
        assert_eq!((array.shape(), array.strides()), (&[2, 2, 2][..], &[2, 12, 8][..]));
        assert!(array.iter().eq(odd.to_vec().iter()));
        let back: TensorView<i32, shape![2, _, 2]> = TensorView::from_ndarray(array).unwrap();
        assert_eq!((back.to_vec(), back.stride()), (odd.to_vec(), odd.stride()));
        let wide = tensor![7].expand::<shape![3, 1]>();
        assert!(wide.as_ndarray().iter().eq(&[7, 7, 7]));
        let none = x.narrow(axis![1], 3, 0);
        assert_eq!(none.as_ndarray().shape(), [2, 0, 4]);
        let eight: Tensor<u8, shape![1, 1, 1, 1, 1, 1, 2, 1]> = Tensor::ones();
        assert_eq!(eight.as_ndarray().ndim(), 8);
        assert_eq!(Tensor::<f32, ()>::scalar(2.5).as_ndarray()[[]], 2.5);
    }

    #[test]
    fn an_array_gives_its_memory_and_takes_a_tensors() {
        let array = Array2::from_shape_vec((2, 3).f(), vec![1, 2, 3, 4, 5, 6]).unwrap();
        let place = array.as_ptr();
        let x: Tensor<i64, shape![2, 3]> = Tensor::from_ndarray(array).unwrap();
        assert_eq!((x.stride(), x.to_vec(), &raw const x[(0, 0)]), ([1, 2], vec![1, 3, 5, 2, 4, 6], place));
        let part = array![[1, 2, 3], [4, 5, 6]].slice_move(ndarray::s![1.., ..2]);
        let y: Tensor<i64, shape![_, _]> = Tensor::from_ndarray(part).unwrap();
        assert_eq!((y.storage_offset(), y.to_vec()), (3, vec![4, 5]));
        let elements = vec![1.0_f32, 2.0];
        let place = elements.as_ptr();
        let array = Tensor::<f32, shape![1, 2]>::from_vec(elements).into_ndarray();
        assert_eq!((array.as_ptr(), array), (place, array![[1.0, 2.0]]));
        assert_eq!(x.t().into_ndarray().shape(), [3, 2]);
        let none: Tensor<f32, shape![0, 3]> = Tensor::from_ndarray(Array::zeros((0, 3))).unwrap();
        assert_eq!(none.shape(), [0, 3]);
    }

    #[test]
    fn reversed_axes_and_other_sizes_are_refused_or_copied() {
        let array = array![1, 2, 3];
        let backward = array.slice(ndarray::s![..;-1]);
        // As many elements as ndarray allows, of more bytes than `usize` counts.
        let one = ndarray::arr1(&[0_i64]);
        let repeated = one.broadcast(isize::MAX as usize / 2).unwrap();
        assert!(matches!(TensorView::<i64, shape![_]>::from_ndarray(repeated), Err(Error::TooLarge { .. })));
        let error = TensorView::<i64, shape![_]>::from_ndarray(backward).unwrap_err().to_string();
        assert!(error.starts_with("from_ndarray: strides [-1] lead backward"), "{error}");
        // What the message says helps.
        assert!(error.contains("`array.as_standard_layout()`"), "{error}");
        let standard = backward.as_standard_layout();
        let x: TensorView<i64, shape![3]> = TensorView::from_ndarray(standard.view()).unwrap();
        assert_eq!(x.to_vec(), [3, 2, 1]);
        let owned = array![1, 2, 3].slice_move(ndarray::s![..;-1]);
        assert_eq!(Tensor::<i64, shape![3]>::from_ndarray(owned).unwrap().to_vec(), [3, 2, 1]);
        assert!(matches!(TensorView::<i64, shape![2]>::from_ndarray(array.view()), Err(Error::Shape { .. })));
        assert!(matches!(TensorView::<i64, shape![_, _]>::from_ndarray(array.view()), Err(Error::Shape { .. })));
        let any_rank = ArrayD::<u8>::zeros(IxDyn(&[2, 2]));
        assert_eq!(Tensor::<u8, shape![2, 2]>::from_ndarray(any_rank).unwrap().numel(), 4);
    }
}

#[cfg(feature = "image")]
#[test]
fn images_give_and_take_their_memory() {
    use castiron::{ChannelsLast, Tensor, axis, shape};
    use image::{DynamicImage, GrayImage, Rgb, RgbImage};
    let image = RgbImage::from_fn(3, 2, |x, y| Rgb([x as u8, y as u8, 9]));
    let (place, pixels) = (image.as_raw().as_ptr(), image.clone());
    let x: Tensor<u8, shape![_, _, 3]> = Tensor::from_image(image).unwrap();
    assert_eq!((x.shape(), x.as_slice().unwrap().as_ptr(), x[(1, 2, 0)], x[(1, 2, 1)]), ([2, 3, 3], place, 2, 1));
    let batch: Tensor<u8, shape![1, 3, _, _]> = x.permute(axis![2, 0, 1]).unsqueeze(axis![0]);
    assert!(batch.is_contiguous_in(ChannelsLast) && batch.shares_storage(&x));
    drop(batch);
    let gray: Tensor<u8, shape![_, 3]> = Tensor::from_image(GrayImage::from_raw(3, 1, vec![7, 8, 9]).unwrap()).unwrap();
    assert_eq!(gray.into_image::<image::Luma<u8>>().unwrap().dimensions(), (3, 1));
    let error = Tensor::<u8, shape![_, _]>::from_rgb(image::DynamicImage::new_luma8(4, 2)).unwrap_err();
    assert!(error.to_string().contains("3 channels"), "{error}");
    let back: RgbImage = x.into_image().unwrap();
    assert_eq!((back.as_raw().as_ptr(), &back), (place, &pixels));
    let rgb: Tensor<u8, shape![2, 3, 3]> = Tensor::from_rgb(DynamicImage::ImageRgb8(pixels)).unwrap();
    assert!(
        rgb.clone().into_image::<image::Luma<u8>>().unwrap_err().to_string().contains("1 channels, the last axis 3")
    );
    let gray: Tensor<u8, shape![_, _, 1]> =
        Tensor::from_image(GrayImage::from_raw(1, 1, vec![7, 8, 9]).unwrap()).unwrap();
    assert_eq!(gray.to_vec(), [7]);
    assert!(Tensor::<u8, shape![_, _, 4]>::from_rgb(DynamicImage::new_rgb8(1, 1)).is_err());
    let flipped: image::RgbImage =
        rgb.slice(castiron::s![.., .., 0]).unsqueeze(axis![2]).expand::<shape![2, 3, 3]>().into_image().unwrap();
    assert_eq!(flipped.get_pixel(2, 1).0, [2, 2, 2]);
}

#[cfg(feature = "dlpack")]
mod exchanged {
    use castiron::io::DlPack;
    use castiron::{Complex, Cpu, Element, F4E2M1FNX2, F8E8M0FNU, Tensor, TensorView, axis, bf16, shape, tensor};
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Takes back what was given.
    fn returned<E: Element, S: castiron::Shape>(given: DlPack) -> castiron::Result<Tensor<E, S>> {
        // SAFETY: the pointer is that of a tensor of castiron's, which nobody writes.
        unsafe { Tensor::from_dlpack(DlPack::from_raw(given.into_raw())?) }
    }

    #[test]
    fn elements_are_shared_with_their_strides() {
        let x = tensor![[1, 2, 3], [4, 5, 6]];
        let part = x.t().narrow(axis![0], 1, 2);
        let mut y: Tensor<i64, shape![2, 2]> = returned(part.to_dlpack()).unwrap();
        assert_eq!((y.to_vec(), y.stride(), &raw const y[(0, 0)]), (vec![2, 5, 3, 6], [1, 3], &raw const x[(0, 1)]));
        // Written, it is copied, be it the last that castiron has.
        drop(part);
        y += 1;
        assert_eq!((y.to_vec(), x.to_vec()), (vec![3, 6, 4, 7], vec![1, 2, 3, 4, 5, 6]));
        drop(x);
        let memory = [1.5_f32, 2.5];
        let view: TensorView<f32, shape![2]> = TensorView::from_slice(&memory);
        let given = view.to_dlpack();
        drop(view);
        assert_eq!(returned::<f32, shape![_]>(given).unwrap().to_vec(), memory);
        assert_eq!(returned::<f32, ()>(Tensor::<f32, ()>::scalar(2.0).to_dlpack()).unwrap().item(), 2.0);
        let none = returned::<f32, shape![_, 0]>(Tensor::<f32, shape![3, 0]>::zeros().to_dlpack()).unwrap();
        assert_eq!(none.shape(), [3, 0]);
    }

    #[test]
    fn dtypes_are_told_apart() {
        fn check<E: Element>(x: Tensor<E, shape![1]>) {
            assert_eq!(returned::<E, shape![1]>(x.to_dlpack()).unwrap().dtype(), E::DTYPE);
            let error = returned::<u16, shape![1]>(x.to_dlpack()).unwrap_err().to_string();
            assert!(error.starts_with("from_dlpack: expected uint16, found elements of DLPack's code "), "{error}");
            #[cfg(feature = "any")]
            {
                let any = castiron::AnyTensor::from(&x);
                // SAFETY: nobody writes the tensor.
                let back = unsafe { castiron::AnyTensor::from_dlpack(any.to_dlpack().unwrap()) }.unwrap();
                assert_eq!((back.dtype(), back.to_bytes()), (E::DTYPE, any.to_bytes()));
            }
        }
        check(tensor![true]);
        check(tensor![1; i16]);
        check(tensor![1; u8]);
        check(tensor![1.0; f64]);
        check(Tensor::<bf16, _>::ones());
        check(Tensor::<Complex<f32>, _>::ones());
        check(Tensor::<F8E8M0FNU, _>::ones());
        check(Tensor::<F4E2M1FNX2, _>::from_vec(vec![F4E2M1FNX2::from_bits(0x12)]));
    }

    /// `DLManagedTensorVersioned`, as another library writes it.
    #[repr(C)]
    struct Managed {
        version: [u32; 2],
        context: *mut c_void,
        deleter: Option<unsafe extern "C" fn(*mut Managed)>,
        flags: u64,
        data: *const c_void,
        device: [i32; 2],
        rank: i32,
        dtype: (u8, u8, u16),
        sizes: *const i64,
        strides: *const i64,
        byte_offset: u64,
    }

    static FREED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn count(_: *mut Managed) {
        FREED.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn what_other_libraries_give_is_checked_and_freed() {
        let (elements, sizes, strides) = ([1.0_f32, 2.0, 3.0, 4.0], [2_i64, 2], [1_i64, 2]);
        let plain = || Managed {
            version: [1, 3],
            context: std::ptr::null_mut(),
            deleter: Some(count),
            flags: 0,
            data: elements.as_ptr().cast(),
            device: [1, 0],
            rank: 2,
            dtype: (2, 32, 1),
            sizes: sizes.as_ptr(),
            strides: strides.as_ptr(),
            byte_offset: 0,
        };
        let take = |change: &dyn Fn(&mut Managed)| {
            let mut managed = plain();
            change(&mut managed);
            // SAFETY: the struct and its lists outlive the tensor, which is copied below, or is not read.
            unsafe {
                let given = DlPack::from_raw((&raw mut managed).cast()).map_err(|error| error.to_string())?;
                let taken = Tensor::<f32, shape![_, 2]>::from_dlpack(given).map_err(|error| error.to_string())?;
                Ok::<_, String>(taken.to_vec())
            }
        };
        assert_eq!(take(&|_| ()).unwrap(), [1.0, 3.0, 2.0, 4.0]);
        assert_eq!(FREED.load(Ordering::Relaxed), 1);
        assert_eq!(take(&|of| of.strides = std::ptr::null()).unwrap(), [1.0, 2.0, 3.0, 4.0]);
        let ones = [1_i64, 2];
        // As NumPy gives `a.reshape(1, 2)[::-1]`: along an axis of one position, a stride leads nowhere.
        for stride in [-2, i64::MIN, i64::MAX] {
            let backward = [stride, 1];
            assert_eq!(take(&|of| (of.sizes, of.strides) = (ones.as_ptr(), backward.as_ptr())).unwrap(), [1.0, 2.0]);
        }
        let shifted = take(&|of| (of.sizes, of.byte_offset) = (ones.as_ptr(), 4));
        assert_eq!(shifted.unwrap(), [2.0, 4.0]);
        let refused = |change: &dyn Fn(&mut Managed), says: &str| {
            let error = take(change).unwrap_err();
            assert!(error.contains(says), "{error}\nlacks: {says}");
        };
        let (negative, large) = ([-1_i64, 2], [i64::MAX, 2]);
        let freed = FREED.load(Ordering::Relaxed);
        refused(&|of| of.data = std::ptr::null(), "the elements are a null pointer");
        refused(&|of| of.sizes = std::ptr::null(), "the sizes are a null pointer");
        refused(&|of| of.sizes = negative.as_ptr(), "the sizes [-1, 2] are not all positive");
        refused(&|of| of.strides = negative.as_ptr(), "the strides [-1, 2] are not all positive");
        refused(&|of| of.sizes = large.as_ptr(), "more elements than memory can address");
        refused(&|of| of.strides = large.as_ptr(), "reach beyond the memory");
        refused(&|of| of.byte_offset = u64::MAX, "the elements are a null pointer");
        refused(&|of| of.byte_offset = 2, "not aligned for float32");
        refused(&|of| of.rank = -1, "the number of axes is none");
        refused(&|of| of.rank = 1, "expected a tensor of shape [_, 2]");
        refused(&|of| of.dtype = (2, 64, 1), "expected float32, found elements of DLPack's code 2 with 64 bits");
        refused(&|of| of.device = [2, 0], "a device of DLPack's kind 2");
        assert_eq!(FREED.load(Ordering::Relaxed), freed + 12, "what is refused is freed");
        refused(&|of| of.version = [2, 0], "of DLPack 2.0");
        // SAFETY: a null pointer is refused.
        assert!(unsafe { DlPack::from_raw(std::ptr::null_mut()) }.is_err());
        let _: Option<Tensor<f32, shape![1], Cpu>> = None;
    }
}

#[cfg(feature = "arrow")]
mod columns {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int32Type, Int64Type};
    use arrow_array::{
        Array, BooleanArray, Date32Array, FixedSizeListArray, Float32Array, Int32Array, Int64Array, RecordBatch,
    };
    use arrow_schema::{DataType, Field, Schema};
    use castiron::io::arrow::{ArrowElement, from_array, from_array_with_mask, from_batch, to_array, to_batch};
    use castiron::{Shape, Tensor, TensorView, axis, f16, s, shape, tensor};
    use std::sync::Arc;

    fn refused<E: ArrowElement, S: Shape>(array: &dyn Array, says: &str) {
        let error = from_array::<E, S>(array).unwrap_err().to_string();
        assert!(error.starts_with("arrow::from_array: ") && error.contains(says), "{error}\nlacks: {says}");
    }

    #[test]
    fn arrays_of_every_number_come_back_without_a_copy() {
        fn check<E: ArrowElement>(elements: Vec<E>) {
            let len = elements.len();
            let x: Tensor<E, shape![_]> = Tensor::from_vec_sized(elements, [len]);
            let array = to_array(&x).unwrap();
            assert_eq!((array.data_type(), array.len(), array.null_count()), (&E::DATA_TYPE, len, 0));
            let back: Tensor<E, shape![_]> = from_array(&array).unwrap();
            assert_eq!(back.to_vec(), x.to_vec());
            if E::DATA_TYPE != DataType::Boolean && len > 0 {
                assert_eq!(back.as_slice().unwrap().as_ptr(), x.as_slice().unwrap().as_ptr());
            }
        }
        check(vec![true, false, true]);
        check(vec![0_u8, 255]);
        check(vec![i8::MIN, i8::MAX]);
        check(vec![i16::MIN, 1]);
        check(vec![7_i32; 5]);
        check(vec![i64::MIN, i64::MAX]);
        check(vec![0_u16, 1]);
        check(vec![u32::MAX]);
        check(vec![u64::MAX]);
        check(vec![f16::from_f32(0.5)]);
        check(vec![0.1_f32, f32::NAN].into_iter().filter(|x| !x.is_nan()).collect());
        check(vec![0.1_f64]);
        check(Vec::<f64>::new());
        check(Vec::<bool>::new());
    }

    /// Neither side writes what the other reads, and whichever is dropped last frees it.
    #[test]
    fn memory_outlives_whoever_made_it() {
        let mut x = tensor![1, 2, 3];
        let array = to_array(&x).unwrap();
        x += 10;
        assert_eq!(
            (array.as_primitive::<Int64Type>().values().to_vec(), x.to_vec()),
            (vec![1, 2, 3], vec![11, 12, 13])
        );
        drop(x);
        let mut back: Tensor<i64, shape![3]> = from_array(&array).unwrap();
        let copy = array.clone();
        drop(array);
        back *= 2;
        assert_eq!(back.to_vec(), [2, 4, 6]);
        assert_eq!(copy.as_primitive::<Int64Type>().values().to_vec(), [1, 2, 3]);
        let last: Tensor<i64, shape![3]> = from_array(&copy).unwrap();
        drop(copy);
        assert_eq!(std::thread::spawn(move || last.to_vec()).join().unwrap(), [1, 2, 3]);
        // A borrowed view is copied, because its memory may be gone first.
        let memory = vec![5, 6];
        let array = to_array(&*TensorView::<i64, shape![2]>::from_slice(&memory)).unwrap();
        drop(memory);
        assert_eq!(array.as_primitive::<Int64Type>().values().to_vec(), [5, 6]);
    }

    #[test]
    fn slices_and_views_give_their_own_elements() {
        let array = Int32Array::from(vec![1, 2, 3, 4, 5]);
        let part: Tensor<i32, shape![3]> = from_array(&array.slice(1, 3)).unwrap();
        assert_eq!((part.to_vec(), &raw const part[0]), (vec![2, 3, 4], &raw const array.values()[1]));
        let bits = BooleanArray::from(vec![true, false, true, true, false, true, true, true, false, true]);
        assert_eq!(
            from_array::<bool, shape![_]>(&bits.slice(3, 6)).unwrap().to_vec(),
            [true, false, true, true, true, false]
        );
        let x = Tensor::<i32, shape![_]>::arange(0, 24, 1).reshape::<shape![2, 3, 4]>();
        let odd = x.permute(axis![2, 0, 1]).slice(s![1..;2, .., ::2]);
        let array = to_array(&odd).unwrap();
        let back: Tensor<i32, shape![2, 2, 2]> = from_array(&array).unwrap();
        assert_eq!(back.to_vec(), odd.to_vec());
        // A part in row-major order is shared, wherever it begins.
        let tail = x.select(axis![0], 1);
        let array = to_array(&tail).unwrap();
        let rows: Tensor<i32, shape![_, 4]> = from_array(&array).unwrap();
        assert_eq!(&raw const rows[(0, 0)], &raw const x[(1, 0, 0)]);
        // Of lists, too, a slice is what it shows.
        let middle: Tensor<i32, shape![1, 4]> = from_array(&array.slice(1, 1)).unwrap();
        assert_eq!(middle.to_vec(), [16, 17, 18, 19]);
        let none = to_array(&x.narrow(axis![1], 3, 0)).unwrap();
        assert_eq!(from_array::<i32, shape![2, 0, 4]>(&none).unwrap().shape(), [2, 0, 4]);
        let thin = to_array(&Tensor::<f32, shape![3, 0]>::zeros()).unwrap();
        assert_eq!((thin.len(), from_array::<f32, shape![3, 0]>(&thin).unwrap().numel()), (3, 0));
    }

    #[test]
    fn missing_values_are_refused_or_masked() {
        let array = Float32Array::from(vec![Some(1.0), None, None, Some(4.0)]);
        refused::<f32, shape![_]>(&array, "2 of 4 values are missing: `from_array_with_mask` says which");
        let (x, is_there) = from_array_with_mask::<f32, shape![4]>(&array).unwrap();
        assert_eq!((is_there.to_vec(), x[0], x[3]), (vec![true, false, false, true], 1.0, 4.0));
        let (_, is_there) = from_array_with_mask::<f32, shape![_]>(&array.slice(2, 2)).unwrap();
        assert_eq!(is_there.to_vec(), [false, true]);
        // A slice without missing values has none.
        assert_eq!(from_array::<f32, shape![1]>(&array.slice(3, 1)).unwrap().to_vec(), [4.0]);
        let whole = from_array_with_mask::<i64, shape![2]>(&Int64Array::from(vec![1, 2])).unwrap();
        assert_eq!((whole.0.to_vec(), whole.1.to_vec()), (vec![1, 2], vec![true, true]));
        // A missing list is as many missing values; numbers inside of lists may be missing, too.
        let lists = vec![Some(vec![Some(1), Some(2)]), None, Some(vec![None, Some(6)])];
        let lists = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(lists, 2);
        refused::<i32, shape![_, 2]>(&lists, "1 of 3 values is missing");
        let (x, is_there) = from_array_with_mask::<i32, shape![3, 2]>(&lists).unwrap();
        assert_eq!(is_there.to_vec(), [true, true, false, false, false, true]);
        assert_eq!((x[(0, 0)], x[(0, 1)], x[(2, 1)]), (1, 2, 6));
        let bools = BooleanArray::from(vec![Some(true), None]);
        assert_eq!(from_array_with_mask::<bool, shape![_]>(&bools).unwrap().1.to_vec(), [true, false]);
    }

    #[test]
    fn other_types_and_sizes_are_refused() {
        refused::<i64, shape![_]>(
            &Int32Array::from(vec![1]),
            "expected an array of Int64, found one of Int32: cast it",
        );
        refused::<i32, shape![_]>(&Date32Array::from(vec![1]), "expected an array of Int32, found one of Date32");
        let array = Int32Array::from(vec![1, 2, 3]);
        assert!(matches!(from_array::<i32, shape![2]>(&array), Err(castiron::Error::Shape { .. })));
        assert!(matches!(from_array::<i32, shape![_, 3]>(&array), Err(castiron::Error::Shape { .. })));
        let lists = to_array(&tensor![[1, 2], [3, 4]; i32]).unwrap();
        assert!(matches!(from_array::<i32, shape![_]>(&lists), Err(castiron::Error::Shape { .. })));
        assert!(matches!(from_array::<i32, shape![2, 3]>(&lists), Err(castiron::Error::Shape { .. })));
    }

    #[test]
    fn record_batches_are_matrices() {
        let x = tensor![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        let batch = to_batch(&x, &["a", "b"]).unwrap();
        assert_eq!((batch.num_rows(), batch.num_columns(), batch.schema().field(1).name().as_str()), (3, 2, "b"));
        assert_eq!(batch.column(1).as_ref(), &Float32Array::from(vec![2.0, 4.0, 6.0]) as &dyn Array);
        let back: Tensor<f32, shape![_, 2]> = from_batch(&batch).unwrap();
        assert_eq!((back.to_vec(), back.stride()), (x.to_vec(), [1, 3]));
        // Columns that lie side by side are shared.
        let again = to_batch(&back, &["a", "b"]).unwrap();
        let column: Tensor<f32, shape![3]> = from_array(again.column(1)).unwrap();
        assert_eq!(&raw const column[0], &raw const back[(0, 1)]);
        drop((x, back, again));
        assert_eq!(column.to_vec(), [2.0, 4.0, 6.0]);

        let error = to_batch(&tensor![[1, 2]], &["a"]).unwrap_err().to_string();
        assert!(error.contains("the matrix has 2 columns, and there are 1 names"), "{error}");
        let schema =
            Schema::new(vec![Field::new("n", DataType::Int64, false), Field::new("x", DataType::Float32, true)]);
        let columns: Vec<Arc<dyn Array>> =
            vec![Arc::new(Int64Array::from(vec![1, 2])), Arc::new(Float32Array::from(vec![1.0, 2.0]))];
        let mixed = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
        let error = from_batch::<i64, castiron::Dyn, castiron::Dyn>(&mixed).unwrap_err().to_string();
        assert!(
            error.starts_with("arrow::from_batch: of the column `x`: ") && error.contains("found one of Float32"),
            "{error}"
        );
        let none = to_batch(&Tensor::<f32, shape![0, 2]>::zeros(), &["a", "b"]).unwrap();
        assert_eq!(from_batch::<f32, castiron::Dyn, castiron::Dyn>(&none).unwrap().shape(), [0, 2]);
        let thin = to_batch(&Tensor::<f32, shape![3, 0]>::zeros(), &[]).unwrap();
        assert_eq!(from_batch::<f32, castiron::Dyn, castiron::Dyn>(&thin).unwrap().shape(), [3, 0]);
    }
}

#[cfg(feature = "nalgebra")]
mod nalgebras {
    use castiron::io::nalgebra::{as_matrix, as_matrix_mut, as_tensor, as_tensor_mut, from_matrix, into_matrix};
    use castiron::{Complex, Error, Tensor, TensorView, TensorViewMut, axis, s, shape, tensor};
    use nalgebra::{DMatrix, DMatrixView, DVector, Dyn, Matrix2x3, RowVector3, dmatrix, dvector, matrix};

    #[test]
    fn views_go_both_ways() {
        let x = Tensor::<i32, shape![_]>::arange(0, 60, 1).reshape::<shape![5, 12]>();
        let odd = x.t().slice(s![1..8, ::2]);
        let seen = as_matrix(&odd).unwrap();
        assert_eq!((seen.shape(), seen.strides()), ((7, 3), (1, 24)));
        assert_eq!((seen[(0, 0)], seen[(1, 2)], seen[(6, 1)]), (1, 50, 31));
        let back: TensorView<i32, shape![7, _]> = as_tensor(&seen).unwrap();
        assert_eq!((back.to_vec(), back.stride()), (odd.to_vec(), odd.stride()));
        // What is between the elements is somebody else's: a copy of the view leaves it alone.
        let mut own = back.to_tensor();
        own += 1;
        assert_eq!((own[(0, 0)], x[(0, 1)], x[(0, 2)]), (2, 1, 2));
        // Columns with other elements between theirs, and repeated ones: nalgebra would leave the memory.
        let refused = |error: Result<DMatrixView<'_, i32, Dyn, Dyn>, Error>| {
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with("nalgebra::as_matrix: ") && error.contains("`x.t()`"), "{error}");
        };
        refused(as_matrix(&x.slice(s![..3, ..4])));
        refused(as_matrix(&x.t().slice(s![..;2, ..])));
        refused(as_matrix(&tensor![7; i32].expand::<shape![3, 1]>()));
        // A product goes by the columns: in debug builds nalgebra notices that it leaves the memory.
        let (x, ones) = (tensor![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]; f64], DVector::from_element(2, 1.0));
        assert_eq!(as_matrix(&x.t()).unwrap() * ones, dvector![5.0, 7.0, 9.0]);
        let wide = Tensor::<f64, shape![_]>::arange(0, 60, 1).reshape::<shape![5, 12]>();
        let part = wide.t().slice(s![2..6, ::3]);
        assert_eq!(as_matrix(&part).unwrap() * dvector![1.0, 10.0], dvector![382.0, 393.0, 404.0, 415.0]);
        // Of one position the stride may be 0.
        let x = tensor![1, 2, 3];
        let row = x.reshape::<shape![1, 3]>().expand::<shape![1, 3]>().narrow(axis![0], 0, 1);
        assert_eq!(as_matrix(&row).unwrap().iter().copied().collect::<Vec<i64>>(), [1, 2, 3]);
        let one = tensor![5].expand::<shape![1, 1]>();
        assert_eq!(as_matrix(&one).unwrap().sum(), 5);
        // Part of a matrix of nalgebra's.
        let m = Matrix2x3::new(1, 2, 3, 4, 5, 6);
        let columns = m.columns(1, 2);
        let part: TensorView<i32, shape![2, 2]> = as_tensor(&columns).unwrap();
        assert_eq!((part.to_vec(), part.sum().item()), (vec![2, 3, 5, 6], 16));
        let complex = tensor![[1.0 + 2.0j]];
        assert_eq!(as_matrix(&complex).unwrap()[(0, 0)], Complex::new(1.0, 2.0));
    }

    #[test]
    fn one_axis_is_a_column_or_a_row() {
        let x = Tensor::<f64, shape![_]>::arange(0, 6, 1);
        assert_eq!(as_matrix(&x.slice(s![3..])).unwrap(), dmatrix![3.0; 4.0; 5.0]);
        assert!(as_matrix(&x.slice(s![::2])).is_err());
        let row = RowVector3::new(1.0, 2.0, 3.0);
        let column = row.transpose();
        let of_row: TensorView<f64, shape![3]> = as_tensor(&row).unwrap();
        let of_column: TensorView<f64, shape![_]> = as_tensor(&column).unwrap();
        assert_eq!((of_row.to_vec(), of_column.to_vec()), (vec![1.0, 2.0, 3.0], vec![1.0, 2.0, 3.0]));
        let square = dmatrix![1.0, 2.0; 3.0, 4.0];
        assert!(matches!(as_tensor::<f64, shape![_], _, _, _>(&square), Err(Error::Shape { .. })));
        assert!(matches!(as_tensor::<f64, shape![2, 3], _, _, _>(&square), Err(Error::Shape { .. })));
    }

    #[test]
    fn matrices_are_written_where_they_are() {
        let mut x = tensor![[1, 2, 3], [4, 5, 6]];
        let before = x.clone();
        let place = &raw const before[(0, 0)];
        {
            let mut columns = x.slice_mut(s![.., 1..]);
            let mut part = as_matrix_mut(columns.t_mut()).unwrap();
            part.fill_row(0, 0);
            assert_eq!(part.strides(), (1, 3));
        }
        // (It was shared, and became its own first.)
        assert_eq!((x.to_vec(), before.to_vec()), (vec![1, 0, 3, 4, 0, 6], vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(place, &raw const before[(0, 0)]);
        let mut m = matrix![1.0, 4.0; 9.0, 16.0];
        let mut seen: TensorViewMut<f64, shape![_, _]> = as_tensor_mut(&mut m).unwrap();
        seen.select_mut(axis![0], 1).sqrt_();
        assert_eq!(m, matrix![1.0, 4.0; 3.0, 4.0]);
        let mut rows = m.rows_mut(0, 1);
        as_tensor_mut::<f64, shape![2], _, _, _>(&mut rows).unwrap().fill(0);
        assert_eq!(m, matrix![0.0, 0.0; 3.0, 4.0]);
    }

    #[test]
    fn memory_is_handed_on() {
        let m = DMatrix::from_fn(3, 2, |row, column| 10 * row + column).map(|x| x as i64);
        let place = m.as_ptr();
        let x: Tensor<i64, shape![_, 2]> = from_matrix(m).unwrap();
        assert_eq!((x.to_vec(), x.stride(), &raw const x[(0, 0)]), (vec![0, 1, 10, 11, 20, 21], [1, 3], place));
        let m = into_matrix(x);
        assert_eq!((m.as_ptr(), m[(2, 1)]), (place, 21));
        // Shared, or in another order, it is copied.
        let x: Tensor<i64, shape![_, _]> = from_matrix(m).unwrap();
        let other = into_matrix(x.clone());
        assert!(other.as_ptr() != place && x[(2, 1)] == 21);
        assert_eq!(into_matrix(tensor![[1, 2], [3, 4]].t()), dmatrix![1, 3; 2, 4]);
        let v = dvector![1.5, 2.5];
        let place = v.as_ptr();
        let x: Tensor<f64, shape![2]> = from_matrix(v).unwrap();
        assert_eq!((&raw const x[0], into_matrix(x)), (place, dmatrix![1.5; 2.5]));
        assert!(from_matrix::<f64, shape![3], _, _>(dvector![1.0]).is_err());
        for (rows, columns) in [(0, 3), (3, 0), (0, 0)] {
            let none: Tensor<f32, shape![_, _]> = from_matrix(DMatrix::zeros(rows, columns)).unwrap();
            assert_eq!((none.shape(), as_matrix(&none).unwrap().shape()), ([rows, columns], (rows, columns)));
            assert_eq!(into_matrix(none).shape(), (rows, columns));
        }
        let empty = DVector::zeros(0);
        let none: TensorView<f32, shape![0]> = as_tensor(&empty).unwrap();
        assert_eq!(as_matrix(&none).unwrap().shape(), (0, 1));
    }
}

#[cfg(feature = "faer")]
mod faers {
    use castiron::io::faer::{as_mat, as_mat_mut, as_tensor, as_tensor_mut, from_mat};
    use castiron::{Error, Tensor, TensorView, TensorViewMut, s, shape, tensor};
    use faer::{Mat, mat};

    #[test]
    fn views_go_both_ways_with_any_strides() {
        let x = Tensor::<i32, shape![_]>::arange(0, 60, 1).reshape::<shape![5, 12]>();
        let odd = x.t().slice(s![1..;3, ::2]);
        let seen = as_mat(&odd);
        assert_eq!((seen.shape(), seen.row_stride(), seen.col_stride()), ((4, 3), 3, 24));
        assert_eq!((seen[(0, 0)], seen[(1, 2)], seen[(3, 1)]), (1, 52, 34));
        let back: TensorView<i32, shape![4, _]> = as_tensor(seen).unwrap();
        assert_eq!((back.to_vec(), back.stride()), (odd.to_vec(), odd.stride()));
        let mut own = back.to_tensor();
        own += 1;
        assert_eq!((own[(0, 0)], x[(0, 1)], x[(0, 2)]), (2, 1, 2));
        assert_eq!(as_mat(&tensor![1.0, 2.0; f64]).shape(), (2, 1));
        assert_eq!(as_mat(&tensor![7.0].expand::<shape![3, 1]>())[(2, 0)], 7.0);
    }

    #[test]
    fn reversed_rows_and_other_sizes_are_refused() {
        let m = mat![[1.0, 2.0], [3.0, 4.0]];
        let error = as_tensor::<f64, shape![2, 2]>(m.as_ref().reverse_rows()).unwrap_err().to_string();
        assert!(error.starts_with("faer::as_tensor: strides [-1, "), "{error}");
        // What the message says helps.
        assert!(error.contains("`matrix.to_owned()`"), "{error}");
        let turned = m.as_ref().reverse_rows().to_owned();
        assert_eq!(as_tensor::<f64, shape![2, 2]>(turned.as_ref()).unwrap().to_vec(), [3.0, 4.0, 1.0, 2.0]);
        assert!(matches!(as_tensor::<f64, shape![2, 3]>(m.as_ref()), Err(Error::Shape { .. })));
        assert!(matches!(as_tensor::<f64, shape![4]>(m.as_ref()), Err(Error::Shape { .. })));
        // Of one row there is no way back.
        let row = as_tensor::<f64, shape![2]>(m.as_ref().subrows(1, 1).reverse_rows()).unwrap();
        assert_eq!(row.to_vec(), [3.0, 4.0]);
    }

    #[test]
    fn matrices_are_written_where_they_are() {
        let mut x = tensor![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
        let before = x.clone();
        as_mat_mut(x.slice_mut(s![.., 1..]))[(1, 0)] = 0.0;
        assert_eq!(
            (x.to_vec(), before.to_vec()),
            (vec![1.0, 2.0, 3.0, 4.0, 0.0, 6.0], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        );
        let mut m = mat![[1.0, 4.0], [9.0, 16.0]];
        let mut seen: TensorViewMut<f64, shape![2]> = as_tensor_mut(m.as_mut().subrows_mut(1, 1)).unwrap();
        seen.sqrt_();
        assert_eq!(m, mat![[1.0, 4.0], [3.0, 4.0]]);
    }

    /// Memory between the columns of a matrix is never read, and the matrix is freed by whoever drops it last.
    #[test]
    fn a_matrix_is_kept_as_long_as_its_tensors() {
        // (Columns of three have gaps between them.)
        let m = Mat::from_fn(3, 5, |row, column| (10 * row + column) as f32);
        let place = m.as_ptr();
        let x: Tensor<f32, shape![3, _]> = from_mat(m).unwrap();
        assert_eq!((&raw const x[(0, 0)], x[(2, 4)]), (place, 24.0));
        let (mut y, part) = (x.clone(), x.slice(s![1.., 2]));
        drop(x);
        y += 1.0;
        assert_eq!((y[(2, 4)], part.to_vec()), (25.0, vec![12.0, 22.0]));
        assert_eq!(std::thread::spawn(move || part.sum().item()).join().unwrap(), 34.0);
        // What reaches beyond the elements makes a copy of them first.
        let z: Tensor<f32, shape![_, _]> = from_mat(Mat::from_fn(3, 2, |row, _| row as f32)).unwrap();
        assert_eq!(z.as_slice(), None);
        assert_eq!(z.into_vec(), [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
        for (rows, columns) in [(0, 3), (3, 0), (0, 0)] {
            let none: Tensor<f64, shape![_, _]> = from_mat(Mat::zeros(rows, columns)).unwrap();
            assert_eq!((none.shape(), as_mat(&none).shape()), ([rows, columns], (rows, columns)));
        }
        assert!(from_mat::<f64, shape![2, 2]>(Mat::zeros(2, 3)).is_err());
    }
}

/// As `io` says of candle: a slice in row-major order there, a vector back.
#[test]
fn slices_and_vectors_are_what_frameworks_without_a_common_struct_exchange() {
    use castiron::{Tensor, shape, tensor};
    let x = tensor![[1.0, -2.0], [0.5, 3.0]].t();
    let given = x.contiguous();
    let theirs = given.as_slice().unwrap().to_vec();
    assert_eq!(theirs, [1.0, 0.5, -2.0, 3.0]);
    let place = theirs.as_ptr();
    let back: Tensor<f32, shape![_, 2]> = Tensor::try_from_vec_sized(theirs, [2, 2]).unwrap();
    assert_eq!((&raw const back[(0, 0)], back.to_vec()), (place, x.to_vec()));
    assert!(Tensor::<f32, shape![_, 3]>::try_from_vec_sized(vec![1.0; 4], [2, 2]).is_err());
}

#[cfg(feature = "evcxr")]
mod notebooks {
    use castiron::io::evcxr::content;
    use castiron::{Tensor, axis, shape, tensor};
    use std::io::Read;

    /// The kind of content, and the content.
    fn shown(text: &str) -> (&str, &str) {
        let text = text.strip_prefix("EVCXR_BEGIN_CONTENT ").unwrap().strip_suffix("\nEVCXR_END_CONTENT").unwrap();
        text.split_once('\n').unwrap()
    }

    #[test]
    fn numbers_are_shown_as_a_table() {
        let text = content(&tensor![[1.0, -2.5], [0.25, 30.0]]);
        let (kind, html) = shown(&text);
        assert_eq!(kind, "text/html");
        assert_eq!(
            html,
            "<table><tr><td>1.0000</td><td>-2.5000</td></tr><tr><td>0.2500</td><td>30.0000</td></tr></table><small>float32, [2, 2], cpu</small>"
        );
        let text = content(&tensor![1.0 - 2.0j, 3.0]);
        assert!(text.contains("<tr><td>1.-2.j</td><td>3.+0.j</td></tr>"), "{text}");
        // Long rows are wrapped in print, and not in a table; large tensors are summarised in both.
        let text = content(&Tensor::<i64, shape![_]>::arange(0, 60, 1));
        assert_eq!((text.matches("<tr>").count(), text.matches("<td>").count()), (1, 60), "{text}");
        let text = content(&Tensor::<i64, shape![100, 100]>::zeros());
        assert_eq!((text.matches("<tr>").count(), text.matches("<td>0</td>").count()), (7, 36), "{text}");
        for text in [content(&Tensor::<f32, ()>::scalar(1.5)), content(&Tensor::<f32, shape![2, 0]>::zeros())] {
            assert!(text.contains("<pre>tensor("), "{text}");
        }
        assert!(content(&Tensor::<f32, shape![2], castiron::Meta>::zeros()).contains("meta"));
        #[cfg(feature = "any")]
        assert_eq!(content(&castiron::AnyTensor::from(tensor![[1, 2]])), content(&tensor![[1, 2]]));
    }

    fn bytes(base64: &str) -> Vec<u8> {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let six = |letter: char| letters.find(letter).unwrap();
        let bits: Vec<usize> = base64.trim_end_matches('=').chars().map(six).collect();
        let mut found = Vec::new();
        for four in bits.chunks(4) {
            let number = (0..4).fold(0, |number, at| number << 6 | four.get(at).unwrap_or(&0));
            found.extend((0..four.len() - 1).map(|at| (number >> (16 - 8 * at)) as u8));
        }
        found
    }

    #[test]
    fn bytes_in_three_channels_are_shown_as_a_picture() {
        let pixels = Tensor::<u8, shape![9, 10, 3]>::from_fn(|[y, x, c]| (y * 20 + x + c * 3) as u8);
        let text = content(&pixels);
        let (kind, base64) = shown(&text);
        assert_eq!(kind, "image/png");
        let png = bytes(base64);
        assert_eq!(&png[..16], b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR");
        // Width, height, 8 bits, colour.
        assert_eq!(&png[16..29], &[0, 0, 0, 10, 0, 0, 0, 9, 8, 2, 0, 0, 0]);
        let mut sum = flate2::Crc::new();
        sum.update(&png[12..29]);
        assert_eq!(png[29..33], sum.sum().to_be_bytes());
        let len = u32::from_be_bytes(png[33..37].try_into().unwrap()) as usize;
        assert_eq!(&png[37..41], b"IDAT");
        let mut rows = Vec::new();
        flate2::read::ZlibDecoder::new(&png[41..41 + len]).read_to_end(&mut rows).unwrap();
        let expected: Vec<u8> = pixels.to_vec().chunks(30).flat_map(|row| [&[0][..], row].concat()).collect();
        assert_eq!(rows, expected);
        assert_eq!(&png[41 + len + 4..], b"\0\0\0\0IEND\xae\x42\x60\x82");
        // A view of other channels first, and opacity.
        let opaque = Tensor::<u8, shape![4, 9, 10]>::ones().permute(axis![1, 2, 0]);
        assert_eq!(bytes(shown(&content(&opaque)).1)[25], 6);
        // Few pixels are numbers to be read, and so is what is no byte.
        assert!(content(&pixels.slice(castiron::s![..4])).contains("text/html"));
        assert!(content(&pixels.to::<f32>()).contains("text/html"));
    }
}
