"""Inflected forms that share no Snowball stem with their base: `won` and `win`, `children` and `child`, «людей»."""

from __future__ import annotations

__all__ = ["ENGLISH", "RUSSIAN", "forms"]

# One base a group, then its forms. Left out: forms that are more often another word (lay, rose, bit, lives, leaves).
ENGLISH = """
be are was were been; have has had; do does did done; go goes went gone; say said; get got gotten; make
made; know knew known; think thought; take took taken; see saw seen; come came; find found; give gave given;
tell told; become became; feel felt; leave left; bring brought; begin began begun; keep kept; hold held; write
wrote written; stand stood; hear heard; mean meant; meet met; run ran; pay paid; sit sat; speak spoke spoken;
lead led; grow grew grown; lose lost; fall fell fallen; send sent; build built; understand understood; draw drew
drawn; break broke broken; spend spent; rise risen; drive drove driven; buy bought; wear wore worn; choose chose
chosen; win won; teach taught; catch caught; sing sang sung; swim swam swum; sleep slept; sell sold; fly flew
flown; fight fought; eat ate eaten; drink drank drunk; forget forgot forgotten; forgive forgave forgiven; freeze
froze frozen; hide hid hidden; hang hung; lend lent; ride rode ridden; ring rang rung; seek sought; shake shook
shaken; shine shone; shoot shot; show shown; shrink shrank shrunk; steal stole stolen; stick stuck; strike
struck; swear swore sworn; sweep swept; tear tore torn; throw threw thrown; wake woke woken; weave wove woven;
bend bent; bite bitten; bleed bled; blow blew blown; breed bred; deal dealt; dig dug; feed fed; flee fled;
forbid forbade forbidden; kneel knelt; learn learnt; mistake mistook mistaken; overcome overcame; prove proven;
sew sewn; spin spun; spring sprang sprung; sting stung; undo undid undone; redo redid redone; rebuild rebuilt;
rewrite rewrote rewritten; withdraw withdrew withdrawn; undertake undertook undertaken; child children; man men;
woman women; person people; mouse mice; foot feet; tooth teeth; goose geese; wife wives; knife knives; shelf
shelves; wolf wolves; index indices; matrix matrices; analysis analyses; crisis crises; criterion criteria;
vertex vertices; datum data
"""

RUSSIAN = """
человек люди людей людям людьми людях; ребенок дети детей детям детьми детях; год лет; друг друзья друзей
друзьям друзьями друзьях; день дня дню днем дни дней дням днями днях; брат братья братьев братьям; сын сыновья
сыновей; мать матери матерей; дочь дочери дочерей; идти иду идет идут шел шла шло шли; пойти пойду пойдет пошел
пошла пошло пошли; прийти приду придет пришел пришла пришло пришли; уйти уйду уйдет ушел ушла ушло ушли; найти
найду найдет нашел нашла нашло нашли; выйти выйду выйдет вышел вышла вышло вышли; перейти перейду перейдет
перешел перешла перешло перешли; ехать еду едет едут ехал; писать пишу пишет пишут пиши; искать ищу ищет ищут
ищи; хотеть хочу хочешь хочет хотел; мочь могу можешь могут мог могла могли; взять возьму возьмет взял взяла
взяли; жить живу живет живут жил жила жили; спать сплю спит спят спал; деплой деплоя деплою деплоем
деплое деплои деплоев; токен токена токену токеном токене токенов токенам токенами токенах;
"""


def forms() -> dict[str, str]:
    """Each irregular form -> its base, both folded and unstemmed."""
    groups = (group.split() for group in f"{ENGLISH};{RUSSIAN}".split(";"))
    return {form: group[0] for group in groups for form in group[1:]}
