//! Files in a sentence: paths, and names with an ending that files have. Versions, numbers and abbreviations are none.

/// Endings that make a name a file.
const ENDINGS: &str = " adoc ads asm astro avif bash bat bib bin bmp c cc cfg cjs clj cljs cmake cmd coffee conf cpp cs csproj css csv cts cu \
    cxx dart db diff dockerfile docx ejs el elm env erl ex exs fish fs fsx gemspec gif go gql gradle graphql groovy gz h hbs hcl heex hpp hs htm html \
    hxx ico ini ipynb java jl jpeg jpg js json json5 jsonc jsonl jsx kt kts less lock log lua m md mdc mdx mjs mk ml mli mm mod mts nim nix \
    npmrc odt org parquet patch pdf php pl plist png po pom ps1 properties proto py pyi pyx r rake rb rkt rs rst sass sbt scala scm scss \
    sh sln sol sql sqlite srt sum sv svelte svg swift tar tcl tex tf tfvars toml ts tsv tsx txt v vb vhd vim vtt vue wasm wat webp xls \
    xlsx xml xsd xsl yaml yml zig zip zsh ";

/// Names without an ending that are files everywhere.
const NAMES: &str = " Dockerfile Makefile Rakefile Gemfile Procfile Vagrantfile Jenkinsfile Justfile Brewfile CODEOWNERS ";

/// Folders that open a path even where nothing else says so.
const FOLDERS: &str = " src lib libs test tests spec docs app apps packages crates bin cmd pkg internal scripts examples include node_modules dist build ";

/// The files that a text names, in their order; some may come twice. Takes time linear in the text.
pub fn files_in(text: &str) -> impl Iterator<Item = String> {
    let ends = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || "`'\"()<>,;|*[]{}=".contains(c)
            || !c.is_ascii() && !c.is_alphanumeric()
    };
    text.split(ends).filter_map(file)
}

/// The path as the project knows it: relative to its root if it stands in it, with `/`, without `./`.
pub fn relative(path: &str, root: Option<&str>) -> String {
    let path = path.replace('\\', "/");
    let root = root.map(|root| root.replace('\\', "/"));
    let inside = root.as_deref().and_then(|root| {
        let rest = path.strip_prefix(root.trim_end_matches('/'))?;
        rest.strip_prefix('/').filter(|_| !root.trim_end_matches('/').is_empty())
    });
    inside.unwrap_or(&path).trim_start_matches("./").to_owned()
}

/// Whether a name without a folder is a file's.
pub(super) fn is_file_name(name: &str) -> bool {
    if NAMES.contains(&format!(" {name} ")) {
        return true;
    }
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let named = stem.is_empty() || stem.chars().any(|c| c.is_alphabetic() || c == '_');
    let known =
        !ending.is_empty() && ENDINGS.contains(&format!(" {} ", ending.to_ascii_lowercase()));
    let one = ending.len() == 1 && stem.len() == 1;
    named && known && !one && stem.chars().all(|c| c.is_alphanumeric() || "._-+@~$#%".contains(c))
}

/// The file that a word names, without what punctuation and line numbers stand around it.
fn file(word: &str) -> Option<String> {
    if word.contains("://") || word.len() > 1_024 {
        return None;
    }
    let word = without_line(word.trim_end_matches(['.', ':', '!', '?', '…']));
    // Prompts mention a file as "@src/a.ts". "@/a.ts" and "@scope/name" are names of imports.
    let mentioned = word.strip_prefix('@');
    let word = mentioned.filter(|it| !it.starts_with('/') && it.contains('.')).unwrap_or(word);
    let (drive, path) = match word.as_bytes() {
        [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => word.split_at(2),
        _ => ("", word),
    };
    if path.contains(':') || path.contains('@') && !path.contains('/') {
        return None;
    }
    let slashed = path.contains('/') || path.contains('\\');
    if !slashed {
        return is_file_name(path).then(|| path.to_owned());
    }
    let mut parts = path.split(['/', '\\']).filter(|part| !part.is_empty());
    let (first, last) = (parts.clone().next()?, parts.next_back()?);
    if !path.chars().any(char::is_alphabetic) || path.ends_with(['/', '\\']) {
        return None;
    }
    let rooted = !drive.is_empty() || path.starts_with(['/', '\\', '.', '~']);
    let deep = path.matches(['/', '\\']).count() > 1;
    let ending = last.rsplit_once('.').is_some_and(|(stem, ending)| {
        (1..=8).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
            && (!stem.is_empty() || rooted || deep || is_file_name(last))
    });
    let is_path = ending
        || NAMES.contains(&format!(" {last} "))
        || rooted && deep
        || FOLDERS.contains(&format!(" {first} "));
    is_path.then(|| format!("{drive}{path}"))
}

/// Without `:12`, `:12:5` or `#L12` after it.
fn without_line(word: &str) -> &str {
    let mut word = word.split_once("#L").map_or(word, |(path, _)| path);
    while let Some((path, line)) = word.rsplit_once(':') {
        if line.is_empty() || !line.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            break;
        }
        word = path;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(files_in(text).collect::<Vec<_>>(), expected, "{text}");
    }

    /// A55: a path, or a name with an ending.
    /// Row A55.
    #[test]
    fn paths_and_file_names_are_found_in_a_sentence() {
        check("open src/main.rs and lib/a/b.test.ts", &["src/main.rs", "lib/a/b.test.ts"]);
        check("see App.java, (README.md) and `x.py`.", &["App.java", "README.md", "x.py"]);
        check(
            "error at src/a.ts:12:5, b.rs:7 and docs/x.md#L4",
            &["src/a.ts", "b.rs", "docs/x.md"],
        );
        check(
            "the Makefile in ./scripts/run and .env or config/.env",
            &["Makefile", "./scripts/run", ".env", "config/.env"],
        );
        check("src/parser is a folder; tests/data too", &["src/parser", "tests/data"]);
        check("修改 src/编辑器/主.ts 文件", &["src/编辑器/主.ts"]);
        check("fix @src/a.ts:7 like @README.md", &["src/a.ts", "README.md"]);
        check("of @scope/name and @app/name, not @/a.ts", &["@/a.ts"]);
    }

    /// A56: versions, numbers and abbreviations were taken for files, and absolute and backslash paths were not seen.
    /// Row A56.
    #[test]
    fn versions_and_numbers_are_no_paths_and_absolute_paths_are() {
        check("v1.2 or 3.5, e.g. 1.2.3 i.e. 10/11, 2024/01/02 and/or yes/no", &[]);
        check("node 20.11 vs. 1.0.0-rc.1, $3.50, etc. a.b", &[]);
        check("see https://example.com/a.ts and me@example.org", &[]);
        check(
            "/home/me/x.ts and C:\\work\\app\\main.cs",
            &["/home/me/x.ts", "C:\\work\\app\\main.cs"],
        );
        check("..\\up\\one.h", &["..\\up\\one.h"]);
    }

    /// Row A56.
    #[test]
    fn a_path_is_relative_to_the_projects_root() {
        for (path, root, expected) in [
            ("/p/app/src/a.ts", Some("/p/app"), "src/a.ts"),
            ("/p/app/src/a.ts", Some("/p/app/"), "src/a.ts"),
            ("/p/apples/a.ts", Some("/p/app"), "/p/apples/a.ts"),
            ("C:\\p\\app\\src\\a.ts", Some("C:\\p\\app"), "src/a.ts"),
            ("./src/a.ts", None, "src/a.ts"),
            ("src\\a.ts", Some("/"), "src/a.ts"),
        ] {
            assert_eq!(relative(path, root), expected);
        }
    }
}
