//! Macros for types with a text form.

/// Declares an enum whose variants have a word each, in tables and files.
macro_rules! words {
    (
        $(#[$about:meta])* $vis:vis enum $name:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        $vis enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// All of them, in the order of declaration.
            $vis const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word in tables and files.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

/// Lets serde save types by their text form, for `#[serde(try_from = "String", into = "String")]`.
macro_rules! saved_as_text {
    ($($of:ty),+) => {$(
        impl TryFrom<String> for $of {
            type Error = <$of as std::str::FromStr>::Err;
            fn try_from(written: String) -> Result<Self, Self::Error> {
                written.parse()
            }
        }

        impl From<$of> for String {
            fn from(value: $of) -> Self {
                value.to_string()
            }
        }
    )+};
}

pub(crate) use {saved_as_text, words};
