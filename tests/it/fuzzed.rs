//! The fuzz targets of `fuzz/`, each tried on its seeds and on some thousand changes of them.

#[expect(unreachable_pub, reason = "`fuzz/` has them in a library")]
mod targets;

use std::path::Path;

use targets::{ALL, Target};

/// How often each seed is changed.
const CHANGES: u64 = 60;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// A seed with some bytes changed, left out, said twice, or with words of another place.
fn changed(seed: &[u8], number: u64) -> Vec<u8> {
    const WORDS: [&[u8]; 10] =
        [b"-1", b"0", b"99999999999999999999", b"1e308", b"nan", b"\"", b"\n", b"[", b"}", b"\xff"];
    let (mut bytes, mut dice) = (seed.to_vec(), Dice(number));
    for _ in 0..=dice.below(4) {
        let from = dice.below(bytes.len());
        let to = from + dice.below((bytes.len() - from).min(40));
        let part = bytes[from..to].to_vec();
        match dice.below(5) {
            0 if from < bytes.len() => bytes[from] ^= 1 << dice.below(8),
            1 => drop(bytes.drain(from..to)),
            2 => drop(bytes.splice(from..from, part)),
            3 => bytes.truncate(from.max(bytes.len() / 2)),
            _ => drop(bytes.splice(from..to, WORDS[dice.below(WORDS.len())].iter().copied())),
        }
    }
    bytes
}

fn try_all(name: &str, target: Target) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name);
    let seeds = std::fs::read_dir(&folder).expect("each target has seeds").map(|entry| entry.unwrap().path());
    let mut seeds: Vec<_> = seeds.collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{name}");
    for path in seeds {
        let seed = std::fs::read(&path).unwrap();
        target(&seed);
        for number in 0..CHANGES {
            let bytes = changed(&seed, number);
            let tried = std::panic::catch_unwind(|| target(&bytes));
            assert!(tried.is_ok(), "{name}, {}, change {number}: {:?}", path.display(), bytes.escape_ascii());
        }
    }
}

#[test]
fn no_bytes_break_a_reader() {
    for (name, target) in ALL.into_iter().filter(|(name, _)| *name != "scenario") {
        try_all(name, target);
    }
}

#[test]
fn no_text_breaks_the_reader_of_scenarios() {
    try_all("scenario", targets::scenario);
}

/// `fuzz/` has a program for each of them, and no other.
#[test]
fn each_target_has_its_program() {
    let manifest = std::fs::read_to_string("fuzz/Cargo.toml").unwrap();
    for (name, _) in ALL {
        let program = format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"");
        assert!(manifest.contains(&program), "{name}");
        let text = std::fs::read_to_string(format!("fuzz/fuzz_targets/{name}.rs")).unwrap();
        assert!(text.contains(&format!("targets::{name}(bytes)")), "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), ALL.len());
}
