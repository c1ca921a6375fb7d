"""How a sentence becomes the text of a fact: in the third person, with dates for "yesterday", and whom it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from datetime import date, timedelta
from functools import cache

from ..facts import Period
from ..language.dates import find_times
from ..language.names import AT_NAME, WIKI_NAME, read_name, stem_key
from .patterns import rx

__all__ = ["dated", "names_in", "narrated", "value_kinds"]

_SPEAKERS = {
    "user": {"en": "the user", "ru": "пользователь", "zh": "用户"},
    "assistant": {"en": "the assistant", "ru": "ассистент", "zh": "助手"},
}


def narrated(text: str, language: str, owner: str | None = None, role: str = "user") -> str:
    """`text` with I, me and my as `owner` (a name), or as "the user", «пользователь», 用户; "we" stays.

    In Russian, where a verb or a name would have to be inflected in a way that is not known, the speaker stands in front
    of the words as they were said: «Мира: мне больше нравится чай».
    """
    who = owner if owner and role == "user" else _SPEAKERS[role][language]
    told = {"en": _told_in_english, "ru": _told_in_russian, "zh": _told_in_chinese}[language](text.strip(), who)
    return with_capital(told)


def with_capital(text: str) -> str:
    """`text` with a capital first letter, unless it begins with code or a name that has its own spelling."""
    first = re.match(r"[^\W\d_]+", text)
    if not first or not first[0].islower() or text[first.end() : first.end() + 1] in ("/", "_", ".", "(", "="):
        return text
    return text[0].upper() + text[1:]


# -- English ----------------------------------------------------------------------------------------------------------

_SAME_LIST = """
was had did went got took made came saw said knew thought found left lost kept met sold told began ran wrote read bought brought built chose drove
fell felt flew forgot gave grew heard held hurt led let paid put quit rode sang sat sent set slept spent spoke stood taught tore threw understood wore
won could can will would should must may might shall cannot can't couldn't won't wouldn't shouldn't mustn't broke became caught cut dealt drank drew
ate fought froze hid hit knit laid lent lit meant rang rose sank shook shot shut stole struck stuck swam swept swore woke wasn't weren't didn't hadn't
were ought used need
"""
_SAME = frozenset(_SAME_LIST.split())
_IRREGULAR = {
    "am": "is",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "haven't": "hasn't",
    "are": "is",
    "aren't": "isn't",
}
_SHORT = {"'m": " is", "'ve": " has", "'ll": " will", "'d": " would", "": ""}


def _third(verb: str) -> str:
    """The third person of a verb in the present; a past form stays."""
    low = verb.casefold()
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low in _SAME or low.endswith(("ed", "n't", "'s", "ing")) or not low.isalpha():
        return verb
    if re.search(r"(?:[sxz]|ch|sh|[^aeiou]o)$", low):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", low) else verb + "s"


@cache
def _first_person() -> re.Pattern[str]:
    adverb = rx("en", "adverb").pattern
    return re.compile(
        rf"(?<![\w./'’-])[Ii](?P<short>['’](?:m|ve|ll|d))?(?![\w./'’-])(?P<adverbs>(?:\s+(?!do\b){adverb}\b)*)(?:(?P<space>\s+)(?P<verb>[A-Za-z'’]+))?"
    )


_JOINED = r"\b(?P<and>and|but|or|then)(?P<also> (?:also|now|usually|always|never))? (?P<verb>work|live|study|use|have|prefer|like|love|hate|drive|run|own|teach|speak|play|need|want|keep|go|take|do|am|don't|eat|drink|wear|manage|lead|build|write|commute|rent)\b"


def _told_in_english(text: str, who: str) -> str:
    acted = False

    def told(match: re.Match[str]) -> str:
        nonlocal acted
        acted = True
        short = (match["short"] or "").replace("’", "'")
        verb = (match["verb"] or "").replace("’", "'")
        if short == "'d" and verb in ("better", "been", "had", "already"):
            short = "had"
            return f"{who} had{match['adverbs']}{match['space'] or ''}{verb}"
        if not short and verb:
            verb = _third(verb)
        return f"{who}{_SHORT[short]}{match['adverbs']}{match['space'] or ''}{verb}"

    text = _first_person().sub(told, text)
    if acted:
        text = re.sub(
            _JOINED, lambda m: f"{m['and']}{m['also'] or ''} {_third(m['verb'])}", text, flags=re.IGNORECASE, count=2
        )
    possessive = f"{who}'s"
    text = re.sub(r"(?<![\w'’-])(?:my|mine)(?![\w'’-])", possessive, text, flags=re.IGNORECASE)
    return re.sub(r"(?<![\w'’-])(?:me|myself)(?![\w'’-])", who, text, flags=re.IGNORECASE)


# -- Russian ----------------------------------------------------------------------------------------------------------

_VERB_LIST = """
: живу:живёт пью:пьёт люблю:любит хожу:ходит езжу:ездит вожу:водит учу:учит учусь:учится хочу:хочет могу:может пишу:пишет сижу:сидит держу:держит
ношу:носит веду:ведёт беру:берёт сплю:спит ем:ест пеку:печёт иду:идёт еду:едет лечу:летит ненавижу:ненавидит вижу:видит встаю:встаёт терплю:терпит
прошу:просит снимаю:снимает готовлюсь:готовится готовлю:готовит лечусь:лечится коплю:копит строю:строит варю:варит переезжаю:переезжает
работаю:работает предпочитаю:предпочитает стараюсь:старается занимаюсь:занимается боюсь:боится кормлю:кормит ложусь:ложится плачу:платит курю:курит
говорю:говорит ищу:ищет выхожу:выходит прихожу:приходит нахожусь:находится отвечаю:отвечает являюсь:является пользуюсь:пользуется хожу:ходит
бегу:бежит смотрю:смотрит верю:верит считаю:считает перехожу:переходит уезжаю:уезжает улетаю:улетает прилетаю:прилетает вешу:весит ращу:растит
выращиваю:выращивает провожу:проводит защищаюсь:защищается сдаю:сдаёт даю:даёт преподаю:преподаёт выношу:выносит буду:будет пойду:пойдёт поеду:поедет
возьму:возьмёт куплю:купит сделаю:сделает перееду:переедет
"""
_VERBS = dict(pair.split(":") for pair in _VERB_LIST.split())
_CASES = {
    "пользователь": ("пользователь", "пользователя", "пользователю", "пользователем", "пользователе"),
    "ассистент": ("ассистент", "ассистента", "ассистенту", "ассистентом", "ассистенте"),
}
_OWN = r"(?P<own>мо(?:й|я|[её]|и|его|ей|ему|им|их|ими|ю|[её]м))"


def _told_in_russian(text: str, who: str) -> str:
    first = re.compile(
        r"(?<![\w-])(?:я|меня|мне|мной|мною|мо(?:й|я|[её]|и|его|ей|ему|им|их|ими|ю|[её]м))(?![\w-])", re.I
    )
    verbs = [match for match in re.finditer(r"[а-яё]+", text, re.I) if _first_singular(match[0])]
    if not first.search(text) and not verbs:
        return text
    forms = _CASES.get(who)
    if forms is None:
        return f"{who}: {text}"
    told = re.sub(r"[А-Яа-яЁё]+", lambda m: _conjugated(m[0]), text)
    spoken = re.search(r"(?<![\w-])я(?![\w-])", told, re.I)
    told = re.sub(r"(?<![\w-])я(?![\w-])", forms[0], told, count=1, flags=re.I)
    told = re.sub(r"(?<![\w-])я(?![\w-])\s*", "", told, flags=re.I)
    told = re.sub(
        rf"(?<![\w-]){_OWN} (?P<what>(?:[\w-]+(?:ый|ий|ая|яя|ой|ого|ую|ые|ие) )?[\w-]+)",
        rf"\g<what> {forms[1]}",
        told,
        flags=re.I,
    )
    told = re.sub(r"(?<![\w-])меня(?![\w-])", forms[1], told, flags=re.I)
    told = re.sub(r"(?<![\w-])мне(?![\w-])", forms[2], told, flags=re.I)
    told = re.sub(r"(?<![\w-])мно[йю](?![\w-])", forms[3], told, flags=re.I)
    named = re.search(r"(?<![\w-])меня(?![\w-])", text, re.I)  # «меня зовут Марат, живу в Казани» names its subject
    if verbs and not spoken and not named and forms[2] not in told and not re.search(rf"(?<![\w-]){forms[0]}", told):
        return f"{forms[0]} {told[0].lower() + told[1:]}"  # «Пью кофе» has its subject in the verb
    return told


_NO_VERB_LIST = """
такую какую любую другую новую старую первую вторую третью каждую самую мою свою твою вашу нашу статью семью скамью судью чью пятую шестую седьмую
десятую
"""
_NO_VERB = frozenset(_NO_VERB_LIST.split())


def _first_singular(word: str) -> bool:
    low = word.casefold()
    return low in _VERBS or (
        len(low) > 4
        and low.endswith(("аю", "яю", "аюсь", "яюсь", "ею", "ирую", "изую", "уюсь"))
        and low not in _NO_VERB
    )


def _conjugated(word: str) -> str:
    low = word.casefold()
    if not _first_singular(low):
        return word
    found = _VERBS.get(low)
    if found is None:
        stem, tail = (low[:-3], "ся") if low.endswith("юсь") else (low[:-1], "")
        found = stem + "ет" + tail
    return found.capitalize() if word[:1].isupper() else found


# -- Chinese ----------------------------------------------------------------------------------------------------------


def _told_in_chinese(text: str, who: str) -> str:
    kin = rx("zh", "kin").pattern
    text = re.sub(rf"(?<![\u4e00-\u9fff自])?我(?={kin})", f"{who}的", text)
    return re.sub(r"(?<!自)我(?!们|国|方)", who, text)


# -- dates ------------------------------------------------------------------------------------------------------------

_ABSOLUTE = re.compile(
    r"\d{4}|jan|feb|mar(?:ch)?\b|apr|\bmay\b|june?\b|july?\b|aug|sept?|\boct|\bnov|\bdec|январ|феврал|март|апрел|ма[йя]|июн|июл|август|сентябр|октябр|ноябр|декабр|月\s*\d|\d\s*月|[.]\d",
    re.IGNORECASE,
)


def dated(text: str, language: str, day: date | None) -> tuple[str, Period | None]:
    """`text` with relative days as dates, and the period it speaks of if it is the only one.

    "yesterday" becomes a date, "last week" keeps its words and gets its days in brackets; dates with a month stay.
    """
    if day is None or day.year < 2 or day.year > 9000:
        return text, None
    mentions = find_times(text, day)
    later = {(m.start, m.end): m.period for m in find_times(text, day + timedelta(days=37))}
    period: Period | None = None
    for mention in reversed(mentions):
        said = text[mention.start : mention.end]
        if _ABSOLUTE.search(said) or later.get((mention.start, mention.end)) == mention.period:
            continue
        period = mention.period
        text = (
            text[: mention.start]
            + _as_date(said, mention.period, text[: mention.start], language)
            + text[mention.end :]
        )
    return text, period if len(mentions) == 1 else None


def _as_date(said: str, period: Period, before: str, language: str) -> str:
    if period.first != period.last or period.first is None:
        return f"{said} ({period})"
    needs: Callable[[str], object] = re.compile(
        r"\b(?:on|by|until|till|since|from|before|after|for|to|of|is|was)\s*$", re.I
    ).search
    return str(period) if language != "en" or needs(before) else f"on {period}"


# -- names ------------------------------------------------------------------------------------------------------------

_EN_NAME = r"(?-i:[A-Z][\w'’]*(?:[-.&][A-Za-z0-9]\w*)*)"
_RU_NAME = r"(?-i:[А-ЯЁ][а-яё]+(?:-[А-ЯЁ][а-яё]+)?|[A-Z][\w.&-]*)"
_MOST = 3


def names_in(plain: str, language: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """The names that a sentence is about, in order, at most three; `known` were named before in the conversation.

    Only what stands where a name must stand counts: after "my sister", before "lives", after "called". A capital letter
    alone proves nothing, least of all at the beginning of a sentence.
    """
    marked = [read_name(match[0]) for match in re.finditer(rf"(?<![\w@./]){AT_NAME}|{WIKI_NAME}", plain)]
    find = {"en": _names_in_english, "ru": _names_in_russian, "zh": _names_in_chinese}[language]
    found = dict.fromkeys([*filter(None, marked), *find(plain), *_known(plain, language, known)])
    return tuple(found)[:_MOST]


def _known(plain: str, language: str, known: Collection[str]) -> list[str]:
    if language == "zh":
        return [name for name in known if name in plain]
    words = set(re.findall(r"[\w&.+-]*\w", plain))
    stems = {stem_key(word) for word in words if word[:1].isupper()}
    return [
        name for name in known if name.split()[0] in words or (language == "ru" and stem_key(name.split()[0]) in stems)
    ]


# -- English and Russian ----------------------------------------------------------------------------------------------


@cache
def _english_shapes() -> tuple[re.Pattern[str], ...]:
    full = rf"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?(?P<name>{_EN_NAME}(?: {_EN_NAME}){{0,2}})"
    kin = rx("en", "kin").pattern
    verb = rx("en", "name_verb").pattern
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"\b(?:my|our) (?:\w+ )?(?:{kin}),? (?:(?:is|are|was) )?(?:called |named )?{full}",
            rf"\b(?:called|named|codenamed|code-named|nicknamed)(?: after)? [\"“«']?{full}",
            rf"\b(?:name is|name's|names are) {full}",
            rf"\b(?:project|app|service|product|repo|repository|company|startup|team) (?:is )?(?:called |named )?[\"“«']?{full}",
            rf"\b(?:build|builds|building|develop|develops|maintain|maintains|run|runs|own|owns|founded|working on|work on|make|makes) (?:a project called |an app called )?{full}, (?:a|an|the|our)\b",
            rf"^\W*(?:and |but |so |also )?(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?(?P<name>{_EN_NAME}(?: {_EN_NAME}){{0,2}}) (?:\w+ly |also |still |now |just )?(?:{verb})\b",
            rf"[,;.] (?:and |but |while )?(?P<name>{_EN_NAME}(?: {_EN_NAME})?) (?:{verb})\b",
            rf"\band (?P<name>{_EN_NAME}) (?:{verb})\b",
        )
    )


def _names_in_english(plain: str) -> list[str]:
    found = [m["name"].removesuffix("'s") for shape in _english_shapes() for m in shape.finditer(plain)]
    return [name for name in map(_bare, found) if name]


_NO_NAMES_LIST = """
kids mornings evenings nights weekends parents children pressure coffee tea pod app ci pr api
i im ive id the a an my our your his her their its this that these those it he she they we you there here what who when where why how monday tuesday
wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays january february march april may june july
august september october november december yes no ok okay please thanks hi hello hey dear everything everyone nobody someone somebody nothing
something all both each every one two three some any not never always also but and or so if then now today tomorrow yesterday tonight english german
french spanish chinese russian japanese italian portuguese in on at by for from with to of as let lets remember note actually correction sorry mom mum
dad grandma grandpa mr mrs ms dr prof god internet christmas easter question answer error warning half most many few other others another next last
first second final version part people work home time dinner lunch breakfast rent school budget deadline meeting launch release production staging
tests test builds build это этот эта эти он она оно они мы вы ты я у в на с и а но не да нет кто что где когда как если тогда потом еще уже также тоже
там тут здесь понедельник вторник среда четверг пятница суббота воскресенье январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь
декабрь спасибо привет пожалуйста мой моя мое мои наш наша наше наши его ее их все всё муж жена сын дочь мама папа брат сестра бабушка дедушка экзамен
отчет срок база проект встреча релиз сервер команда фронтенд бэкенд деплой выручка отпуск завтра сегодня вчера кстати решили решено
"""
_NO_NAMES = frozenset(_NO_NAMES_LIST.split())


def _bare(name: str) -> str:
    words = name.replace("’", "'").split()
    while words and words[-1].casefold().removesuffix("'s") in _NO_NAMES:
        words.pop()
    if not words or words[0].casefold().removesuffix("'s") in _NO_NAMES or "'" in words[0] or len(words[0]) < 2:
        return ""
    return " ".join(words).removesuffix("'s").rstrip(".")


@cache
def _russian_shapes() -> tuple[re.Pattern[str], ...]:
    full = rf"(?P<name>{_RU_NAME}(?: {_RU_NAME}){{0,2}})"
    kin, verb = rx("ru", "kin").pattern, rx("ru", "name_verb").pattern
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"(?<!у )(?<!с )(?<!для )\b(?:мо[йяие]|наш[аие]?) (?:\w+ )?(?:{kin}),? (?:[—–-] (?:это )?)?{full}",
            rf"(?<!у )(?<!с )(?<!для )\b(?:{kin}) (?:[—–-] (?:это )?|зовут ){full}",
            rf"\b(?:зовут|называется|называем|назвали|по имени|под названием|именем) [\"«]?{full}",
            r"\b(?:проект\w*|сервис\w*|приложени\w*|компани\w*|стартап\w*|систем\w*|бот\w*|продукт\w*|библиотек\w*|магазин\w*) [\"«](?P<name>[^\"»]{2,40})[\"»]",
            rf"\b(?:проект|сервис|приложение|компания|стартап|система|продукт) {full}",
            rf"^\W*(?:а |и |но )?(?P<name>{_RU_NAME}(?: {_RU_NAME}){{0,2}})(?: из \w+)?,? (?:теперь |сейчас |всегда |обычно |тоже |пока |уже |не )?(?:{verb})\b",
            rf"[,;] (?:а |и |но )?(?P<name>{_RU_NAME}) (?:теперь |сейчас |всегда |обычно |тоже |не )?(?:{verb})\b",
            rf"\b(?:делает|делают|ведёт|ведет|отвечает|занимается|руководит|проверяет|организует|принимает) (?P<name>{_RU_NAME}(?: {_RU_NAME})?)\b",
        )
    )


def _names_in_russian(plain: str) -> list[str]:
    found = [(at, m["name"]) for at, shape in enumerate(_russian_shapes()) for m in shape.finditer(plain)]
    names = ((at, _bare(name)) for at, name in found)
    return [name for at, name in names if name and (at not in _RUSSIAN_STARTS or _is_russian_name(name))]


_RUSSIAN_STARTS = (5, 6)  # shapes of what begins a sentence or a clause, as any word may


def _is_russian_name(name: str) -> bool:
    return (
        " " in name or not re.search("[а-яё]", name) or bool(rx("ru", "first_name").fullmatch(name.replace("ё", "е")))
    )


# -- Chinese ----------------------------------------------------------------------------------------------------------

_SURNAMES = "王李张刘陈杨黄赵周吴徐孙马朱胡郭何林罗高郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蔡蒋余于杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤欧阳"
_GIVEN = r"[\u4e00-\u9fff]"
_STOP = r"(?=是|在|叫|喜|不|的|，|。|,|！|；|和|跟|也|会|要|今|明|下|上|对|从|去|来|住|负|做|刚|已|最|特|很|有|把|说|$|\s|\d|（|：|他|她|转|调|离|接|当|搬|换|请|生|过|用|写|管|希|爱|讨|只|都|每|快|马)"


@cache
def _chinese_shapes() -> tuple[re.Pattern[str], ...]:
    kin = rx("zh", "kin").pattern
    person = rf"(?:[{_SURNAMES}](?:总|工|老师|医生|经理|教授|师傅|姐|哥)|[{_SURNAMES}]{_GIVEN}{{1,2}}?|[小老阿]{_GIVEN}|[A-Z][a-z]+)"
    return tuple(
        re.compile(pattern)
        for pattern in (
            rf"(?:叫|名叫|名字是|名字叫|小名|取名|起名)(?:做|作)?[“「《\"]?(?P<name>{_GIVEN}{{2,3}}?|[A-Z][\w-]+)[”」》\"]?{_STOP}",
            rf"(?:{kin})(?:是|叫)?(?P<name>{person}|(?P<twin>{_GIVEN})(?P=twin)){_STOP}",
            r"(?:叫|名叫|名为|项目|产品|小程序|应用|系统|平台|公司|团队|工具|服务)(?:是|叫|叫做|名叫|名为)?[“「《](?P<name>[^”」》]{1,20})[”」》]",
            rf"(?:^|[，,。；;、\s])(?:而|但|因为|另外)?(?P<name>{person}){_STOP}(?!们)",
            rf"(?:由|是|归|让|请|找|给)(?P<name>[{_SURNAMES}]{_GIVEN}{{1,2}}|[小老阿]{_GIVEN})(?=负责|接手|管|来|，|。|$|,|做|维护|审)",
            rf"(?:^|[，,。；;\s])(?P<name>(?P<twin>{_GIVEN})(?P=twin)){_STOP}",
            r"(?:项目|产品|应用|系统|平台|公司|服务|仓库)\s?(?P<name>[A-Z][\w-]+)",
            r"^(?P<name>[A-Z][\w-]{2,})\s?(?:是|用|的|使用|采用|部署|支持|基于)",
        )
    )


_NO_HAN_NAMES_LIST = """
婆婆 公公 姥姥 姥爷 舅舅 叔叔 姑姑 外婆 外公 段落 白醋 我先 我们 你们 他们 App app Pod CI PR
老师 老板 小时 老婆 老公 小组 小区 小学 小孩 小说 小程 阿姨 高中 高考 高铁 周一 周二 周三 周四 周五 周六 周日 周末 谢谢 常常 刚刚 慢慢 天天 好好 万一 方案 方法 方式 方向 马上 任务 任何 于是 何时 何况 金额 白天 江苏 石家庄 向来 许多 严格 程序 程度 史上
龙虾 高血压 高等 张数 钱包 余额 夏天 秦皇 江西 黄山 黄金 白色 白酒 金融 雷雨 高级 高速 高兴 任意 单位 平时 时间 计划 余下 毛病 石头 汤圆 马路 田里 白板 方便 万元 小心 老家 老是 小型 小米 老人 小猫 小狗 小吃 项目 爸爸 妈妈 哥哥 姐姐 弟弟 妹妹 爷爷 奶奶
宝宝 试试 看看 想想 哈哈 嗯嗯 谈谈 说说 聊聊 往往 仅仅 明明 渐渐 偏偏 恰恰 默默 稍稍 早早
"""
_NO_HAN_NAMES = frozenset(_NO_HAN_NAMES_LIST.split())


def _names_in_chinese(plain: str) -> list[str]:
    found = [m["name"].strip() for shape in _chinese_shapes() for m in shape.finditer(plain)]
    return [name for name in found if name not in _NO_HAN_NAMES and not any(name[:2] == bad for bad in _NO_HAN_NAMES)]


# -- values -----------------------------------------------------------------------------------------------------------


@cache
def _kinds() -> dict[str, re.Pattern[str]]:
    months = rx("en", "month").pattern
    ru = r"(?:январ|феврал|март|апрел|ма[йя]|июн|июл|август|сентябр|октябр|ноябр|декабр)\w*"
    return {
        "date": re.compile(
            rf"\b(?:{months})\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?!:)|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{months})\b|\b\d{{1,2}} {ru}|\d{{4}}-\d\d-\d\d"
            r"|\d{1,2}\s*月\s*\d{1,2}\s*[日号]?|\b\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?\b",
            re.IGNORECASE,
        ),
        "day": re.compile(
            r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:понедельник|вторник|сред[ауы]|четверг|пятниц[ауы]|суббот[ауы]|воскресенье)\b|(?:周|星期)[一二三四五六日天]",
            re.IGNORECASE,
        ),
        "time": re.compile(r"\b\d{1,2}(?::\d\d)? ?(?:am|pm)\b|\b\d{1,2}:\d\d\b|[上下]午\s*\S{1,3}点", re.IGNORECASE),
        "year": re.compile(r"(?<![\d.,-])(?:19|20)\d\d(?![\d.,]\d)"),
        "number": re.compile(r"[£$€¥]?\d+(?:[.,]\d+)*(?: ?%|[kKmM]\b)?"),
        "name": re.compile(
            r"(?<=[\w,] )[A-ZА-ЯЁ][\w.+-]*\w(?: [A-ZА-ЯЁ][\w.+-]*\w)*|(?<=[\u4e00-\u9fff])\s?[A-Za-z][\w.+-]+"
        ),
    }


def value_kinds(text: str) -> dict[str, str]:
    """The first value of each kind in a text, the most exact kind first: date, day, time, year, number, name."""
    return {kind: match[0].strip() for kind, shape in _kinds().items() if (match := shape.search(text))}
