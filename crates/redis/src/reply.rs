//! Parses the answers of scripts.

use redis::Value;
use smallvec::SmallVec;
use windowpane_core::{Answer, Decision, Denial, Detailed, Nanos, PerQuota, Quotas};

/// Converts a script's microseconds into nanoseconds; `None` for its −1.
fn nanos(micros: i64) -> Option<Nanos> {
    u64::try_from(micros).ok()?.checked_mul(1_000)
}

/// A number as scripts pack it: a double that holds a whole one exactly.
fn whole(packed: &[u8; 8]) -> Option<i64> {
    let number = f64::from_le_bytes(*packed);
    let whole = number as i64;
    (whole as f64 == number && whole.unsigned_abs() <= 1 << 53).then_some(whole)
}

/// The answer of a deciding script, as the head of `log.lua` says; `None` if it is malformed.
pub(crate) fn answer(reply: &Value, quotas: &Quotas) -> Option<Answer> {
    let Value::BulkString(packed) = reply else {
        return None;
    };
    let (fields, []) = packed.as_chunks::<8>() else {
        return None;
    };
    let numbers: SmallVec<[i64; 8]> = fields.iter().map(whole).collect::<Option<_>>()?;
    let [wait, at, quota, more, left @ ..] = &numbers[..] else {
        return None;
    };
    let decision = match wait {
        0 => Decision::Allowed { at: nanos(*at)? },
        _ => {
            let quota = usize::try_from(*quota).ok().filter(|q| *q < quotas.len())?;
            Decision::Denied(Denial::new(quota, nanos(*wait)))
        }
    };
    let left: PerQuota = left
        .iter()
        .map(|left| u64::try_from(*left).ok())
        .collect::<Option<_>>()?;
    if left.len() != quotas.len() {
        return None;
    }
    Some(
        Answer::new(Detailed::new(decision, quotas, left), quotas.clone())
            .with_more_after(nanos(*more)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(numbers: impl Iterator<Item = f64>) -> Value {
        Value::BulkString(numbers.flat_map(f64::to_le_bytes).collect())
    }

    fn read(numbers: &[i64]) -> Option<Answer> {
        let quotas = Quotas::parse(["5/1s", "9/2s"]).unwrap();
        answer(&packed(numbers.iter().map(|n| *n as f64)), &quotas)
    }

    #[test]
    fn microseconds_become_nanoseconds() {
        let allowed = read(&[0, 1_700_000_000_000_001, 0, 250, 4, 8]).unwrap();
        let at = 1_700_000_000_000_001_000;
        assert_eq!(allowed.detailed.decision(), Decision::Allowed { at });
        assert_eq!(allowed.more_after, Some(250_000));
        assert_eq!(allowed.detailed.remaining_per_quota(), [4, 8]);
        assert_eq!(allowed.detailed.remaining(), 4);

        let denied = read(&[30, 7, 1, -1, 4, 0]).unwrap();
        let expected = Denial::new(1, Some(30_000));
        assert_eq!(denied.detailed.decision(), Decision::Denied(expected));
        assert_eq!(denied.more_after, None);

        let never = read(&[-1, 7, 0, -1, 0, 0]).unwrap();
        let never = never.detailed.decision().denied().unwrap();
        assert_eq!(never.retry_after(), None);
    }

    #[test]
    fn a_malformed_answer_is_none() {
        assert_eq!(read(&[0, 7, 0, -1, 4]), None, "a quota is missing");
        assert_eq!(read(&[0, 7, 0, -1, 4, 5, 6]), None, "one too many");
        assert_eq!(read(&[1, 7, 2, -1, 4, 5]), None, "there is no third quota");
        assert_eq!(read(&[0, 7, 0, -1, -4, 5]), None);
        assert_eq!(read(&[0, -7, 0, -1, 4, 5]), None);
        assert_eq!(read(&[]), None);
        let quotas = Quotas::parse(["5/1s"]).unwrap();
        assert_eq!(answer(&Value::Nil, &quotas), None);
        let array = Value::Array(vec![Value::Int(0); 5]);
        assert_eq!(answer(&array, &quotas), None);
        for odd in [0.5, f64::NAN, f64::INFINITY, 1e17] {
            let reply = packed([0.0, 7.0, 0.0, -1.0, odd].into_iter());
            assert_eq!(answer(&reply, &quotas), None, "{odd}");
        }
        let Value::BulkString(mut cut) = packed([0.0, 7.0, 0.0, -1.0, 4.0].into_iter()) else {
            panic!("packed");
        };
        assert!(answer(&Value::BulkString(cut.clone()), &quotas).is_some());
        cut.pop();
        assert_eq!(answer(&Value::BulkString(cut), &quotas), None);
    }
}
