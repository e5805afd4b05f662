//! The code that builds a limiter: files under `snippets`, compiled and run by the tests.

/// The code that builds a limiter for a quota of 1000/60s.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// Builds it for one key.
    pub one_key: &'static str,
    /// Builds it for 50,000 keys.
    pub many_keys: &'static str,
    /// Builds the flat table with its rule for 50,000 keys; `None` if the table cannot hold it.
    pub flat: Option<&'static str>,
}

/// Reads the code of the files `snippets/$stem.rs` and `snippets/${stem}_keyed.rs`.
macro_rules! code_of {
    ($stem:expr) => {
        $crate::code::Code {
            one_key: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/snippets/",
                $stem,
                ".rs"
            )),
            many_keys: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/snippets/",
                $stem,
                "_keyed.rs"
            )),
            flat: None,
        }
    };
}

/// Compiles and runs that code in tests.
#[cfg(test)]
macro_rules! test_code {
    ($stem:expr) => {
        mod one_key {
            include!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/snippets/",
                $stem,
                ".rs"
            ));

            #[test]
            fn runs() {
                main().unwrap();
            }
        }

        mod many_keys {
            include!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/snippets/",
                $stem,
                "_keyed.rs"
            ));

            #[test]
            fn runs() {
                main().unwrap();
            }
        }
    };
}

/// Declares the constant `CODE` in a module of that name, with the test of the code.
macro_rules! code {
    ($module:ident, $stem:literal) => {
        pub(crate) mod $module {
            pub(crate) const CODE: $crate::code::Code = $crate::code::code_of!($stem);

            #[cfg(test)]
            mod tests {
                $crate::code::test_code!($stem);
            }
        }
    };
}

#[cfg(test)]
pub(crate) use test_code;
pub(crate) use {code, code_of};

#[cfg(test)]
mod tests {
    use crate::table::TABLE;

    #[test]
    fn every_snippet_belongs_to_an_entry() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/snippets");
        let files = std::fs::read_dir(folder).unwrap();
        for file in files.map(|file| file.unwrap().path()) {
            let text = std::fs::read_to_string(&file).unwrap();
            let mut codes = TABLE.entries().filter_map(|entry| entry.code);
            let belongs = codes.any(|code| {
                code.one_key == text || code.many_keys == text || code.flat == Some(&*text)
            });
            assert!(belongs, "{}", file.display());
        }
    }
}
