//! `l`: how time grows with size, from 64 elements to 2^28. The table has nanoseconds per element; `growth.svg` in the target folder, or
//! the file that `CHART` names, plots them, so that cliffs show.

use super::harness::{Bench, Work};
use castiron::{Generator, Tensor, axis, shape};
use std::fmt::Write;

/// A list whose length is known at run time.
type List = Tensor<f32, shape![_]>;

/// An operation, and the largest power of two it is run at: those that need more memory stop earlier.
const OPERATIONS: [(&str, u32, fn(&List) -> f32); 7] = [
    ("x + x", 28, |x| first(&(x + x))),
    ("exp", 28, |x| first(&x.exp())),
    ("sum", 28, |x| x.sum().item()),
    ("amax", 28, |x| x.amax().item()),
    ("cumsum", 27, |x| first(&x.cumsum(axis![0]))),
    ("softmax", 27, |x| first(&x.softmax(axis![0]))),
    ("sort", 25, |x| first(&x.sort(axis![0], false).0)),
];

fn first(x: &List) -> f32 {
    x.as_slice().map_or(0.0, |elements| elements[0])
}

pub fn run(bench: &mut Bench) {
    let mut lines: Vec<(&str, Vec<(u32, f64)>)> = OPERATIONS.iter().map(|(name, ..)| (*name, Vec::new())).collect();
    for power in (6..=28).step_by(2).chain([25, 27]) {
        let x: List = Tensor::rand_sized([1 << power], &mut Generator::seeded(7));
        for ((name, most, operation), (_, line)) in OPERATIONS.iter().zip(&mut lines) {
            if power > *most {
                continue;
            }
            let label = format!("l.{}_2^{power}", name.replace(" + ", "+"));
            if let Some(median) = bench.timed("", &label, Work::Calls, || operation(&x)) {
                line.push((power, median / f64::from(1 << power)));
            }
        }
    }
    let chart =
        std::env::var("CHART").unwrap_or_else(|_| concat!(env!("CARGO_TARGET_TMPDIR"), "/growth.svg").to_owned());
    match std::fs::write(&chart, drawing(&mut lines)) {
        Ok(()) => eprintln!("the chart is {chart}"),
        Err(error) => eprintln!("{chart} cannot be written: {error}"),
    }
}

const COLORS: [&str; OPERATIONS.len()] = ["#1b6ca8", "#c0392b", "#1e8449", "#b9770e", "#6c3483", "#117a65", "#5d6d7e"];

/// Lines over two logarithmic axes: elements, and nanoseconds per element.
fn drawing(lines: &mut [(&str, Vec<(u32, f64)>)]) -> String {
    let (width, height, left, top) = (720.0, 400.0, 60.0, 30.0);
    let (least, most) = (-2, 3);
    let across = |power: u32| left + f64::from(power - 6) / 22.0 * width;
    let down = |nanoseconds: f64| {
        let part = (nanoseconds.log10() - f64::from(least)) / f64::from(most - least);
        top + (1.0 - part.clamp(0.0, 1.0)) * height
    };
    let mut svg = String::from(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 480" font-family="sans-serif" font-size="12"><rect width="900" height="480" fill="white"/>"#,
    );
    // (Writing to a string cannot fail.)
    for exponent in least..=most {
        let (y, label) = (down(10_f64.powi(exponent)), 10_f64.powi(exponent));
        let _ = write!(svg, r##"<line x1="{left}" x2="{}" y1="{y}" y2="{y}" stroke="#ddd"/>"##, left + width);
        let _ = write!(svg, r#"<text x="{}" y="{}" text-anchor="end">{label}</text>"#, left - 6.0, y + 4.0);
    }
    for power in (6..=28).step_by(2) {
        let (x, bottom) = (across(power), top + height);
        let _ = write!(svg, r##"<line x1="{x}" x2="{x}" y1="{top}" y2="{bottom}" stroke="#eee"/>"##);
        let _ = write!(svg, r#"<text x="{x}" y="{}" text-anchor="middle">2^{power}</text>"#, bottom + 18.0);
    }
    let _ = write!(svg, r#"<text x="{left}" y="16">nanoseconds per element of f32, by the number of elements</text>"#);
    for (at, ((name, line), color)) in lines.iter_mut().zip(COLORS).enumerate() {
        line.sort_by_key(|(power, _)| *power);
        let point = |&(power, nanoseconds): &(u32, f64)| format!("{:.1},{:.1}", across(power), down(nanoseconds));
        let points: Vec<String> = line.iter().map(point).collect();
        let _ =
            write!(svg, r#"<polyline fill="none" stroke="{color}" stroke-width="2" points="{}"/>"#, points.join(" "));
        let y = top + 14.0 + 20.0 * at as f64;
        let _ = write!(svg, r#"<text x="{}" y="{y}" fill="{color}">{name}</text>"#, left + width + 12.0);
    }
    svg + "</svg>\n"
}
