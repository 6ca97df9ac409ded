//! Profiles as a table, and as a trace for viewers.

use super::clock::Clock;
use super::record::{Profile, Record};
use crate::device::{Backend, Cpu};
use crate::ops::kernel::Copying;
use crate::storage::View;
use core::fmt::{self, Display, Write};
use std::sync::OnceLock;

/// Calls of one operation on one list of dtypes.
struct Line {
    name: String,
    dtypes: String,
    is_on_host: bool,
    calls: usize,
    time: f64,
    bytes: u64,
}

/// Bytes per second that the host reads and writes when it copies much more than caches hold.
fn copying() -> f64 {
    static MEASURED: OnceLock<f64> = OnceLock::new();
    *MEASURED.get_or_init(|| {
        const LEN: usize = 1 << 24;
        let Ok(from) = Cpu::fill::<f32>(None, 1.0, LEN) else { return f64::NAN };
        let mut best = 0.0_f64;
        for _ in 0..4 {
            let start = Clock::HOST.mark();
            let copied = Cpu::run::<crate::device::call::Unary<'static, (), f32, f32, Copying>>(
                crate::device::call::Unary::new(Copying, &[1], View::new(&from, 0, &[LEN], &[1])),
            );
            let seconds = Clock::HOST.mark().since(&start);
            if copied.is_ok() {
                best = best.max((2 * LEN * size_of::<f32>()) as f64 / seconds);
            }
        }
        best
    })
}

fn time_text(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
        s => format!("{:.1} us", s * 1e6),
    }
}

impl Profile {
    fn lines(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for record in &self.records {
            let names: Vec<&str> = record.operands.iter().map(|(dtype, _)| dtype.name()).collect();
            let dtypes = names.join(", ");
            let is_on_host = record.device == "cpu";
            let known = lines
                .iter()
                .position(|line| line.name == record.name && line.dtypes == dtypes && line.is_on_host == is_on_host);
            let at = known.unwrap_or_else(|| {
                lines.push(Line { name: record.name.clone(), dtypes, is_on_host, calls: 0, time: 0.0, bytes: 0 });
                lines.len() - 1
            });
            lines[at].calls += 1;
            lines[at].time += record.own_time;
            lines[at].bytes = lines[at].bytes.saturating_add(record.read.saturating_add(record.written));
        }
        lines.sort_by(|a, b| b.time.total_cmp(&a.time));
        lines
    }

    /// The calls in the format of Chrome's tracing, which `chrome://tracing` and Perfetto show: JSON.
    ///
    /// PyTorch: `torch.profiler.profile.export_chrome_trace`.
    ///
    /// ```
    /// use castiron::{profile, tensor};
    /// let (_, profile) = profile(|| tensor![1.0, 2.0].exp());
    /// assert!(profile.chrome_trace().starts_with("{\"traceEvents\":["));
    /// ```
    pub fn chrome_trace(&self) -> String {
        let event = |record: &Record| {
            let operands: Vec<String> =
                record.operands.iter().map(|(dtype, sizes)| format!("\"{} {sizes:?}\"", dtype.name())).collect();
            format!(
                "{{\"name\":\"{}\",\"ph\":\"X\",\"ts\":{:.3},\"dur\":{:.3},\"pid\":0,\"tid\":\"{}\",\"args\":{{\"operands\":[{}],\"bytes read\":{},\"bytes written\":{}}}}}",
                record.name,
                record.start * 1e6,
                record.time * 1e6,
                record.device,
                operands.join(","),
                record.read,
                record.written
            )
        };
        let events: Vec<String> = self.records.iter().map(event).collect();
        format!("{{\"traceEvents\":[{}]}}", events.join(","))
    }
}

impl Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lines, total) = (self.lines(), self.records.iter().map(|record| record.own_time).sum::<f64>());
        let width = |of: &dyn Fn(&Line) -> usize, least: usize| lines.iter().map(of).max().unwrap_or(0).max(least);
        let names = width(&|line| line.name.len(), "operation".len());
        let dtypes = width(&|line| line.dtypes.len(), "dtypes".len());
        writeln!(f, "{:names$}  {:dtypes$}  calls        time   share     GB/s  of copying", "operation", "dtypes")?;
        for line in &lines {
            let speed = line.bytes as f64 / line.time;
            let mut text = format!("{:names$}  {:dtypes$}  {:5}", line.name, line.dtypes, line.calls);
            write!(text, "  {:>10}  {:5.1} %  {:7.1}", time_text(line.time), line.time / total * 100.0, speed / 1e9)?;
            if line.is_on_host {
                write!(text, "  {:10.2}", speed / copying())?;
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        write!(f, "{} in {} calls, of {} in all", time_text(total), self.records.len(), time_text(self.seconds))
    }
}
