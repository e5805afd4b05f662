//! A cluster of three nodes.

use std::time::{Duration, Instant};

use super::Server;

const SLOTS: u32 = 16_384;

/// Three masters, each with a third of the slots; `None` where there is no server.
pub fn cluster() -> Option<Vec<Server>> {
    let mut nodes = Vec::new();
    for _ in 0..3 {
        nodes.push(Server::start_cluster_node()?);
    }
    let first = nodes[0].cluster_port();
    for (node, place) in nodes.iter().zip(0_u32..) {
        let mut connection = node.connection();
        let slots = SLOTS * place / 3..SLOTS * (place + 1) / 3;
        let mut add = redis::cmd("CLUSTER");
        add.arg("ADDSLOTS").arg(slots.collect::<Vec<_>>());
        let _: () = add.query(&mut connection).unwrap();
        let mut meet = redis::cmd("CLUSTER");
        meet.arg("MEET")
            .arg("127.0.0.1")
            .arg(nodes[0].port())
            .arg(first);
        let _: () = meet.query(&mut connection).unwrap();
    }
    let start = Instant::now();
    while !nodes.iter().all(knows_all) {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "the nodes do not meet"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    Some(nodes)
}

pub fn knows_all(node: &Server) -> bool {
    let mut connection = node.connection();
    let mut info = redis::cmd("CLUSTER");
    let info: String = info.arg("INFO").query(&mut connection).unwrap();
    info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
}

/// One slot on its way from one node to another, by the steps of `redis-cli --cluster reshard`.
pub struct Move<'n> {
    nodes: &'n [Server],
    from: &'n Server,
    to: &'n Server,
    slot: u32,
}

impl<'n> Move<'n> {
    /// Moves the slot of `key` to another node: from here on that node is asked for keys that the old
    /// one does not have.
    pub fn begin(nodes: &'n [Server], key: &str) -> Move<'n> {
        let slot: u32 = ask(&nodes[0], &["KEYSLOT", key]);
        let owner = (slot * 3 / SLOTS) as usize;
        let (from, to) = (&nodes[owner], &nodes[(owner + 1) % 3]);
        let moving = Move {
            nodes,
            from,
            to,
            slot,
        };
        moving.set_slot(to, "IMPORTING", from);
        moving.set_slot(from, "MIGRATING", to);
        moving
    }

    /// Hands over the keys of the slot. Returns how many there were.
    pub fn hand_over(&self) -> usize {
        let slot = self.slot.to_string();
        let keys: Vec<String> = ask(self.from, &["GETKEYSINSLOT", &slot, "1000"]);
        for key in &keys {
            let mut migrate = redis::cmd("MIGRATE");
            migrate.arg("127.0.0.1").arg(self.to.port()).arg(key);
            migrate.arg(0).arg(5_000);
            let _: String = migrate.query(&mut self.from.connection()).unwrap();
        }
        keys.len()
    }

    /// Makes the new node the owner.
    pub fn end(self) {
        for node in [self.to, self.from].into_iter().chain(self.nodes) {
            self.set_slot(node, "NODE", self.to);
        }
    }

    fn set_slot(&self, at: &Server, state: &str, node: &Server) {
        let id: String = ask(node, &["MYID"]);
        let slot = self.slot.to_string();
        let _: String = ask(at, &["SETSLOT", &slot, state, &id]);
    }
}

fn ask<T: redis::FromRedisValue>(node: &Server, arguments: &[&str]) -> T {
    let mut command = redis::cmd("CLUSTER");
    command.arg(arguments);
    command.query(&mut node.connection()).unwrap()
}
