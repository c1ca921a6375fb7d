"""Names that may mean the same: in three scripts, with the pairs that look alike and are not."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

import pytest
from hypothesis import given, strategies as st

from memctl.entities import similar
from memctl.entities.similar import SimilarNames
from memctl.language.names import entity_key

SAME = [
    # in other letters
    ("Ирина", "Irina"), ("Юлия Волкова", "Yulia Volkova"), ("Юлия", "Julia"), ("Алексей Петров", "Alexey Petrov"),
    ("Щукин", "Shchukin"), ("Пётр", "Pyotr"), ("Татьяна", "Tatiana"), ("Хабаров", "Khabarov"), ("Цой", "Tsoi"),
    ("Дмитрий", "Dmitry"), ("Елена Жукова", "Yelena Zhukova"), ("Чэнь Ли", "陈立"), ("陈立", "Chen Li"), ("王小明", "Wang Xiaoming"),
    ("Xiaoming Wang", "王小明"), ("陳立", "陈立"), ("愛麗絲", "爱丽丝"), ("Максим", "Maxim"),
    # another order, spacing, form
    ("Irina Volkova", "Volkova Irina"), ("GullSpit", "Gull Spit"), ("NorthGate", "North Gate"),
    ("NJ-01", "NJ01"), ("Ирину", "Ирина"), ("Дашу Смирнову", "Даша Смирнова"), ("Волкова Ирина", "Irina Volkova"),
    # a first name that fits one
    ("Irina", "Irina Volkova"), ("Ирина", "Irina Volkova"), ("小明", "王小明"), ("Ира", "Ира Иванова"),
]  # fmt: skip

OTHERS = [
    ("Alex Chen", "Alex Petrov"), ("NJ-01", "NJ-02"), ("Python 3.11", "Python 3.12"), ("Python", "Python 3"), ("v1.2", "v1.20"),
    ("2025-11-27", "2025-11-28"), ("Plan A", "Plan B"), ("Apollo II", "Apollo III"), ("Gateway 1 backup 2", "Gateway 2 backup 1"),
    ("Волков", "Волкова"), ("Александр", "Александра"), ("Евгений", "Евгения"), ("Валентин", "Валентина"),
    ("Ивановский", "Ивановская"), ("Petrov", "Petrova"), ("Andrea", "Andreas"), ("Hansen", "Hanson"), ("Anna", "Hanna"), ("Nightjar", "Nigthjar"),
    ("north gate station", "south gate station"), ("dev server", "prod server"), ("Новый порт", "Старый порт"), ("Ann Lee Jr", "Ann Lee"), ("王小明", "王小红"), ("陈立", "陈力"), ("张伟", "张炜"),
    ("Curlew", "Curlew API"), ("Nightjar", "nightjar-gw"), ("Atlas", "Atlas of the World"), ("Мария Петрова", "Марина Петрова"),
    ("Ольга", "Олег"), ("New York", "York"), ("Jan Novak", "Jana Novak"), ("Игорь Смирнов", "Ирина Смирнова"),
]  # fmt: skip


def maybe_same(name: str, others: Iterable[str]) -> tuple[str, ...]:
    """Those of some names that may mean the same as one, in their order."""
    listed = list(dict.fromkeys(others))
    near = {found.entity for found in SimilarNames((each, each) for each in (name, *listed)).near(name)}
    return tuple(other for other in listed if other in near)


def pairs(names: SimilarNames, listed: Iterable[str]) -> set[tuple[str, str]]:
    """Every pair that may be the same."""
    return {(one, near.entity) for one in listed for near in names.near(one)}


@pytest.mark.parametrize(("one", "other"), SAME, ids=" ~ ".join)
def test_what_may_be_the_same(one: str, other: str) -> None:
    """From either side, with a reason."""
    assert maybe_same(one, ["Somebody Else", other, "鸥嘴"]) == (other,)
    assert maybe_same(other, [one]) == (one,)
    (near,) = SimilarNames([(one, one), (other, other)]).near(one)
    assert (near.entity, near.name, near.other) == (other, one, other) and near.reason


@pytest.mark.parametrize(("one", "other"), OTHERS, ids=" | ".join)
def test_what_is_not(one: str, other: str) -> None:
    """A wrong question to a person is worse than none."""
    assert maybe_same(one, [other]) == () == maybe_same(other, [one])


def test_a_first_name_must_fit_exactly_one() -> None:
    """Where there are two of the name Alex, it means neither."""
    assert maybe_same("Alex", ["Alex Chen", "Alex Petrov"]) == ()
    assert maybe_same("Alex", ["Alex Chen", "Irina Volkova"]) == ("Alex Chen",)
    names = SimilarNames([("a", "Alex Chen"), ("a", "Alex C. Chen"), ("b", "Alex"), ("c", "Irina")])
    assert [near.entity for near in names.near("b")] == ["a"]
    assert [near.entity for near in names.near("a")] == ["b"]
    assert maybe_same("Alex Chen", ["Alex", "Alex Petrov"]) == ()


def test_names_of_one_bearer_are_never_compared() -> None:
    """Nor are spellings that are one name to memctl."""
    names = SimilarNames(
        [("i", "Irina Volkova"), ("i", "Irina"), ("i", "Ирина"), ("x", "Ирину"), ("y", "IRINA volkova")]
    )
    assert [near.entity for near in names.near("i")] == ["x"]
    assert names.near("nobody") == ()
    assert maybe_same("Gull-Spit", ["gull spit", "Gull Spit"]) == ()
    assert maybe_same("x", []) == ()


def test_pairs_are_found_from_both_sides() -> None:
    listed = sorted({name for pair in (*SAME, *OTHERS) for name in pair})
    found = pairs(SimilarNames((name, name) for name in listed), listed)
    assert len(found) > 40 and found == {(other, one) for one, other in found}


NAME = st.text(st.sampled_from("abcdeIrина́ёйЁ明王立 -_.12'’\u200d"), max_size=14)


@given(st.lists(NAME, max_size=6), NAME)
def test_any_names(others: list[str], name: str) -> None:
    """Whatever they are: no crash, never over a number, the same from both sides, never a name with itself."""
    found = maybe_same(name, others)
    assert set(found) <= set(others)
    for other in found:
        assert entity_key(other) != entity_key(name)
        digits = [[int(d) for d in "".join(c if c.isdigit() else " " for c in n).split()] for n in (name, other)]
        assert digits[0] == digits[1]
    if len(others) == 1:
        assert bool(found) == bool(maybe_same(others[0], [name]))


def test_twenty_thousand_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name is compared with a handful, not with all others; names that share a form by the thousand with none."""
    rng = random.Random(7)
    syllables = {"latin": "kamitoravelonopetugariladorbe", "cyrillic": "камиторавелонопетугаришадобе"}
    compared: list[int] = []
    alike = similar.alike
    monkeypatch.setattr(similar, "alike", lambda one, other: compared.append(1) or alike(one, other))

    def made(script: str) -> str:
        pairs = re.findall("..", syllables[script])
        return " ".join("".join(rng.choices(pairs, k=rng.randint(2, 5))).title() for _ in range(rng.randint(1, 3)))

    names = {made("latin" if rng.random() < 0.6 else "cyrillic") for _ in range(18_000)}
    names |= {f"NJ-{n:05}" for n in range(4_000)} | {f"Sensor {chr(97 + n % 26)}{n}" for n in range(2_000)}
    found = pairs(SimilarNames((name, name) for name in sorted(names)), names)
    assert len(names) > 20_000 and found and len(compared) < 20 * len(names)
    assert not any(one.startswith(("NJ", "Sensor")) for one, _ in found)
