//! What a flood of new keys does to memory, and to clients that are over their limit.

use windowpane_lab_ground::figures::{self, digits, percent, thousands, time};
use windowpane_lab_measure::rows::KeyedAttackRow;

use super::super::charts;
use super::super::run::Run;
use super::super::verdict::code;
use super::text::{capital, data, image, items, strings, table, words};

/// Where its rows are.
const FILE: &str = "keyed-attack.csv";

/// A store, told to tidy up or not, under one attack: its rows, in the attack's order.
pub(crate) fn courses(run: &Run) -> Vec<Vec<&KeyedAttackRow>> {
    let mut courses: Vec<Vec<&KeyedAttackRow>> = Vec::new();
    for row in &run.keyed_attack {
        let same = |first: &KeyedAttackRow| {
            (&first.contestant, first.tidied, &first.attack)
                == (&row.contestant, row.tidied, &row.attack)
        };
        match courses.iter_mut().find(|course| same(course[0])) {
            Some(course) => course.push(row),
            None => courses.push(vec![row]),
        }
    }
    courses
}

/// Who it is, in tables and legends.
pub(crate) fn who(row: &KeyedAttackRow) -> String {
    match row.tidied {
        true => format!("{}, tidied", row.contestant),
        false => row.contestant.clone(),
    }
}

pub(super) fn attack(run: &Run) -> String {
    let Some(first) = run.keyed_attack.first() else {
        return String::new();
    };
    let mut text = format!(
        "### Attack\n\n{}. `{}` for each, {} attackers, a cap of {} where a store has one; the flat table has that many entries. \
         Bytes are counted by the allocator before the clients of each row ask. *Fresh*: clients over their limit that were allowed \
         something during the attack, though by the quota none may. *Let in*: attackers allowed in the last half; a store that holds a cap and forgets no live key \
         turns new keys away. *Tidied*: told after each tenth to drop what is idle and to shrink, as its documentation says; the longest such call stands beside. \
         A dash: the store does not tell.\n\n",
        capital(&words(&first.about)),
        first.quota,
        thousands(first.attackers),
        thousands(first.cap),
    );
    if charts::has_attack(run) {
        text += &image("Memory under attack", charts::ATTACK_FILE);
        text += &data(&[FILE]);
    }
    let courses = courses(run);
    let sampled = courses.iter().max_by_key(|course| course.len());
    let sampled: Vec<u64> = sampled.into_iter().flatten().map(|row| row.asked).collect();
    let mut header = strings(["store"]);
    header.extend(
        sampled
            .iter()
            .map(|asked| format!("MiB at {}", thousands(*asked))),
    );
    header.extend(strings([
        "keys",
        "fresh",
        "let in",
        "ns a call",
        "evictions",
        "refusals",
        "examined a call: mean / most",
        "longest tidying",
    ]));
    let mut ended = Vec::new();
    let mut rows = Vec::new();
    for course in &courses {
        let last = course[course.len() - 1];
        if !last.cannot.is_empty() {
            ended.push(format!("{}: {}.", code(&who(last)), words(&last.cannot)));
        }
        // It could not be built.
        if last.asked == 0 {
            continue;
        }
        rows.push(row(course, last, &sampled));
    }
    text += &table(&header, &rows);
    text += &data(&[FILE]);
    if !ended.is_empty() {
        text += &items(ended);
    }
    text
}

fn row(course: &[&KeyedAttackRow], last: &KeyedAttackRow, sampled: &[u64]) -> Vec<String> {
    let mib = |asked: &u64| {
        let mut rows = course.iter();
        let row = rows.find(|row| row.asked == *asked);
        row.map_or("—".into(), |row| figures::mib(row.bytes))
    };
    let count = |count: Option<u64>| count.map_or("—".into(), thousands);
    let before_last = course.iter().rev().nth(1).map_or(0, |row| row.asked);
    let calls = (last.asked - before_last).max(1) as f64;
    let examined = match (last.examined, last.most_examined) {
        (Some(all), Some(most)) => {
            format!("{} / {most}", digits(all as f64 / last.asked as f64))
        }
        _ => "—".into(),
    };
    let slowest = course
        .iter()
        .map(|row| row.slowest_tidy_ns)
        .max()
        .unwrap_or(0);
    let mut cells = vec![code(&who(last))];
    cells.extend(sampled.iter().map(mib));
    cells.extend([
        count(last.keys),
        format!("{} of {}", thousands(last.fresh), thousands(last.clients)),
        percent(last.let_in as f64 / calls),
        digits(last.ns_a_call),
        count(last.evictions),
        count(last.refusals),
        examined,
        match last.tidied {
            true => time(slowest as f64),
            false => "—".into(),
        },
    ]);
    cells
}
