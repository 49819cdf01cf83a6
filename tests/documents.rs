//! What the documents name exists: the tests behind the guarantees, and the files that are linked to.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All files below `dir` with this `extension`, but for what git does not know.
fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            files.extend(self::files(&path, extension));
        } else if path.extension().is_some_and(|is| is == extension) {
            files.push(path);
        }
    }
    files
}

/// The tests that there are, as the documents name them: by file (of a `main.rs`, by folder) and function.
fn tests(root: &Path) -> HashSet<String> {
    let mut tests = HashSet::new();
    for path in files(root, "rs") {
        let stem = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
        let file = match stem(&path) {
            main if main == "main" => stem(path.parent().expect("a folder")),
            file => file,
        };
        let mut is_test = false;
        for line in fs::read_to_string(&path).expect("text").lines().map(str::trim) {
            if line.starts_with("#[") {
                is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
            } else if let Some((_, function)) = line.split_once("fn ")
                && std::mem::take(&mut is_test)
            {
                let function = function.split(['(', '<']).next().expect("a name");
                tests.insert(format!("{file}::{function}"));
            }
        }
    }
    tests
}

#[test]
fn each_test_that_a_guarantee_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = tests(root);
    let text = fs::read_to_string(root.join("docs/guarantees.md")).expect("the guarantees");
    let is_name = |word: &&str| {
        word.split_once("::").is_some_and(|(file, test)| {
            let plain = |part: &str| part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            plain(file) && plain(test) && test.contains('_')
        })
    };
    let named: Vec<&str> = text.split('`').filter(is_name).collect();
    assert!(named.len() > 200, "{}", named.len());
    let missing: Vec<&&str> = named.iter().filter(|name| !tests.contains(**name)).collect();
    assert!(missing.is_empty(), "no such test: {missing:#?}");
}

#[test]
fn each_file_that_is_linked_to_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut dead = Vec::new();
    for path in files(root, "md") {
        let text = fs::read_to_string(&path).expect("text");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            let is_of_here = !file.is_empty() && !link.contains("://") && !file.contains("::") && file.contains('.');
            if is_of_here && !path.parent().expect("a folder").join(file).exists() {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}
