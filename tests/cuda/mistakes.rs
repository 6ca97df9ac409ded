//! Mistakes planted in kernel texts: each is noticed, by results that differ from the host's or by a fault.
//!
//! The pretend NVRTC changes texts (`PRETEND_MISTAKE`). Each mistake is tested in its own process, since a fault ends the use of a device.

use crate::pretend::{self, Installed};
use castiron::{Cpu, Cuda, Device, Element, Error, Result, Shape, Tensor, axis, shape};

type Line<E, D> = Tensor<E, shape![_], D>;
type Matrix<E, D> = Tensor<E, shape![_, _], D>;

/// The operations compared, with the mistakes each must notice: the text to replace, and its replacement.
struct Mistake {
    about: &'static str,
    host: fn() -> Result<String>,
    gpu: fn() -> Result<String>,
    before: &'static str,
    after: &'static str,
}

macro_rules! mistakes {
    ($($about:literal $run:ident: $before:literal => $after:literal;)*) => {
        const MISTAKES: &[Mistake] = &[$(Mistake {
            about: $about, host: $run::<Cpu>, gpu: $run::<Cuda<0>>, before: $before, after: $after,
        }),*];
    };
}
mistakes! {
    "another operation" multiplied: "= a0 * a1;" => "= a0 + a1;";
    "the bound of a comparison" compared: "a0 < a1" => "a0 <= a1";
    "elements behind the last pack" multiplied: "CI_EACH(rest, n - packs * 4)" => "CI_EACH(rest, n - n)";
    "an element behind the last" multiplied: "i < n; i += gridDim.x" => "i <= n; i += gridDim.x";
    "one element of a pack for all" summed: "x.of[k], (ci_i64)(i + k), g)" => "x.of[0], (ci_i64)(i + k), g)";
    "a barrier left out" product: "__syncthreads();" => ";";
    "another stride" product: "* w.b_row" => "* w.b_column";
    "an axis that is not skipped" taken: "(ci_at)at[k] * step" => "(ci_at)at[k]";
    "equal keys at one place" sorted: "theirs < key ||" => "theirs <= key ||";
    "a large row that is not measured again" normed: "!L::is_beyond(g)" => "true";
    "a value that is not seen" attended: "if (CI_SEES) sum" => "sum";
    "what stands before is forgotten" running: "is_there ? ci_put(p, later) : later" => "later";
}

fn line<D: Device>(len: usize, step: usize) -> Result<Line<f32, D>> {
    let elements = (0..len).map(|at| (at * step % 13) as f32 + 2.0).collect();
    Line::<f32, Cpu>::from_vec_sized(elements, [len]).to_device()
}

fn matrix<D: Device>(rows: usize, columns: usize) -> Result<Matrix<i32, D>> {
    let elements = (0..rows * columns).map(|at| (at * 7 % 11) as i32).collect();
    Matrix::<i32, Cpu>::from_vec_sized(elements, [rows, columns]).to_device()
}

fn read<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Result<String> {
    Ok(format!("{:?}", x.to_device::<Cpu>()?.to_vec()))
}

fn multiplied<D: Device>() -> Result<String> {
    // (A whole number of packs and of pages; and not.)
    let whole = line::<D>(1024, 7)?.try_mul(&line::<D>(1024, 5)?)?;
    Ok(read(&whole)? + &read(&line::<D>(1003, 7)?.try_mul(&line::<D>(1003, 5)?)?)?)
}

fn compared<D: Device>() -> Result<String> {
    read(&line::<D>(100, 7)?.try_lt(&line::<D>(100, 5)?)?)
}

fn summed<D: Device>() -> Result<String> {
    read(&matrix::<D>(5, 64)?.try_sum_axis(axis![1])?)
}

fn product<D: Device>() -> Result<String> {
    let product: Matrix<i32, D> = matrix::<D>(20, 40)?.try_matmul(&matrix::<D>(40, 24)?)?;
    read(&product)
}

fn taken<D: Device>() -> Result<String> {
    let rows = Line::<i64, Cpu>::from_vec_sized(vec![3, 0, 4, 4], [4]).to_device::<D>()?;
    let places = rows.unsqueeze(axis![1]).expand_sized::<shape![_, _]>([4, 6]).contiguous();
    read(&matrix::<D>(5, 6)?.try_gather(axis![0], &places)?)
}

fn sorted<D: Device>() -> Result<String> {
    let (values, places) = line::<D>(20, 4)?.try_sort(axis![0], false)?;
    Ok(read(&values)? + &read(&places)?)
}

fn normed<D: Device>() -> Result<String> {
    let x = Matrix::<f32, Cpu>::from_vec_sized(vec![1e30, -1e30, 2.0, 4.0], [2, 2]).to_device::<D>()?;
    read(&x.try_layer_norm::<shape![_]>(None, None, 0.0)?)
}

fn attended<D: Device>() -> Result<String> {
    let x = Tensor::<f32, shape![2, 2], Cpu>::from([[1.0, 2.0], [3.0, f32::INFINITY]]).to_device::<D>()?;
    let zeros = Tensor::<f32, shape![2, 2], D>::try_zeros()?;
    read(&zeros.try_scaled_dot_product_attention(&zeros, &x, castiron::nn::Causal, None)?.try_slice(castiron::s![0])?)
}

fn running<D: Device>() -> Result<String> {
    read(&matrix::<D>(600, 3)?.try_cumsum(axis![0])?)
}

/// What the process of a mistake says.
fn judged(mistake: &Mistake) -> String {
    let (host, gpu) = ((mistake.host)().unwrap(), (mistake.gpu)());
    let planted = pretend::mistakes();
    match gpu {
        _ if planted == 0 => "it is nowhere in the text".to_owned(),
        Err(Error::CudaFailure { op: "compile", reason, .. }) => format!("it does not compile: {reason}"),
        Ok(gpu) if gpu == host => "nothing notices it".to_owned(),
        Ok(_) | Err(_) => "noticed".to_owned(),
    }
}

#[test]
fn are_noticed() {
    if pretend::is_inside() {
        let at: usize = std::env::var("MISTAKE").unwrap().parse().unwrap();
        return println!("\n<{}>", judged(&MISTAKES[at]));
    }
    for (at, Mistake { about, before, after, .. }) in MISTAKES.iter().enumerate() {
        let variables = [("MISTAKE", &*at.to_string()), ("PRETEND_MISTAKE", &*format!("{before}=>{after}"))];
        let Some(output) = pretend::again("mistakes::are_noticed", Installed::Both, &variables) else { return };
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("<noticed>"), "{about}: {said}{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Without them nothing is noticed.
#[test]
fn without_them_all_is_as_on_the_host() {
    crate::on_gpu!("mistakes::without_them_all_is_as_on_the_host", {
        for Mistake { about, host, gpu, .. } in MISTAKES {
            assert_eq!(gpu().unwrap(), host().unwrap(), "{about}");
        }
    });
}
