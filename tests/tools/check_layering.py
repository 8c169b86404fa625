#!/usr/bin/env python3
"""Fails when an include in src/ points upward, from a folder to one that stands above it.

    check_layering.py SRC        checks every source under SRC against SRC/layers.txt
    check_layering.py --self-test

layers.txt names the folders, lowest first. An include "folder/..." must name the file's own folder
or one that stands before it. Headers of others are written <...>.
"""

import re
import sys
import tempfile
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
GENERATED = {"families.inc", "runtime_bitcode.h"}


def problems(src: Path) -> list[str]:
    lines = (src / "layers.txt").read_text().splitlines()
    layers = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    rank = {folder: k for k, folder in enumerate(layers)}
    found = []
    for folder in sorted(path.name for path in src.iterdir() if path.is_dir()):
        if folder not in rank:
            found.append(f"src/{folder}: not in layers.txt")
    for path in sorted(src.rglob("*")):
        if path.suffix not in {".h", ".c", ".cpp", ".inc"}:
            continue
        folder = path.relative_to(src).parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or folder not in rank or match[1] in GENERATED:
                continue
            target = match[1].split("/")[0]
            where = f"src/{path.relative_to(src)}:{number}: \"{match[1]}\""
            if "/" not in match[1] or target not in rank:
                found.append(f"{where} does not start with a folder of layers.txt")
            elif rank[target] > rank[folder]:
                found.append(f"{where} points upward, from {folder}/ to {target}/")
    return found


def self_test() -> list[str]:
    """The check itself must fire on an upward include, and must not on a downward one."""
    with tempfile.TemporaryDirectory() as name:
        src = Path(name)
        (src / "layers.txt").write_text("# comment\nlow\nhigh\n")
        for folder in ("low", "high"):
            (src / folder).mkdir()
        (src / "high/a.cpp").write_text('#include "low/b.h"\n#include "high/a.h"\n#include <x.h>\n')
        (src / "low/b.h").write_text("#pragma once\n")
        wrong = []
        if problems(src):
            wrong.append(f"fires on a clean tree: {problems(src)}")
        (src / "low/b.h").write_text('#include "high/a.h"\n')
        if len(problems(src)) != 1 or "points upward" not in problems(src)[0]:
            wrong.append("misses an upward include")
        (src / "low/b.h").write_text('#include "b2.h"\n')
        if len(problems(src)) != 1:
            wrong.append("misses an include without a folder")
        (src / "low/b.h").write_text("")
        (src / "stray").mkdir()
        if len(problems(src)) != 1:
            wrong.append("misses a folder without a layer")
        return wrong


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = self_test() if sys.argv[1] == "--self-test" else problems(Path(sys.argv[1]))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
