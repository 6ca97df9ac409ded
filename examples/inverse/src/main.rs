//! Finds the constants of a pendulum from noisy measurements: gradients through the solver of a differential equation, without a network.
//!
//! `cargo run --release -p inverse`; `-- --noise 0.1` makes the measurements worse, `-- --seed 3` makes others.
//!
//! The angle of a pendulum obeys `angle'' = -pull * sin(angle) - friction * angle'`. It is let go at five angles, and measured now and then,
//! badly. Which pull and which friction fit the measurements best? The sum of the squared differences is a function of the two: the solver
//! is run, and its results are compared with what was measured. Its gradient goes back through all steps of the solver, L-BFGS follows it to
//! the minimum, and how fast the gradient changes there says how exactly the constants are known.

#[path = "../../chart/mod.rs"]
#[allow(dead_code, reason = "other examples draw losses, too")]
mod chart;

use castiron::grad::Grad;
use castiron::optim::Lbfgs;
use castiron::{Cpu, Device, Dim, Generator, Module, Tensor, axis, dim, dims, shape, stack, tensor};
use chart::Series;
use std::error::Error;

dims! {
    /// Times at which the pendulum is measured.
    Times,
}
/// How often the pendulum is let go.
type Runs = dim!(5);

/// Seconds between two measurements, and the steps of the solver between them.
const SECONDS: f64 = 0.2;
const STEPS: usize = 4;
const MEASUREMENTS: usize = 40;

/// The constants of a pendulum: what is looked for. A struct with `#[derive(Module)]` has gradients, which are a `Pendulum`, too.
#[derive(Module)]
struct Pendulum<D: Device = Cpu> {
    pull: Tensor<f64, shape![], D>,
    friction: Tensor<f64, shape![], D>,
}

/// Angles of `N` pendulums, and how fast they change.
struct State<N: Dim, D: Device> {
    angle: Tensor<f64, (N,), D>,
    speed: Tensor<f64, (N,), D>,
}

impl<D: Device> Pendulum<D> {
    fn new(pull: f64, friction: f64) -> Result<Self, castiron::Error> {
        let on = |x: f64| Tensor::<f64, shape![]>::scalar(x).to_device::<D>();
        Ok(Pendulum { pull: on(pull)?, friction: on(friction)? })
    }

    /// How fast a state changes.
    fn change<N: Dim>(&self, at: &State<N, D>) -> State<N, D> {
        State { angle: at.speed.clone(), speed: -(at.angle.sin() * &self.pull) - &at.speed * &self.friction }
    }

    /// A step of the method of Runge and Kutta, of fourth order.
    fn step<N: Dim>(&self, at: &State<N, D>, seconds: f64) -> State<N, D> {
        let moved = |by: &State<N, D>, seconds: f64| State {
            angle: &at.angle + &by.angle * seconds,
            speed: &at.speed + &by.speed * seconds,
        };
        let k1 = self.change(at);
        let k2 = self.change(&moved(&k1, seconds / 2.0));
        let k3 = self.change(&moved(&k2, seconds / 2.0));
        let k4 = self.change(&moved(&k3, seconds));
        let mean = State {
            angle: (k1.angle + k2.angle * 2.0 + k3.angle * 2.0 + k4.angle) / 6.0,
            speed: (k1.speed + k2.speed * 2.0 + k3.speed * 2.0 + k4.speed) / 6.0,
        };
        moved(&mean, seconds)
    }

    /// The angles at the times of the measurements, of pendulums that are let go at these.
    fn angles<N: Dim>(&self, start: &Tensor<f64, (N,), D>) -> Tensor<f64, (Times, N), D> {
        let mut state = State { angle: start.clone(), speed: start * 0.0 };
        let mut seen = Vec::new();
        for _ in 0..MEASUREMENTS {
            for _ in 0..STEPS {
                state = self.step(&state, SECONDS / STEPS as f64);
            }
            seen.push(state.angle.clone());
        }
        stack(seen, axis![0]).with_shape()
    }

    /// How badly the constants fit the measurements, whose errors have this deviation: minus the logarithm of their probability, apart from
    /// a constant.
    fn misfit<N: Dim>(
        &self,
        start: &Tensor<f64, (N,), D>,
        measured: &Tensor<f64, (Times, N), D>,
        deviation: f64,
    ) -> Tensor<f64, shape![], D> {
        ((self.angles(start) - measured) / deviation).square().sum() / 2.0
    }

    /// The gradient of the misfit.
    fn slope<N: Dim>(
        &self,
        start: &Tensor<f64, (N,), D>,
        measured: &Tensor<f64, (Times, N), D>,
        deviation: f64,
    ) -> (Tensor<f64, shape![], D>, Pendulum<D>) {
        // The solver is an ordinary function, and all of its steps are recorded, since inside of the closure the pendulum is on a tape.
        self.value_and_grad((start, measured), |pendulum, (start, measured)| {
            pendulum.misfit(start, measured, deviation)
        })
    }

    /// The second derivatives of the misfit by both constants, and by one after the other: differences of gradients on both sides.
    fn curvature<N: Dim>(
        &self,
        start: &Tensor<f64, (N,), D>,
        measured: &Tensor<f64, (Times, N), D>,
        deviation: f64,
    ) -> Result<[f64; 3], castiron::Error> {
        const AWAY: f64 = 1e-4;
        let [pull, friction] = [&self.pull, &self.friction].map(|x| x.item());
        let slope = |pull: f64, friction: f64| -> Result<[f64; 2], castiron::Error> {
            let (_, slope) = Pendulum::<D>::new(pull, friction)?.slope(start, measured, deviation);
            Ok([slope.pull.item(), slope.friction.item()])
        };
        let difference = |[up, down]: [[f64; 2]; 2]| [0, 1].map(|at| (up[at] - down[at]) / (2.0 * AWAY));
        let [pulls, both] = difference([slope(pull + AWAY, friction)?, slope(pull - AWAY, friction)?]);
        let [other, frictions] = difference([slope(pull, friction + AWAY)?, slope(pull, friction - AWAY)?]);
        Ok([pulls, frictions, (both + other) / 2.0])
    }
}

/// What a fit gives.
struct Fit {
    /// The constants that fit best.
    pendulum: Pendulum,
    /// Their standard deviations.
    deviations: [f64; 2],
    /// The misfit before each step.
    misfits: Vec<f32>,
}

/// Looks for the constants that fit best.
fn fit(
    start: &Tensor<f64, (Runs,)>,
    measured: &Tensor<f64, (Times, Runs)>,
    deviation: f64,
) -> Result<Fit, castiron::Error> {
    // What is looked for is positive, and perhaps far away: the guess is wrong by a factor of two and of ten.
    let mut pendulum = Pendulum::new(4.0, 1.0)?;
    let mut lbfgs = Lbfgs::new(&pendulum).strong_wolfe().max_iter(1).max_eval(25);
    let mut misfits = Vec::new();
    while misfits.len() < 60 {
        let misfit = lbfgs.try_step(&mut pendulum, |pendulum| pendulum.slope(start, measured, deviation))?;
        let before = misfits.last().copied();
        misfits.push(misfit as f32);
        println!(
            "step {:>2}: misfit {misfit:>12.4}, pull {:.5}, friction {:.5}",
            misfits.len(),
            pendulum.pull.item(),
            pendulum.friction.item()
        );
        if before.is_some_and(|before| before == misfit as f32) {
            break;
        }
    }
    // Near the minimum the misfit is a parabola, so the constants are spread as a normal distribution whose covariance is the inverse of
    // the second derivatives.
    let [pulls, frictions, both] = pendulum.curvature(start, measured, deviation)?;
    let determinant = pulls * frictions - both * both;
    let deviations = [(frictions / determinant).sqrt(), (pulls / determinant).sqrt()];
    Ok(Fit { pendulum, deviations, misfits })
}

fn main() -> Result<(), Box<dyn Error>> {
    const USAGE: &str = "usage: inverse [--noise DEVIATION] [--seed SEED]";
    let (mut noise, mut seed) = (0.05, 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match argument.as_str() {
            "--noise" => noise = value.parse()?,
            "--seed" => seed = value.parse()?,
            _ => return Err(USAGE.into()),
        }
    }

    // 1. What is measured: the angles of a pendulum whose constants are known here, and errors.
    let (pull, friction) = (9.81, 0.1);
    let start: Tensor<f64, (Runs,)> = tensor![0.5, 1.0, 1.5, 2.0, 2.5; f64];
    let truth = Pendulum::<Cpu>::new(pull, friction)?.angles(&start);
    let errors: Tensor<f64, (Times, Runs)> =
        Tensor::normal_sized(truth.shape(), 0.0, noise, &mut Generator::seeded(seed));
    let measured: Tensor<f64, (Times, Runs)> = &truth + errors;

    // 2. The constants that fit best.
    let Fit { pendulum, deviations, misfits } = fit(&start, &measured, noise)?;

    // 3. What it looks like: the pendulum that is let go highest.
    let times = |x: &Tensor<f64, (Times, Runs)>| -> Vec<[f64; 2]> {
        (0..MEASUREMENTS).map(|at| [SECONDS * (at + 1) as f64, x[(at, 4)]]).collect()
    };
    let fitted = pendulum.angles(&start);
    let series = [
        Series { name: "fitted", mark: '.', joined: true, points: times(&fitted) },
        Series { name: "measured", mark: 'o', joined: false, points: times(&measured) },
    ];
    println!("\nangle in the course of {} seconds:\n{}", SECONDS * MEASUREMENTS as f64, chart::text(&series));
    let folder = "target/inverse";
    std::fs::create_dir_all(folder)?;
    pendulum.save(format!("{folder}/pendulum.safetensors"))?;
    std::fs::write(format!("{folder}/angle.svg"), chart::svg("angle of the pendulum", &series))?;
    let curve = [Series::counted("misfit", '*', misfits)];
    std::fs::write(format!("{folder}/misfit.svg"), chart::svg("misfit of each step", &curve))?;
    println!("{folder}/pendulum.safetensors\n{folder}/angle.svg\n{folder}/misfit.svg\n");

    // 4. Whether it was found.
    for (name, truth, value, deviation) in [
        ("pull", pull, pendulum.pull.item(), deviations[0]),
        ("friction", friction, pendulum.friction.item(), deviations[1]),
    ] {
        let away = (value - truth).abs() / deviation;
        println!("{name:<8} {value:.5} ± {deviation:.5}, in truth {truth}: {away:.1} deviations away");
        if away.is_nan() || away > 5.0 {
            return Err(format!("{name} was not found").into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gradient through the solver beside differences of the misfit.
    #[test]
    fn gradients_are_those_of_differences() -> Result<(), Box<dyn Error>> {
        let start: Tensor<f64, (dim!(2),)> = tensor![0.5, 2.0; f64];
        let measured = Pendulum::<Cpu>::new(9.0, 0.2)?.angles(&start);
        let misfit = |pull: f64, friction: f64| -> Result<f64, castiron::Error> {
            Ok(Pendulum::<Cpu>::new(pull, friction)?.misfit(&start, &measured, 0.5).item())
        };
        let (pull, friction, h) = (9.2, 0.15, 1e-5);
        let (loss, slope) = Pendulum::<Cpu>::new(pull, friction)?.slope(&start, &measured, 0.5);
        assert_eq!(loss.item(), misfit(pull, friction)?);
        for (derivative, up, down) in [
            (slope.pull.item(), misfit(pull + h, friction)?, misfit(pull - h, friction)?),
            (slope.friction.item(), misfit(pull, friction + h)?, misfit(pull, friction - h)?),
        ] {
            let difference = (up - down) / (2.0 * h);
            assert!((difference - derivative).abs() < 1e-6 * derivative.abs().max(1.0), "{difference} {derivative}");
        }
        Ok(())
    }

    #[test]
    fn finds_the_constants() -> Result<(), Box<dyn Error>> {
        let start: Tensor<f64, (Runs,)> = tensor![0.5, 1.0, 1.5, 2.0, 2.5; f64];
        let truth = Pendulum::<Cpu>::new(9.81, 0.1)?.angles(&start);
        let measured: Tensor<f64, (Times, Runs)> =
            &truth + Tensor::<f64, (Times, Runs)>::normal_sized(truth.shape(), 0.0, 0.01, &mut Generator::seeded(0));
        let Fit { pendulum, deviations, .. } = fit(&start, &measured, 0.01)?;
        assert!(deviations.iter().all(|deviation| *deviation < 0.01), "{deviations:?}");
        assert!((pendulum.pull.item() - 9.81).abs() < 5.0 * deviations[0]);
        assert!((pendulum.friction.item() - 0.1).abs() < 5.0 * deviations[1]);
        Ok(())
    }
}
