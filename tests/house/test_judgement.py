"""The tiers: what a rule says is certain by its measured precision alone."""

import pytest

from memctl.judgement import RULES, Judgement, Measured, Tier, judged


@pytest.mark.parametrize(
    ("right", "of", "tier"),
    [(19, 20, Tier.CERTAIN), (18, 20, Tier.ASKED), (19, 19, Tier.ASKED), (0, 0, Tier.ASKED), (95, 100, Tier.CERTAIN)],
)
def test_a_rule_is_certain_from_95_of_100_on_in_enough_cases(right: int, of: int, tier: Tier) -> None:
    assert Measured(right, of).tier_from() is tier


def test_the_tier_of_a_judgement_is_that_of_its_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "tried", Measured(40, 40))
    assert judged("evidence", "for", "tried", "said again") == Judgement(
        "evidence", "for", Tier.CERTAIN, "said again", "tried"
    )
    with pytest.raises(KeyError):
        judged("evidence", "for", "never measured")
