"""Who and what a sentence is about: names by their shape and the words around them, in English, Russian and Chinese."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from ...language.names import AT_NAME, WIKI_NAME, read_name, stem_key
from .words import rx, starts

__all__ = ["names_in", "value_kinds"]

_EN_NAME = r"(?-i:[A-Z][\w'’]*(?:[-.&][A-Za-z0-9]\w*)*)"
_RU_NAME = r"(?-i:[А-ЯЁ][а-яё]+(?:-[А-ЯЁ][а-яё]+)?|[A-Z][\w.&-]*)"
_MOST = 3


def names_in(plain: str, language: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """The names that a sentence is about, in order, at most three; `known` were named before in the conversation.

    Only what stands where a name must stand counts: after "my sister", before "lives", after "called". A capital letter
    alone proves nothing, least of all at the beginning of a sentence.
    """
    marked = [read_name(match[0]) for match in re.finditer(rf"(?<![\w@./]){AT_NAME}|{WIKI_NAME}", plain)]
    find = {"en": _english, "ru": _russian, "zh": _chinese}[language]
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


def _english(plain: str) -> list[str]:
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


def _russian(plain: str) -> list[str]:
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


def _chinese(plain: str) -> list[str]:
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


def begins_with_name(plain: str, language: str) -> bool:
    """True for a sentence that begins with a name and what names do: "Curlew uses", «Костя отвечает»."""
    return bool(starts(language, "name_start").match(plain))
