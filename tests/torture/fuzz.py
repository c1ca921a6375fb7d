"""Coverage-guided fuzzing (atheris) of what reads the words of strangers: `make fuzz SECONDS=600`.

Each target holds more than "no exception": what is read is rendered and read again, spans lie in the text. What is found
becomes a numbered case of the tests of its module.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path

TODAY = date(2025, 11, 30)
SEEDS = Path(__file__).parents[2] / "fixtures"


def grammar(text: str) -> None:
    """A fact that was read is rendered and read as the same."""
    from memctl.facts import Fact
    from memctl.markdown.grammar import parse, render

    fact = parse(text)
    assert not isinstance(fact, Fact) or parse(render(fact)) == fact


def page(text: str) -> None:
    """Entries lie within the page, in order; blank private lines leave the count of lines."""
    from memctl.markdown.page import parse_page
    from memctl.markdown.private import private_lines_of_text

    read = parse_page(text)
    assert all(1 <= entry.span.line <= entry.span.end_line <= len(read.lines) for entry in read.entries)
    assert all(1 <= number <= len(read.lines) for number in private_lines_of_text(text))


def dates(text: str) -> None:
    """Mentions lie within the text, without overlaps."""
    from memctl.language.dates import find_times, parse_when, valid_from_text

    end = 0
    for mention in find_times(text, TODAY):
        assert end <= mention.start < mention.end <= len(text)
        end = mention.end
    parse_when(text, TODAY)
    valid_from_text(text, TODAY)


def brackets(text: str) -> None:
    """A reply without its commands has none."""
    from memctl.agents.brackets import read_reply

    read_reply(text)


def front_matter(text: str) -> None:
    """A name that was added is read again, or the page cannot be read."""
    from memctl.markdown.front_matter import front_values, with_names

    with suppress(ValueError):
        front_values(text)
        assert "Zoë" in str(front_values(with_names(text, add=["Zoë"])))


def question(text: str) -> None:
    """Any words are a query, or a usage error."""
    from memctl.errors import MemctlError
    from memctl.recall.query import read_query

    with suppress(MemctlError):
        read_query(text, TODAY)


def transcript(text: str) -> None:
    """Any file is turns, or a refusal."""
    from memctl.errors import MemctlError
    from memctl.ingest.formats import read_transcript
    from memctl.ingest.turns import Notes

    with suppress(MemctlError):
        list(read_transcript([text.encode("utf-8")], Notes()))


TARGETS: dict[str, Callable[[str], None]] = {
    each.__name__: each for each in (grammar, page, dates, brackets, front_matter, question, transcript)
}


def seeds(name: str) -> Iterator[bytes]:
    """What to begin with: pages and transcripts as they are, or their lines."""
    files = [*SEEDS.rglob("*.md"), *(Path(__file__).parents[1] / "data" / "transcripts").glob("*")]
    for file in filter(Path.is_file, files):
        data = file.read_bytes()[:4000]
        yield from [data] if name in ("page", "front_matter", "transcript") else data.splitlines()[:12]


def main(name: str, *options: str) -> None:
    import atheris

    with atheris.instrument_imports(include=["memctl"]):  # of what a target loads when it is first needed, too
        for seed in seeds(name):
            TARGETS[name](seed.decode("utf-8", "replace"))

    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds(name)):
            Path(corpus, str(number)).write_bytes(seed)
        atheris.Setup(
            [sys.argv[0], *options, "-max_len=4000", corpus],
            lambda data: TARGETS[name](data.decode("utf-8", "replace")),
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
