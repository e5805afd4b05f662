//! What the tests of all limiters are made with.

/// A model that a shipped limiter must hold under.
#[macro_export]
macro_rules! ships {
    ($subject:ident $group:ident::$model:ident) => {
        #[test]
        fn $model() {
            let script = $crate::scripts::$group::$model();
            $crate::holds(stringify!($model), script, $crate::$subject());
        }
    };
}

/// A mutant that a model must find out.
#[macro_export]
macro_rules! found {
    ($subject:ident $of:ident $mutant:ident $group:ident::$model:ident, $build:expr) => {
        #[test]
        fn $model() {
            let script = $crate::scripts::$group::$model();
            let name = concat!(stringify!($of), "::", stringify!($mutant));
            $crate::finds(
                stringify!($model),
                script,
                $crate::$subject().mutant(name, $build),
            );
        }
    };
}
