"""Plain sentences about nothing in particular, by script: their mean vector is where a model puts all text of a script.

Subtracting it makes cosines of different languages comparable. Fixed sentences instead of the workspace's own lines make
the means a function of the model alone, so vectors may be deleted and made anew without changing an answer.
"""

from __future__ import annotations

__all__ = ["CALIBRATION"]

_LATIN = (
    "The deploy failed at noon and was rolled back.", "Anna likes short answers in the morning.",
    "We chose the cheaper supplier after two weeks.", "He is moving to Lisbon in March.",
    "Call the dentist about the bill.", "The tests pass on Linux but not on Windows.",
    "She has been learning the violin since school.", "Restart the service after changing the configuration.",
    "They argued about the budget and postponed the decision.", "The soup needs more salt and less time.",
    "Our flight leaves at seven from gate twelve.", "I read half of the book and liked the ending of chapter three.",
    "The database grows by a gigabyte a day.", "Nobody answered the second invitation.",
    "Turn off the lights when you leave the office.",
)  # fmt: skip
_CYRILLIC = (
    "Деплой упал в полдень, его откатили.", "Анна любит короткие ответы по утрам.",
    "Через две недели выбрали поставщика подешевле.", "Он переезжает в Лиссабон в марте.",
    "Позвонить стоматологу насчёт счёта.", "Тесты проходят на Linux, но не на Windows.",
    "Она учится играть на скрипке со школы.", "После изменения настроек перезапусти службу.",
    "Они поспорили о бюджете и отложили решение.", "Супу не хватает соли.", "Наш рейс в семь, выход двенадцать.",
    "Прочитал половину книги, понравился конец третьей главы.", "База растёт на гигабайт в день.",
    "На второе приглашение никто не ответил.", "Выключай свет, когда уходишь из офиса.",
)  # fmt: skip
_HAN = (
    "部署在中午失败并已回滚。", "安娜早上喜欢简短的回答。", "两周后我们选择了更便宜的供应商。", "他三月搬到里斯本。",
    "给牙医打电话问账单的事。", "测试在 Linux 上通过，在 Windows 上没有通过。", "她从上学起就在学小提琴。",
    "修改配置后请重启服务。", "他们为预算争论，推迟了决定。", "汤需要多一点盐。", "我们的航班七点从十二号登机口起飞。",
    "书读了一半，喜欢第三章的结尾。", "数据库每天增长一个 GB。", "没有人回复第二次邀请。", "离开办公室时请关灯。",
)  # fmt: skip

CALIBRATION: tuple[tuple[str, ...], ...] = (_LATIN, _CYRILLIC, _HAN)
"""By the number of the script, as `core.vectors.script_of` gives it: 0 Latin and all others, 1 Cyrillic, 2 Han."""
