#!/usr/bin/env python3
"""Makes the committed inputs of the fuzz targets: fuzz/corpus/import and fuzz/corpus/text.

    tools/python tools/make_fuzz_corpus.py

Small models that cover many operators, attributes and subgraphs, and models that are broken in one
way each. Inputs that the fuzzer found are named found_*; the script leaves them alone.
"""

import struct
import sys
from pathlib import Path

from fuzz_corpus import broken, texts, valid

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "fuzz/corpus"


def write(folder: Path, cases: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if not old.name.startswith("found_"):
            old.unlink()
    names = {name: "".join(c if c.isalnum() or c in "_-" else "_" for c in name) for name in cases}
    assert len(set(names.values())) == len(names), "two cases with one name"
    for name, data in cases.items():
        assert len(data) < 4096, f"{name}: {len(data)} bytes"
        (folder / names[name]).write_bytes(data)
    sizes = [file.stat().st_size for file in folder.iterdir()]
    print(f"{folder.relative_to(ROOT)}: {len(sizes)} files, {sum(sizes)} bytes")


def main() -> int:
    data = ROOT / "fuzz/data"
    data.mkdir(exist_ok=True)
    (data / "data.bin").write_bytes(struct.pack("<16f", *range(16)))
    link = data / "link.bin"
    if not link.is_symlink():
        link.symlink_to("../import.cpp")  # out of the folder: must not be followed
    cases = valid.models() | broken.models()
    inputs = {
        name: case if isinstance(case, bytes) else case.SerializeToString(deterministic=True)
        for name, case in cases.items()
    }
    write(CORPUS / "import", inputs)
    write(CORPUS / "text", {name: text.encode() for name, text in texts.TEXTS.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
