//! How figures are written.

/// Decisions a second in millions, three digits: `38.2`, `9.41`, `0.072`.
pub fn millions(per_second: f64) -> String {
    digits(per_second / 1e6)
}

/// Nanoseconds with a unit, three digits: `26.4 ns`, `1.25 µs`, `3.10 ms`.
pub fn time(nanos: f64) -> String {
    let (value, unit) = match nanos {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "µs"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// Bytes with thousands set apart: `8,264 B`.
pub fn bytes(bytes: u64) -> String {
    format!("{} B", thousands(bytes))
}

/// Bytes in MiB, three digits, without the unit: `0.382`.
pub fn mib(bytes: u64) -> String {
    digits(bytes as f64 / f64::from(1 << 20))
}

/// A whole number with thousands set apart.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share in percent, exact where it is none: `0 %`, `0.0031 %`, `12.4 %`.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0 %".into(),
        p if p < 0.1 => format!("{p:.4} %"),
        p => format!("{} %", digits(p)),
    }
}

/// `1.29 ×`.
pub fn times(ratio: f64) -> String {
    format!("{ratio:.2} ×")
}

/// Three significant digits.
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 => format!("{value:.2}"),
        0.0 => "0".into(),
        _ => format!("{value:.3}"),
    }
}

/// A place on an axis: as few digits as it has.
pub fn tick(value: f64) -> String {
    // Six decimals, so that 0.1 + 0.2 is told as 0.3.
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Names in a sentence: `a`, `a and b`, `a, b and c`.
pub fn list(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits_and_their_unit() {
        assert_eq!(millions(38_240_000.0), "38.2");
        assert_eq!(time(26.44), "26.4 ns");
        assert_eq!(time(1_250.0), "1.25 µs");
        assert_eq!(time(3_096_000.0), "3.10 ms");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(100), "100");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.000_031), "0.0031 %");
        assert_eq!(percent(0.123_9), "12.4 %");
        assert_eq!((tick(20.0), tick(0.1 + 0.2)), ("20".into(), "0.3".into()));
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
