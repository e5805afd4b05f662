//! What a script answers, read.

use redis::Value;
use windowpane_core::{Answer, Decision, Denied, Detailed, Nanos, PerQuota, Quotas};

/// Nanoseconds of what a script tells in microseconds; `None` for its −1.
fn nanos(micros: i64) -> Option<Nanos> {
    u64::try_from(micros).ok()?.checked_mul(1_000)
}

/// The answer of a deciding script: see the head of `log.lua`. `None` if it is none.
pub(crate) fn answer(reply: &Value, quotas: &Quotas) -> Option<Answer> {
    let Value::Array(fields) = reply else {
        return None;
    };
    let number = |field: &Value| match field {
        Value::Int(number) => Some(*number),
        _ => None,
    };
    let numbers: smallvec::SmallVec<[i64; 8]> = fields.iter().map(number).collect::<Option<_>>()?;
    let [wait, at, quota, more, left @ ..] = &numbers[..] else {
        return None;
    };
    let decision = match wait {
        0 => Decision::Allowed { at: nanos(*at)? },
        _ => {
            let quota = usize::try_from(*quota).ok().filter(|q| *q < quotas.len())?;
            Decision::Denied(Denied::new(quota, nanos(*wait)))
        }
    };
    let left: PerQuota = left
        .iter()
        .map(|left| u64::try_from(*left).ok())
        .collect::<Option<_>>()?;
    if left.len() != quotas.len() {
        return None;
    }
    Some(Answer {
        detailed: Detailed::new(decision, quotas, left),
        more_after: nanos(*more),
        quotas: quotas.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(numbers: &[i64]) -> Option<Answer> {
        let quotas = Quotas::parse(["5/1s", "9/2s"]).unwrap();
        let reply = Value::Array(numbers.iter().map(|n| Value::Int(*n)).collect());
        answer(&reply, &quotas)
    }

    #[test]
    fn microseconds_are_told_as_nanoseconds() {
        let allowed = read(&[0, 1_700_000_000_000_001, 0, 250, 4, 8]).unwrap();
        let at = 1_700_000_000_000_001_000;
        assert_eq!(allowed.detailed.decision(), Decision::Allowed { at });
        assert_eq!(allowed.more_after, Some(250_000));
        assert_eq!(allowed.detailed.remaining_per_quota(), [4, 8]);
        assert_eq!(allowed.detailed.remaining(), 4);

        let denied = read(&[30, 7, 1, -1, 4, 0]).unwrap();
        let expected = Denied::new(1, Some(30_000));
        assert_eq!(denied.detailed.decision(), Decision::Denied(expected));
        assert_eq!(denied.more_after, None);

        let never = read(&[-1, 7, 0, -1, 0, 0]).unwrap();
        let never = never.detailed.decision().denied().unwrap();
        assert_eq!(never.retry_after(), None);
    }

    #[test]
    fn what_is_no_answer_is_none() {
        assert_eq!(read(&[0, 7, 0, -1, 4]), None, "a quota is missing");
        assert_eq!(read(&[0, 7, 0, -1, 4, 5, 6]), None, "one too many");
        assert_eq!(read(&[1, 7, 2, -1, 4, 5]), None, "there is no third quota");
        assert_eq!(read(&[0, 7, 0, -1, -4, 5]), None);
        assert_eq!(read(&[0, -7, 0, -1, 4, 5]), None);
        assert_eq!(read(&[]), None);
        let quotas = Quotas::parse(["5/1s"]).unwrap();
        assert_eq!(answer(&Value::Nil, &quotas), None);
        let text = Value::Array(vec![Value::Okay; 6]);
        assert_eq!(answer(&text, &quotas), None);
    }
}
