"""A page that reflect wrote is read in pieces, most of them without a Markdown parser: the same blocks as with one."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given, settings, strategies as st
from strategies import examples, texts

from memctl.markdown.lines import split_lines
from memctl.markdown.page import _blocks, parse_page

INDENTS = ["", "", "", "", " ", "  ", "   ", "    ", "\t", "- ", "  - ", "  - ", "    - ", "> ", "1. ", "- - "]
TEXTS = [
    "", "### A", "# A", "**a** b", "a", "2025-11-27 · b", "a | b", "- | -", ":-|-", "-|-", "```", "~~~", "~~a~~", "<div>",
    "</div>", "<b>", "<!-- x", "x -->", "<!-- x -->", "<pre>", "</pre>", "<?", "<![CDATA[", "<!A", "* * *", "***", "---", "===",
    "[a]: b", "[a](b)", "[[a]]", "1. x", "1)", "#", "`c`", "*i*", "_ _", "\u3000x", "\x00", "\u200b", "O(0.5) @A: b ^o-a", "-", "+",
]  # fmt: skip
MARKERS = [
    "<!-- memctl:begin a sha=00 -->",
    "<!-- memctl:end a -->",
    "<!-- memctl:begin a -->  ",
    "<!-- memctl:end b -->",
]
LINES = st.builds("{}{}".format, st.sampled_from(INDENTS), st.sampled_from(TEXTS)) | st.sampled_from(MARKERS)
MANAGED = """# Opinions

- O(c=0.96) @Ann: A. ^o-rb2jgc08
  - 2020-07-12 · stated 0.96 · [memory/2020-07-12.md#L34](../memory/2020-07-12.md#L34) ^f-rb2jgc08
  - 2020-07-13 · for → 0.97

    a remark
- **tentative** · ok
  - failed: ~~no~~

- **b**: c

<!-- memctl:begin evidence sha=00 -->
### Ann
- a
  over two lines
  - b
    - c
- [d](e)
<!-- memctl:end evidence -->
"""


PLAIN = [
    "text", "Слово", "爱丽丝", "2025-11-27", "12. x", "1)", "7", "@x", "#tag", "# A", "### B ##", "#", "##x",
    "[[W]]: x", "[a]: b", "`c`", "`", "``", "**b** c", "*i*", "* * *", "***", "__b__", "_ _ _", "_", "- a",
    "* b", "+ c", "- - d", "-", "- # e", "- 1. f", "- [[W]]", "- *i*", "- `c`", "-  two", "\\", "&amp;", "{x}",
    "a | b", "- | -", "-|-", ":-|-:", "=", "---", "%%", "$$", "!x", "?x", "\u3000x", "\u00a0", "\ufeff", "\x00",
    "👍", "²", "٣. x", "/x", ";", "^x", '"q"', "'q'", "(p)", ",", ".", "|", "<b>", "> q", "~", "~~~",
]  # fmt: skip
MARGINS = st.sampled_from(["", "", "", " ", "   ", "    ", "\t"])
PLAIN_LINES = st.builds("{}{}{}".format, MARGINS, st.sampled_from(["", *PLAIN]) | texts(2), st.sampled_from(["", " "]))


@given(st.lists(LINES, max_size=9) | st.lists(PLAIN_LINES, max_size=6).map(lambda lines: ["## Retain", *lines]))
@settings(max_examples=examples(2000), deadline=None)
def test_a_page_in_pieces_is_read_as_markdown_it_reads_it(lines: list[str]) -> None:
    _equal("\n".join(lines))


def test_what_reflect_writes_is_read_as_markdown_it_reads_it() -> None:
    lines = split_lines(MANAGED)
    for start in range(len(lines)):
        for end in range(start, len(lines) + 1):
            _equal("\n".join(lines[start:end]))


def _equal(text: str) -> None:
    for everywhere in (False, True):
        read = parse_page(text, everywhere)
        with (
            patch("memctl.markdown.page.plain_blocks", lambda _: None),
            patch("memctl.markdown.page._in_pieces", _blocks),
        ):
            assert read == parse_page(text, everywhere)
