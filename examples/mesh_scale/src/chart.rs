//! The chart of the model: how much more is done in a second, by the number of ranks, both on logarithmic scales.

use crate::model::{Network, PROGRAMS, Scaling};
use std::fmt::Write;

const COLOURS: [&str; 4] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"];
const SIDE: f64 = 360.0;

/// One panel for each network: a line for each program, whole where each rank has as much to do as one has alone, dashed where all ranks
/// together have.
pub(crate) fn svg(networks: &[Network]) -> String {
    let width = 440 * networks.len() + 20;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} 490\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"490\" fill=\"white\"/>\n"
    );
    for (panel, network) in networks.iter().enumerate() {
        let left = 60.0 + 440.0 * panel as f64;
        // Ten doublings along both sides.
        let x = |ranks: f64| left + SIDE * ranks.log2() / 10.0;
        let y = |speedup: f64| 40.0 + SIDE * (1.0 - speedup.log2().max(-1.0) / 10.0);
        let _ = writeln!(
            text,
            "<text x=\"{:.0}\" y=\"24\" text-anchor=\"middle\" font-size=\"14\">{}</text>",
            left + SIDE / 2.0,
            network.name
        );
        for power in (0..=10).step_by(2) {
            let count = 2_f64.powi(power);
            let (at_x, at_y) = (x(count), y(count));
            let _ = writeln!(
                text,
                "<path d=\"M{left:.0} {at_y:.1}h{SIDE}M{at_x:.1} 40v{SIDE}\" stroke=\"#ddd\" fill=\"none\"/>\
                 <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{count}x</text>\
                 <text x=\"{at_x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{count}</text>",
                left - 6.0,
                at_y + 4.0,
                SIDE + 58.0,
            );
        }
        for (program, colour) in PROGRAMS.iter().zip(COLOURS) {
            for (scaling, dash) in [(Scaling::Weak, ""), (Scaling::Strong, " stroke-dasharray=\"5 4\"")] {
                let powers = (0..=10).filter(|power| program.feeds(1 << power, scaling));
                let points = powers.map(|power| {
                    let speedup = program.speedup(network, 1 << power, scaling);
                    format!("{:.1},{:.1}", x(f64::from(1 << power)), y(speedup))
                });
                let _ = writeln!(
                    text,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"{dash}/>",
                    points.collect::<Vec<_>>().join(" ")
                );
            }
        }
    }
    for (at, (program, colour)) in PROGRAMS.iter().zip(COLOURS).enumerate() {
        let _ = writeln!(text, "<text x=\"{}\" y=\"448\" fill=\"{colour}\">{}</text>", 60 + 110 * at, program.name);
    }
    text.push_str(
        "<text x=\"60\" y=\"470\">ranks, and how much more is done in a second than by one; whole lines: as much for each rank as one has \
         alone, dashed: as much for all together</text>\n</svg>\n",
    );
    text
}
