"""How names sound across alphabets: small tables for Cyrillic, Latin and Chinese, and the names that many people bear."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from .names import entity_key, is_han

__all__ = ["hears_as", "is_common_name", "is_surname", "reads_as"]

_CYRILLIC = str.maketrans(
    dict(zip("абвгдезийклмнопрстуфхыэіїєґў", "abvgdeziiklmnoprstufhieiiegu", strict=True))
    | {"ж": "zh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "sh", "ъ": "", "ь": "", "ю": "iu", "я": "ia", "ё": "e"}
)
# In this order: each spelling becomes the one that the table above gives to the Cyrillic name.
_LATIN = (
    ("shch", "sh"), ("kh", "h"), ("ph", "f"), ("tz", "ts"), ("ck", "k"), ("x", "ks"), ("w", "v"), ("qu", "kv"), ("q", "k"), ("'", ""), ("’", ""),
)  # fmt: skip


@cache
def _rules() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Letters of which one must be there, a pattern, its replacement."""
    found = (
        ("c", r"c(?=[eiy])", "ts"),
        ("c", r"c(?!h)", "k"),
        ("yj", r"(?<=[bdfgklmnprstvz])[yj]o", "e"),
        ("yj", r"(?:(?<=[aeiou])|^)[yj]e", "e"),
        ("yj", r"[yj]", "i"),
    )
    return tuple((letters, re.compile(pattern), by) for letters, pattern, by in found)


_DOUBLED = re.compile(r"(.)\1+")


@lru_cache(maxsize=50_000)
def hears_as(word: str) -> str:
    """A word of an `entity_key` in Latin letters that all its transliterations share: «Юлия», Julia and Yulia are `iulia`.

    Chinese characters stay, in their simplified form.
    """
    plain = word if word.isascii() else word.translate(_CYRILLIC).translate(_simplified())
    for old, new in _LATIN:
        plain = plain.replace(old, new)
    for letters, pattern, by in _rules():
        if letters[0] in plain or letters[-1] in plain:
            plain = pattern.sub(by, plain)
    return _DOUBLED.sub(r"\1", plain) or word


# Traditional and simplified, for the characters that names are made of.
_PAIRS = (
    "陳陈張张劉刘楊杨黃黄趙赵吳吴孫孙馬马蘇苏葉叶許许鄧邓馮冯鄭郑謝谢韓韩蕭萧羅罗蔣蒋葉叶賈贾鄒邹陸陆龍龙萬万錢钱湯汤賴赖龔龚"
    "麗丽愛爱華华國国偉伟強强軍军蘭兰鳳凤雲云靜静傑杰輝辉飛飞東东陽阳雙双寶宝賢贤義义禮礼齊齐學学書书貝贝爾尔亞亚瑪玛維维納纳"
    "琳琳絲丝倫伦頓顿達达喬乔約约翰翰羅罗薩萨諾诺烏乌爺爷倉仓鳥鸟鷹鹰餃饺灣湾島岛鎮镇門门庫库數数據据雞鸡魚鱼貓猫機机車车廠厂"
)


@cache
def _simplified() -> dict[int, str]:
    return {ord(old): new for old, new in zip(_PAIRS[::2], _PAIRS[1::2], strict=True)}


# Pinyin of common surnames, then of characters in given names; a Chinese name of other characters is not spelled out.
_SURNAMES = (
    "wang王汪 li李黎 zhang张章 liu刘柳 chen陈 yang杨 zhao赵 huang黄 zhou周 wu吴武伍 xu徐许 sun孙 hu胡 zhu朱祝 gao高 lin林 he何贺 guo郭 "
    "ma马 luo罗骆 liang梁 song宋 zheng郑 xie谢解 han韩 tang唐汤 feng冯 yu于余俞 dong董 xiao肖萧 cheng程 cao曹 yuan袁 deng邓 fu傅付 "
    "shen沈 zeng曾 peng彭 lv吕 su苏 lu卢陆鲁路 jiang蒋姜江 cai蔡 jia贾 ding丁 wei魏韦 xue薛 ye叶 yan严颜阎 pan潘 du杜 dai戴 xia夏 "
    "zhong钟 tian田 ren任 fan范樊 fang方 shi石史施 yao姚 tan谭 liao廖 zou邹 xiong熊 jin金 hao郝 kong孔 bai白 cui崔 kang康 mao毛 "
    "qiu邱秋 qin秦 gu顾谷 hou侯 shao邵 meng孟 long龙 wan万 duan段 lei雷 qian钱 yin尹殷 yi易 chang常 qiao乔 lai赖 gong龚宫 wen文温"
)
_GIVEN = (
    "wei伟薇巍维 fang芳 na娜 min敏民 jing静晶敬婧 li丽莉力立利理俐 qiang强 lei磊蕾 yang洋阳扬 yan艳燕岩妍 yong勇永 jun军君俊 jie杰洁 juan娟 "
    "tao涛 ming明铭 chao超 xiu秀 xia霞 ping平萍 gang刚钢 hui辉慧惠卉 ling玲凌灵 gui桂贵 lan兰岚 mei梅美 hua华花 feng凤峰锋丰 yu玉宇雨语瑜昱 "
    "xin鑫欣新心馨 bo波博 bin斌彬宾 hong红宏洪虹鸿 ying英莹颖 xue雪 lin琳霖临 dan丹 ting婷庭 ning宁 kai凯 hao浩昊皓 ran然冉 "
    "zi子梓紫 xuan轩萱宣璇 han涵晗翰寒 yi一怡艺仪毅逸奕 tian天甜田 xiang翔祥湘 peng鹏 fei飞菲 long龙 dong东冬栋 jian建健剑 guo国 "
    "zhi志智芝之 wen文雯 qing青清晴庆 chun春 qiu秋 shan山珊 shu书淑树 ai爱 jia佳嘉家 xiao小晓笑 da大达 si思斯丝 meng梦萌 ke可科珂 "
    "rui瑞睿蕊 sheng生胜声盛 ren仁 yun云芸韵 xing星兴 yue月悦越 an安 cheng成诚城 chen晨辰 hai海 he和河 jin金锦进 liang亮良 "
    "qi琪琦启奇 rong荣蓉容 shi世诗石 tong彤童桐 wan婉 xi希熙曦西 ya雅亚 ye叶夜 zhen珍真振 zhou舟洲 ze泽 mo墨 nan楠南 xian贤仙 bao宝 de德 fu福富"
)


@cache
def _pinyin() -> tuple[dict[str, str], dict[str, str]]:
    """The syllable of each character, for surnames and for given names."""
    surnames, given = (
        {char: syllable for syllable, chars in re.findall(r"([a-z]+)([^a-z\s]+)", table) for char in chars}
        for table in (_SURNAMES, _GIVEN)
    )
    return surnames, surnames | given


def is_surname(char: str) -> bool:
    """True for a Chinese character that is a common surname, traditional or simplified."""
    return char.translate(_simplified()) in _pinyin()[0]


def reads_as(name: str) -> Iterator[str]:
    """What a Chinese name of two or three characters, or a Latin or Cyrillic one of two or three words, may be in pinyin.

    `surname given`, and for words, of which either may be the surname, the other way round too.
    """
    if 2 <= len(name) <= 3 and all(map(is_han, name)):
        plain = name.translate(_simplified())
        surnames, given = _pinyin()
        if plain[0] in surnames and all(char in given for char in plain[1:]):
            yield f"@{surnames[plain[0]]} {''.join(given[char] for char in plain[1:])}"
        return
    words = entity_key(name).translate(_CYRILLIC).split()
    if len(words) in (2, 3) and all(word.isascii() and word.isalpha() and len(word) < 12 for word in words):
        yield f"@{words[0]} {''.join(words[1:])}"
        yield f"@{words[-1]} {''.join(words[:-1])}"


_COMMON = """
aleksandr alexander alexandra alexandre andersen anderson andersson andrea andreas andrei andrew angela angelo anthony
antonia antonio barbara beatrice benjamin bernard bernhard brandon camila carlos carmen carolina caroline catherine
charles charlotte christensen christian christiansen christina christine christopher claudia daniel daniela daniele
danielle dennis dominic dominik eduard edward eleanor elena elisabeth elizabeth emilia evelyn fabian fabien frances
francesca francesco francis francisco frederic frederick gabriel gabriela gabriele gerald gerard gerhard giovanni gregory
hannah hansen hanson harold helena helene henrik herbert isabel isabella isabelle jansen janson janssen jasmin jasmine
jeffrey jennifer jensen jeremy jessica joanna johann johanna johannes johansen johansson johnson johnston jonathan
joseph josephine joshua judith julian juliana julien juliet justin justine karina karolina katarina katerina katharina
katherine kathleen kathryn kirsten kristen kristin kristina larsen larson larsson laurence lawrence leonard leonardo
lilian lillian louisa louise manuel manuela marcel marcus margaret margarita marian mariana marianne marilyn marina
marion marius markus marlene marten martha martin martina matilda matthew matthias maureen maurice maxime melanie
melissa michael michaela michal michel michele michelle mikael mikhail milena miranda miriam mirjam monica monika natalia
natalie natasha nathan nelson nicholas nicola nicolas nicole nielsen nikita nikolai norman oliver olivia olsen olson
patricia patrick patrik pauline pavlova pedersen petersen peterson philip philippe phillip raphael rebecca regina
richard robert roberta roberto roland romana ronald rosalie rosalind rosanna roxana roxanne rudolf rudolph sabina
sabine samuel sandra sandro sebastian serena sergei sergey shannon sharon silvia simeon simona simone sophia sophie
stefan stefania stefano stephan stephanie stephen steven stewart stuart susanna susanne svetlana sylvia tamara tatiana
teresa theodor theodore theresa thomas timothy tobias valentin valentina valeria valerie valery vanessa veronica victor
victoria viktor vincent violet virginia vivian vladimir vladislav walter wesley wilhelm william yaroslav stanislav
rostislav miroslav bronislav vyacheslav timofei timur dmitri evgeni evgenia anatoli arkadi gennadi grigori
"""


@cache
def _common() -> frozenset[str]:
    return frozenset(map(hears_as, _COMMON.split()))


def is_common_name(word: str) -> bool:
    """True for a name of six letters or more that many people bear: two such are two people, however alike."""
    return hears_as(word) in _common()
