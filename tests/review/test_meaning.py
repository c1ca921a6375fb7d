"""What the words of a belief and a fact do not share: where there are vectors, review asks of what is near in meaning."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from face_helpers import memory_on, write_pages
from hash_embedder import HashEmbedder, hashed, use

from memctl.review.question import Question

TODAY = date(2025, 11, 27)
BELIEFS = {
    "Nia": ("Would rather mend a thing than buy a new one", "Glued the kettle handle back on for the third time"),
    "Ника": ("Скорее починит, чем купит новое", "Третий раз приклеила ручку чайника"),
    "小妮": ("宁可修也不买新的", "第三次把水壶把手粘好"),
}


class Repairs(HashEmbedder):
    """Knows what is about mending, and of everything else its words."""

    def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """A vector for each text."""
        own = [said for both in BELIEFS.values() for said in both]
        return [hashed("mending" if any(said in text for said in own) else text) for text in texts]


def asked(folder: Path, *more: str, embed: bool = True) -> list[Question]:
    """What review asks of three people, their beliefs and their facts, and of more lines."""
    held = "".join(f"- O @{name}: {belief}\n" for name, (belief, _) in BELIEFS.items())
    done = "".join(f"- B @{name}: {fact}\n" for name, (_, fact) in BELIEFS.items())
    last = "".join(f"- {line}\n" for line in more)
    memory = memory_on(write_pages(folder, {"memory/2025-11-20.md": held, "memory/2025-11-24.md": done + last}), TODAY)
    memory.reflect()
    if embed:
        memory.embed()
    return [each for each in memory.review() if each.kind == "belief"]


def test_what_is_near_in_meaning_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In three languages; not of what is about other things, of somebody else, or from outside."""
    use(monkeypatch, Repairs())
    others = "B @Nia: Swam in the lake", f"B @Owen: {BELIEFS['Nia'][1]}", f"B @Nia src=web: {BELIEFS['Nia'][0]}!"
    found = asked(tmp_path, *others)
    assert sorted(each.names[0] for each in found) == sorted(BELIEFS)
    assert {tuple(side.content for side in each.sides) for each in found} == set(BELIEFS.values())
    many = [
        f"B @Nia: {BELIEFS['Nia'][1]}, and {what}" for what in ("the lid", "a cup", "the chair", "a shoe", "the clock")
    ]
    named = [each.names[0] for each in asked(tmp_path / "many", *many)]
    assert sorted(named) == sorted([*BELIEFS, "Nia", "Nia"]), "of one belief at most three"
    assert {(each.why, each.rule) for each in found} == {("near in meaning", "near in meaning")}


def test_an_answer_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What speaks for the belief becomes evidence; neither is asked again."""
    use(monkeypatch, Repairs())
    first, second, _ = asked(tmp_path)
    memory = memory_on(write_pages(tmp_path, {}), TODAY)
    memory.answer(first.id, "f")
    memory.answer(second.id, "n")
    assert not {first.id, second.id} & {each.id for each in memory.review()}
    memory.reflect()
    page = (tmp_path / "bank/opinions.md").read_text("utf-8")
    assert page.count("(c=0.80)") == 1


def test_without_vectors_nothing_of_it_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither before lines are embedded nor with those of another model; and what words found is not asked twice."""
    use(monkeypatch, Repairs())
    assert not asked(tmp_path / "bare", embed=False)
    assert len(asked(tmp_path / "embedded")) == 3
    memory = memory_on(write_pages(tmp_path / "bare", {}), TODAY)
    memory.embed()
    assert len([each for each in memory.review() if each.kind == "belief"]) == 3  # though no page changed
    held = tmp_path / "bare/.memory/vectors.sqlite"
    held.unlink()
    held.symlink_to("nowhere")
    assert not [each for each in memory.review() if each.kind == "belief"]
    held.unlink()
    memory.embed()
    use(monkeypatch, Repairs("2"))
    (tmp_path / "bare/memory/2025-11-25.md").write_text("- B @Nia: Walked home\n")
    assert not [each for each in memory_on(write_pages(tmp_path / "bare", {}), TODAY).review() if each.kind == "belief"]
