//! How quiet the machine was while a run measured.

use windowpane_lab_ground::machine::Watch;

use super::Environment;

impl Environment {
    /// Fills in what a watch saw during `rounds` rounds.
    pub(crate) fn watched(&mut self, watch: &Watch) {
        let mean = watch.mean();
        self.others_percent = in_percent(mean.others);
        self.steal_percent = in_percent(mean.steal);
        self.rounds_not_quiet = watch.not_quiet().0;
    }

    /// Forgets the rounds of this process: those of its launches count.
    pub(crate) fn before_launches(&mut self) {
        self.rounds = 0;
        self.watched(&Watch::default());
    }

    /// Adds what one of `launches` launches observed.
    pub(crate) fn add_launch(&mut self, launch: &Environment, launches: u32) {
        let part = 1.0 / f64::from(launches.max(1));
        self.launches += 1;
        self.rounds += launch.rounds;
        self.rounds_not_quiet += launch.rounds_not_quiet;
        self.samples += launch.samples;
        self.samples_lost += launch.samples_lost;
        self.samples_disturbed += launch.samples_disturbed;
        self.others_percent += part * launch.others_percent;
        self.steal_percent += part * launch.steal_percent;
        self.pinned &= launch.pinned;
    }

    /// Says whether the machine was quiet, when all launches are over: at most a tenth of the rounds
    /// may not have been, and at most a hundredth of the samples may be disturbed.
    pub(crate) fn say_whether_quiet(&mut self) {
        let loud = 10 * self.rounds_not_quiet > self.rounds;
        let disturbed = 100 * self.samples_disturbed > self.samples;
        self.others_percent = (self.others_percent * 10.0).round() / 10.0;
        self.steal_percent = (self.steal_percent * 10.0).round() / 10.0;
        self.not_quiet = match loud || disturbed {
            false => String::new(),
            true => format!(
                "the machine was not quiet in {} of {} rounds: other processes took {} % of it, the hypervisor {} %; \
                 {} of {} samples are kept though a worker lost its processor",
                self.rounds_not_quiet,
                self.rounds,
                self.others_percent,
                self.steal_percent,
                self.samples_disturbed,
                self.samples
            ),
        };
    }
}

/// A share in percent, to a tenth.
fn in_percent(share: f64) -> f64 {
    (share * 1_000.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loud_machine_is_named_and_a_quiet_one_is_not() {
        let launch = |rounds_not_quiet, samples_disturbed| Environment {
            rounds: 5,
            rounds_not_quiet,
            samples: 500,
            samples_disturbed,
            others_percent: 20.0,
            steal_percent: 0.5,
            ..Environment::default()
        };
        let said = |launches: [Environment; 2]| {
            // The rounds of latency, in this process: they are not those that are named.
            let mut run = launch(5, 0);
            run.samples = 0;
            run.before_launches();
            for launch in &launches {
                run.add_launch(launch, 2);
            }
            run.say_whether_quiet();
            run.not_quiet
        };
        assert_eq!(said([launch(0, 0), launch(1, 10)]), "");
        let loud = said([launch(2, 0), launch(0, 0)]);
        assert!(
            loud.contains("in 2 of 10 rounds") && loud.contains("20 %"),
            "{loud}"
        );
        let disturbed = said([launch(0, 11), launch(0, 0)]);
        assert!(disturbed.contains("11 of 1000 samples"), "{disturbed}");
    }
}
