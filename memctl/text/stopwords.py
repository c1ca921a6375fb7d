"""Function words without a topic: pronouns, prepositions, auxiliaries, question words. Closed, standard lists."""

from __future__ import annotations

__all__ = ["CHINESE", "ENGLISH", "RUSSIAN"]

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
