//! Whose request it is: addresses in one spelling, without a port, as networks, and those that proxies
//! forward.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// How keys are made of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyOptions {
    /// Take keys as they stand. Otherwise addresses have one spelling and no port.
    pub raw: bool,
    /// The bits of a network that share a key, for IPv4.
    pub group_v4: Option<u8>,
    /// The bits of a network that share a key, for IPv6.
    pub group_v6: Option<u8>,
    /// How many trusted proxies are in front, of those that add to a list of forwarded addresses.
    pub trusted_hops: usize,
}

/// The longest text that is tried as an address: IPv6 with a port.
const LONGEST: usize = 64;

/// The address in a text, with or without a port; `None` if it is not one.
pub(crate) fn address(text: &[u8]) -> Option<IpAddr> {
    if text.len() > LONGEST || !text.iter().any(|byte| matches!(byte, b'.' | b':')) {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let bare = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let address: IpAddr = text.parse().ok().or_else(bare).or_else(|| {
        let socket: SocketAddr = text.parse().ok()?;
        Some(socket.ip())
    })?;
    Some(address.to_canonical())
}

/// Writes the key that a text means to `key`. Returns whether it did: a text that means itself is left
/// alone.
pub(crate) fn write(text: &[u8], options: &KeyOptions, key: &mut Vec<u8>) -> bool {
    use std::io::Write;
    if options.raw || (options.group_v4.is_none() && !text.contains(&b':')) {
        return false;
    }
    let Some(address) = address(text) else {
        return false;
    };
    // Writing to memory cannot fail.
    let _ = match (address, options.group_v4, options.group_v6) {
        (IpAddr::V4(v4), Some(bits), _) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            write!(key, "{}/{bits}", Ipv4Addr::from_bits(v4.to_bits() & mask))
        }
        (IpAddr::V6(v6), _, Some(bits)) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            write!(key, "{}/{bits}", Ipv6Addr::from_bits(v6.to_bits() & mask))
        }
        (address, ..) => write!(key, "{address}"),
    };
    true
}

/// The address that the outermost of `hops` trusted proxies added to a list; the first if it is
/// shorter; `None` if there is none.
pub(crate) fn forwarded(list: &[u8], hops: usize) -> Option<&[u8]> {
    let mut left = hops.max(1);
    let mut found = None;
    for part in list.rsplit(|byte| *byte == b',') {
        // CloudFront writes a blank so.
        let part = part.strip_prefix(b"%20").unwrap_or(part).trim_ascii();
        if part.is_empty() || part == b"-" {
            continue;
        }
        found = Some(part);
        left -= 1;
        if left == 0 {
            break;
        }
    }
    found
}

/// Adds a part of a key of several fields, so that no two keys are written alike.
pub(crate) fn join(part: &[u8], is_first: bool, key: &mut Vec<u8>) {
    if !is_first {
        key.push(b'|');
    }
    for byte in part {
        if matches!(byte, b'|' | b'\\') {
            key.push(b'\\');
        }
        key.push(*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str, options: &KeyOptions) -> String {
        let mut key = Vec::new();
        match write(text.as_bytes(), options, &mut key) {
            true => String::from_utf8(key).unwrap(),
            false => {
                assert!(key.is_empty());
                text.into()
            }
        }
    }

    #[test]
    fn addresses_have_one_spelling_and_no_port() {
        let options = KeyOptions::default();
        for (text, expected) in [
            ("2001:DB8:0::7", "2001:db8::7"),
            ("2001:0db8:0000::0007", "2001:db8::7"),
            ("[2001:db8::7]:443", "2001:db8::7"),
            ("[2001:db8::7]", "2001:db8::7"),
            ("::ffff:10.0.0.1", "10.0.0.1"),
            ("10.0.0.1:5123", "10.0.0.1"),
            ("10.0.0.1", "10.0.0.1"),
            ("tenant:7", "tenant:7"),
            ("a", "a"),
            ("", ""),
            ("10.0.0.1:99999", "10.0.0.1:99999"),
        ] {
            assert_eq!(key(text, &options), expected);
        }
        let raw = KeyOptions {
            raw: true,
            ..KeyOptions::default()
        };
        assert_eq!(key("10.0.0.1:5123", &raw), "10.0.0.1:5123");
    }

    #[test]
    fn networks_share_a_key() {
        let group = |v4, v6| KeyOptions {
            group_v4: Some(v4),
            group_v6: Some(v6),
            ..KeyOptions::default()
        };
        assert_eq!(key("10.1.2.3", &group(24, 64)), "10.1.2.0/24");
        assert_eq!(key("10.1.2.3:80", &group(0, 0)), "0.0.0.0/0");
        assert_eq!(key("10.1.2.3", &group(32, 128)), "10.1.2.3/32");
        assert_eq!(
            key("2001:db8:1:2:3::4", &group(24, 64)),
            "2001:db8:1:2::/64"
        );
        assert_eq!(key("::1", &group(24, 0)), "::/0");
        assert_eq!(key("::ffff:10.1.2.3", &group(24, 64)), "10.1.2.0/24");
        assert_eq!(key("a.b", &group(24, 64)), "a.b");
    }

    #[test]
    fn the_trusted_hops_choose_among_forwarded_addresses() {
        let of = |list: &'static str, hops| {
            forwarded(list.as_bytes(), hops).map(|part| std::str::from_utf8(part).unwrap())
        };
        assert_eq!(of("1.1.1.1, 2.2.2.2, 3.3.3.3", 1), Some("3.3.3.3"));
        assert_eq!(of("1.1.1.1, 2.2.2.2, 3.3.3.3", 2), Some("2.2.2.2"));
        assert_eq!(of("1.1.1.1,%202.2.2.2", 1), Some("2.2.2.2"));
        assert_eq!(of("1.1.1.1, 2.2.2.2", 9), Some("1.1.1.1"));
        assert_eq!(of("1.1.1.1", 0), Some("1.1.1.1"));
        assert_eq!(of("-", 1), None);
        assert_eq!(of("", 1), None);
    }

    #[test]
    fn no_two_keys_of_several_fields_are_written_alike() {
        let joined = |parts: [&str; 2]| {
            let mut key = Vec::new();
            join(parts[0].as_bytes(), true, &mut key);
            join(parts[1].as_bytes(), false, &mut key);
            String::from_utf8(key).unwrap()
        };
        assert_eq!(joined(["a", "/b"]), "a|/b");
        assert_ne!(joined(["a|", "b"]), joined(["a", "|b"]));
        assert_ne!(joined(["a\\", "b"]), joined(["a", "\\b"]));
    }
}
