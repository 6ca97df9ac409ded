//! Charts of numbers, such as losses: as text for the terminal, and as an SVG file.

use std::fmt::Write;

/// Points that are drawn together.
pub struct Series {
    pub name: &'static str,
    /// What the terminal shows for each point.
    pub mark: char,
    /// Whether the points are joined by a line in the SVG file.
    pub joined: bool,
    pub points: Vec<[f64; 2]>,
}

impl Series {
    /// The numbers of a list, counted from 1.
    pub fn counted(name: &'static str, mark: char, list: impl IntoIterator<Item = f32>) -> Self {
        let points = list.into_iter().enumerate().map(|(at, y)| [at as f64 + 1.0, f64::from(y)]);
        Series { name, mark, joined: true, points: points.collect() }
    }
}

/// Means of groups of numbers of the given length (the last group may be shorter): a noisy curve becomes readable.
pub fn smoothed(list: &[f32], each: usize) -> impl Iterator<Item = f32> + '_ {
    list.chunks(each.max(1)).map(|part| part.iter().sum::<f32>() / part.len() as f32)
}

/// `[#####.....]`
pub fn bar(done: usize, total: usize) -> String {
    let full = (20 * done).checked_div(total).unwrap_or(20).min(20);
    format!("[{}{}]", "#".repeat(full), ".".repeat(20 - full))
}

/// The smallest and the largest of all finite numbers along an axis, apart from each other.
fn range(series: &[Series], axis: usize) -> [f64; 2] {
    let all = series.iter().flat_map(|one| one.points.iter().map(|point| point[axis])).filter(|x| x.is_finite());
    let [low, high] = all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
    if !low.is_finite() {
        return [0.0, 1.0];
    }
    if low < high { [low, high] } else { [low - 0.5, high + 0.5] }
}

/// The part of a range that lies below a number.
fn part(x: f64, [low, high]: [f64; 2]) -> f64 {
    (x - low) / (high - low)
}

/// A chart of 12 lines of text.
pub fn text(series: &[Series]) -> String {
    const ROWS: usize = 12;
    const COLUMNS: usize = 72;
    let (along, up) = (range(series, 0), range(series, 1));
    let mut grid = vec![[' '; COLUMNS]; ROWS];
    for one in series {
        for &[x, y] in one.points.iter().filter(|point| point.iter().all(|x| x.is_finite())) {
            let column = (part(x, along) * (COLUMNS - 1) as f64).round() as usize;
            let row = ((1.0 - part(y, up)) * (ROWS - 1) as f64).round() as usize;
            grid[row][column] = one.mark;
        }
    }
    let mut text = String::new();
    for (row, line) in grid.iter().enumerate() {
        let y = up[1] + (up[0] - up[1]) * row as f64 / (ROWS - 1) as f64;
        let _ = writeln!(text, "{y:>9.3} |{}", line.iter().collect::<String>().trim_end());
    }
    let [first, last] = along.map(|x| format!("{}", (x * 1e4).round() / 1e4));
    let _ = writeln!(text, "{:9} +{}", "", "-".repeat(COLUMNS));
    let _ = writeln!(text, "{:11}{first}{last:>width$}", "", width = COLUMNS.saturating_sub(first.len()));
    for one in series {
        let _ = writeln!(text, "{:11}{} {}", "", one.mark, one.name);
    }
    text
}

/// The same as an SVG file.
pub fn svg(title: &str, series: &[Series]) -> String {
    const COLOURS: [&str; 4] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"];
    let (along, up) = (range(series, 0), range(series, 1));
    let place = |&[x, y]: &[f64; 2]| [60.0 + 560.0 * part(x, along), 340.0 - 300.0 * part(y, up)];
    let mut text = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 400\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"640\" height=\"400\" fill=\"white\"/>\n",
    );
    let _ = writeln!(text, "<text x=\"320\" y=\"22\" text-anchor=\"middle\" font-size=\"14\">{title}</text>");
    for step in 0..=4 {
        let of = |[low, high]: [f64; 2]| low + (high - low) * f64::from(step) / 4.0;
        let [x, y] = place(&[of(along), of(up)]);
        let _ = writeln!(
            text,
            "<path d=\"M60 {y:.1}H620\" stroke=\"#ddd\"/><text x=\"54\" y=\"{:.1}\" text-anchor=\"end\">{:.3}</text>\
             <text x=\"{x:.1}\" y=\"358\" text-anchor=\"middle\">{:.0}</text>",
            y + 4.0,
            of(up),
            of(along),
        );
    }
    for (at, one) in series.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let points: Vec<[f64; 2]> =
            one.points.iter().filter(|point| point.iter().all(|x| x.is_finite())).map(place).collect();
        if one.joined {
            let line: Vec<String> = points.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                text,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>",
                line.join(" ")
            );
        } else {
            for [x, y] in points {
                let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\" fill=\"{colour}\"/>");
            }
        }
        let x = 60 + 140 * at;
        let _ = writeln!(text, "<text x=\"{x}\" y=\"384\" fill=\"{colour}\">{}</text>", one.name);
    }
    text.push_str("</svg>\n");
    text
}
