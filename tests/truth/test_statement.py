"""What a sentence says as far as a change of it can be told: its amounts, its times."""

from __future__ import annotations

import pytest

from memctl.truth.statement import read_sentences

AMOUNTS = [
    ("The deposit is 3,540 euros.", [(3540, "3,540 euros", True)]),
    ("The attic weighs twenty six kilos.", [(26, "twenty six kilos", True)]),
    ("We bought twenty chairs and six lamps.", [(20, "twenty chairs", False), (6, "six lamps", False)]),
    ("The temperature is 21°C.", [(21, "21°C", True)]),
    ("It goes 5 km/h.", [(5, "5 km/h", False)]),
    ("The fee rose to $40.", [(40, "$40", False)]),
    ("Seen in 5 of them.", []),
    ("The train is 5 minutes late.", []),
    ("The release is v2.5", []),
    ("She lives on the 3rd floor.", []),
    ("Комната стоит 25 тысяч рублей.", [(25, "25 тысяч", True)]),
    ("В клубе двадцать три члена.", [(23, "двадцать три члена", True)]),
    ("В 9:30 пришли 12 гостей.", [(12, "12 гостей", False)]),
    ("Сдали 3 дня назад.", []),
    ("办公室有三十五个人", [(35, "三十五个人", True)]),
    ("车队有一万二千辆车", [(12000, "一万二千辆车", True)]),
    ("他养了两只猫", [(2, "两只猫", False)]),
    ("重量大约十二公斤", [(12, "十二公斤", True)]),
    ("书架上有一百零五本书", [(105, "一百零五本书", True)]),
    ("书架上有一百五十本书", [(150, "一百五十本书", True)]),
    ("押金是3000元", [(3000, "3000元", True)]),
    ("他三天前到了", []),
]


@pytest.mark.parametrize(("text", "amounts"), AMOUNTS, ids=[text for text, _ in AMOUNTS])
def test_amounts(text: str, amounts: list[tuple[float, str, bool]]) -> None:
    """The value, as it is written with what is counted, and whether a verb gives a thing one of that."""
    (read,) = read_sentences(text, frozenset())
    assert [(each.value, each.text, each.stated) for each in read.numbers] == amounts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the flat has 3 rooms", "the flat has three rooms"),
        ("в доме 20 квартир", "в доме двадцать квартир"),
        ("他有十只鸟", "他有10只鸟"),
    ],
)
def test_digits_and_words_are_one_amount(one: str, other: str) -> None:
    """With the same unit, so that another unit is another amount."""
    (a,), (b,) = (read_sentences(text, frozenset())[0].numbers for text in (one, other))
    assert (a.value, a.unit) == (b.value, b.unit)


@pytest.mark.parametrize(
    ("text", "times"),
    [("The stand-up is at 9:30 on Monday.", 2), ("Планёрка в 9:30 по понедельникам.", 2), ("周一上午9点30分开会", 3)],
)
def test_times(text: str, times: int) -> None:
    """Days and hours are times, and no amounts."""
    (read,) = read_sentences(text, frozenset())
    assert (len(read.times), read.numbers) == (times, ())
