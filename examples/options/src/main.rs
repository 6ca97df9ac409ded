//! Prices of options by the formula of Black and Scholes, their implied volatility by Newton's method with the formula's own derivative,
//! and their Greeks by gradients: a formula is written once, and nothing is derived by hand.
//!
//! `cargo run --release -p options`

use castiron::grad::Grad;
use castiron::{Device, Generator, Shape, Tensor, dim, formula, tensor};
use std::error::Error;
use std::time::Instant;

/// The distribution function of the standard normal distribution.
#[formula]
fn normal<F: Float>(x: F) -> F {
    0.5 * (1.0 + (x / core::f64::consts::SQRT_2).erf())
}
/// The price of the right to buy at `strike`, in `years` years.
#[formula(method)]
fn call<F: Float>(price: F, strike: F, years: F, rate: F, volatility: F) -> F {
    let deviation = volatility * years.sqrt();
    let above = ((price / strike).log() + (rate + 0.5 * volatility * volatility) * years) / deviation;
    price * normal(above) - strike * (-rate * years).exp() * normal(above - deviation)
}

/// Options of one stock, each with its strike and its time.
struct Options<S: Shape, D: Device> {
    price: Tensor<f64, S, D>,
    strike: Tensor<f64, S, D>,
    years: Tensor<f64, S, D>,
    rate: f64,
}

impl<S: Shape, D: Device> Options<S, D> {
    /// The volatility at which the formula gives these prices. Newton's method: the derivative comes from the formula.
    fn implied_volatility(&self, market: &Tensor<f64, S, D>) -> castiron::Result<Tensor<f64, S, D>> {
        // Where the price is steepest in the volatility: every step from there goes in the right direction (Manaster and Koehler).
        let mut volatility = ((&self.price / &self.strike).log() + &self.years * self.rate).abs();
        volatility = (volatility * 2.0 / &self.years).sqrt().clamp_min(1e-3);
        for _ in 0..24 {
            // The sum's gradient by each volatility is the derivative of its own price, known as vega.
            let (_, value, vega) = volatility.value_and_grad_with(
                (&self.price, &self.strike, &self.years),
                |volatility, (price, strike, years)| {
                    let value = price.call(strike, years, self.rate, volatility);
                    (value.sum(), value)
                },
            );
            volatility -= (value - market) / vega.clamp_min(1e-12);
        }
        Ok(volatility)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // 1. Greeks: how the price of an option changes with what it depends on.
    let at = |x: f64| tensor![x; f64];
    let own = (at(105.0), at(0.5), at(0.25));
    let strike = at(100.0);
    let (value, (delta, theta, vega)) = own.value_and_grad((&strike,), |(price, years, volatility), (strike,)| {
        price.call(strike, years, 0.03, volatility).sum()
    });
    let gamma = own.0.hessian((&strike,), |price, (strike,)| price.call(strike, 0.5, 0.03, 0.25).sum());
    println!("a stock at 105, the right to buy it at 100 in half a year, 3 % interest, volatility 25 %");
    println!("price {:8.4}", value.item());
    println!("delta {:8.4}   by the price of the stock", delta.item());
    println!("gamma {:8.4}   of delta by the price of the stock", gamma.sum().item());
    println!("vega  {:8.4}   by the volatility", vega.item());
    println!("theta {:8.4}   by the time that is left", theta.item());

    // 2. Implied volatility: of a market of options, from their prices back to the volatility.
    type Market = dim!(100_000);
    let mut random = Generator::seeded(7);
    let mut drawn = |low: f64, high: f64| Tensor::<f64, (Market,)>::rand(&mut random) * (high - low) + low;
    let options =
        Options { price: drawn(80.0, 120.0), strike: drawn(90.0, 110.0), years: drawn(0.25, 2.0), rate: 0.02 };
    let volatility = drawn(0.1, 0.6);
    let market = options.price.call(&options.strike, &options.years, options.rate, &volatility);
    let count = volatility.numel();
    let start = Instant::now();
    let implied = options.implied_volatility(&market)?;
    let seconds = start.elapsed().as_secs_f64();
    let error = (&implied - &volatility).abs().amax().item();
    println!(
        "\nimplied volatility of {count} options: {:.2} million a second, largest error {error:.1e}",
        count as f64 / seconds / 1e6
    );
    if error.is_nan() || error > 1e-6 {
        return Err("the implied volatility is not the one that the prices were made with".into());
    }
    Ok(())
}
