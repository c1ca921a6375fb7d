"""`python bench/mutants.py COUNT SEED`: a random sample of the mutants of `make mutants`, as many of each module as it has of all.

All 7,700 take a day; 150 tell the share that tests notice to within six in a hundred. Needs mutmut.
"""

from __future__ import annotations

import random
import sys
import tomllib
from pathlib import Path

from mutmut.mutation.file_mutation import mutate_file_contents

ROOT = Path(__file__).parents[1]


def names_of(path: Path) -> list[str]:
    """The mutants of a module, as mutmut names them."""
    module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    return [f"{module}.{name}" for name in mutate_file_contents(str(path), path.read_text("utf-8")).mutant_names]


def sampled(modules: list[list[str]], count: int, seed: int) -> list[str]:
    """So many of all, each module's part rounded down, and one more for those with the largest rest."""
    total, chance = sum(map(len, modules)), random.Random(seed)
    parts = [divmod(len(names) * count, total) for names in modules]
    most = sorted(range(len(parts)), key=lambda at: -parts[at][1])[: count - sum(part for part, _ in parts)]
    return [name for at, names in enumerate(modules) for name in chance.sample(names, parts[at][0] + (at in most))]


def main() -> None:
    """Print the names, one a line."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mutmut"]
    paths = [path for pattern in settings["only_mutate"] for path in sorted(ROOT.glob(pattern))]
    modules = [names for names in map(names_of, paths) if names]
    print("\n".join(sampled(modules, int(sys.argv[1]), int(sys.argv[2]))))


if __name__ == "__main__":
    main()
