"""Packages of packages.toml, fetched by their registries' own clients, each checked against its hash, once."""

import hashlib
import json
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build/fit"
CACHE = BUILD / "cache"
CRATES = BUILD / "crates"


def packages():
    """The list, each with the texts to take of it."""
    found = tomllib.loads((HERE / "packages.toml").read_text())["package"]
    return [{"take": [], **it} for it in found]


def run(words, folder):
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")


def fetch(package):
    """Where the archive is; for a crate, the folder of its files."""
    name, version, wanted = package["name"], package["version"], package["sha256"]
    if package["registry"] == "crates":
        return crate(name, wanted)
    folder = CACHE / name.replace("/", "-")
    archive = only_file(folder)
    if not archive:
        print(f"  fetching {name} {version}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        if package["registry"] == "npm":
            run(["npm", "pack", "--silent", "--pack-destination", str(folder), f"{name}@{version}"], folder)
        else:
            run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *form(package), f"{name}=={version}"], folder)
        archive = only_file(folder)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != wanted:
        archive.unlink()
        sys.exit(f"{name} {version}: the list has the hash {wanted}, the file {found}; it is removed")
    return archive


def form(package):
    """Options of pip; a wheel is the same one on every machine."""
    if package["form"] == "sdist":
        # Of this one alone: what it is built with need not be built, too.
        return ["--no-binary", package["name"]]
    machine = ["--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_27_x86_64"]
    return ["--only-binary", ":all:", *machine, "--python-version", "3.11"]


def only_file(folder):
    files = sorted(folder.glob("*.*")) if folder.is_dir() else []
    return files[0] if files else None


def crate(name, wanted):
    """The crates of the list are the dependencies of an empty one: cargo fetches and checks them at once."""
    folder = CRATES / "vendored" / name
    if not folder.is_dir():
        print("  fetching crates", flush=True)
        CRATES.mkdir(parents=True, exist_ok=True)
        lines = ["[package]", 'name = "texts"', 'version = "0.0.0"', 'edition = "2024"', "[lib]", 'path = "lib.rs"', "[workspace]", "[dependencies]"]
        lines += [f'{it["name"]} = "={it["version"].partition("+")[0]}"' for it in packages() if it["registry"] == "crates"]
        (CRATES / "Cargo.toml").write_text("\n".join(lines) + "\n")
        (CRATES / "lib.rs").write_text("")
        run(["cargo", "vendor", "vendored"], CRATES)
    found = json.loads((folder / ".cargo-checksum.json").read_text())["package"]
    if found != wanted:
        sys.exit(f"{name}: the list has the hash {wanted}, the crate {found}; remove {CRATES} and try again")
    return folder
