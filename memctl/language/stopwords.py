"""Function words without a topic: pronouns, prepositions, auxiliaries, question words. Closed, standard lists."""

from __future__ import annotations

__all__ = ["CHINESE", "ENGLISH", "RUSSIAN", "TERMS"]

# The classic Snowball/NLTK lists, with "many" and "much" (how many, how much), without "may" (a month).
ENGLISH = """
many much
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves what which who whom whose this that these those am is
are was were be been being have has had having do does did doing done would should could can cannot will shall
might must ought a an the and but if or because as until while of at by for with about against between into
through during before after above below to from up down in out on off over under again further then once here
there when where why how all any both each few more most other some such no nor not only own same so than too
very just now also don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't won't wouldn't can't
couldn't shouldn't mustn't dont doesnt didnt isnt arent wasnt werent im ive youre hes shes theyre
"""

RUSSIAN = """
и в во не что он на я с со как а то все она так его но да ты к ко у же вы за бы по только ее мне было вот от
меня еще нет о об обо из изо ему когда даже ну ли если уже или ни быть был него до вас нибудь уж вам ведь там
потом себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб чтобы без чего тоже себе
под подо будет будут ж тогда кто этот того потому этого какой какая какое какие каких каким какому какими
каком какую ним здесь этом мой моя мое мои моего моей тем нее сейчас были куда зачем почему всех можно при над
тот та те через эти это эта нас про всего них эту этой этих этим перед том такой такая такое такие им более
всю между сколько который которая которое которые которого которой которых которому котором которую которыми
откуда чей чья чье чьи кого кому кем ком чему свой свою свои своего своей своих ваш ваша наш наша наши нам
нами вами ими мной тобой собой ею
"""

# Single characters, and the pairs that question words make.
CHINESE = """
的 了 是 在 和 与 及 或 也 都 就 而 被 把 让 给 对 从 向 到 于 以 为 之 其 这 那 哪
谁 吗 呢 吧 啊 着 过 我 你 您 他 她 它 们 有 个 什 么 几 怎 何 些 请 问 很 什么 怎么
怎样 如何 为什 哪些 哪个 哪里 哪儿 哪种 哪位 哪一 多少 几个 是否 这个 那个 这些 那些 我们 你们
他们 她们 它们 自己 什么样 为什么 因为 所以 但是 以及 或者 并且 而且 如果 是什 的是 了什 请问
谁是 是谁 叫什 有什 么样 有多 是多
"""

# `terms` of all of the above, kept because analysing them takes 5 ms of every recall; a test holds it equal.
TERMS = """
a about abov after again against all also am an and ani aren arent as at be becaus befor below between both but by can
cannot cant could couldn couldnt didn didnt do doesn doesnt don dont down dure each few for from further hadn hadnt
hasn hasnt have haven havent he her here herself hes him himself his how i if im in into is isn isnt it itself ive
just mani me might more most much must mustn mustnt my myself no nor not now of off on onc onli or other ought our
ourselv out over own same shall she shes should shouldn shouldnt so some such than that the their them themselv then
there these they theyr this those through to too under until up veri wasn wasnt we weren werent what when where whi
which while who whom whose will win with wont would wouldn wouldnt you your yourself yourselv а без бол будет будут бы
был быт в вам вас ваш вед во вот все всег всех всю вы где да даж для до ег ее ей ем есл ест ещ ею ж же за зач зде и из
ил им их к как кем ко ког когд ком котор кто куд ли межд мен мне мно мо может можн мы на над нам нас наш не нег нет ни
нибуд ним них нич но ну о об он от откуд перед по под пот поч при про с сам сво себ сейчас скольк со соб та так там те
теб тем то тоб тог тогд тож тольк том тот тут ты у уж че чег чем через что чтоб чье чьи чья эт этот я 一 与 且 个 为 为什 么
么样 之 也 了 了什 于 些 什 什么 从 他 他们 以 以及 们 但 但是 位 何 你 你们 儿 其 几 几个 到 及 叫 叫什 向 吗 否 吧 呢 和 哪 哪一 哪个 哪些 哪位 哪儿 哪种 哪里 啊 因 因为 在 多 多少 她
她们 如 如何 如果 它 它们 对 少 就 己 并 并且 很 怎 怎么 怎样 您 我 我们 或 或者 所 所以 把 是 是什 是否 是多 是谁 有 有什 有多 果 样 的 的是 着 种 给 者 而 而且 自 自己 被 让 请 请问 谁
谁是 过 这 这个 这些 那 那个 那些 都 里 问
"""
