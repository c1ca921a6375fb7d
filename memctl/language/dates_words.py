"""The words of time expressions in English, Russian and Chinese, and the orders that make a date of them: data only."""

from __future__ import annotations

__all__ = ["FRONT", "PLAIN_HAN", "RULES", "SHY", "SHY_ALONE", "SHY_LOWER", "TRADITIONAL", "WORDS"]

# One line a meaning: class, value, words. `март//а/е` is a stem with its endings ("" first).
# Units: 0 hour, 1 day, 2 week, 3 month, 4 quarter, 5 year, 6 weekend. Months of a half-year: first * 100 + count.
# An opener's value is 1 when a bare year may follow it ("since 2020", but «с 2020» may be "with 2020 ...").
WORDS = """
month_en 1 january jan
month_en 2 february feb
month_en 3 march mar
month_en 4 april apr
month_en 5 may
month_en 6 june jun
month_en 7 july jul
month_en 8 august aug
month_en 9 september sept sep
month_en 10 october oct
month_en 11 november nov
month_en 12 december dec
month_ru 1 январ/ь/я/е/ю/ем янв
month_ru 2 феврал/ь/я/е/ю/ем фев февр
month_ru 3 март//а/е/у/ом мар
month_ru 4 апрел/ь/я/е/ю/ем апр
month_ru 5 ма/й/я/е/ю/ем
month_ru 6 июн/ь/я/е/ю/ем
month_ru 7 июл/ь/я/е/ю/ем
month_ru 8 август//а/е/у/ом авг
month_ru 9 сентябр/ь/я/е/ю/ем сен сент
month_ru 10 октябр/ь/я/е/ю/ем окт
month_ru 11 ноябр/ь/я/е/ю/ем ноя нояб
month_ru 12 декабр/ь/я/е/ю/ем дек
weekday 0 monday mon понедельник//а/у пн
weekday 1 tuesday tue tues вторник//а/у вт
weekday 2 wednesday wed сред/а/у/ы/е ср
weekday 3 thursday thu thur thurs четверг//а/у чт
weekday 4 friday fri пятниц/а/у/ы/е пт
weekday 5 saturday sat суббот/а/у/ы/е сб
weekday 6 sunday sun воскресень/е/я/ю вс
weekday_zh 0 周一 星期一 礼拜一
weekday_zh 1 周二 星期二 礼拜二
weekday_zh 2 周三 星期三 礼拜三
weekday_zh 3 周四 星期四 礼拜四
weekday_zh 4 周五 星期五 礼拜五
weekday_zh 5 周六 星期六 礼拜六
weekday_zh 6 周日 星期日 星期天 礼拜日 礼拜天
season 3 spring весн/а/ой/ы/у 春天 春季
season 6 summer лет/о/ом/а 夏天 夏季
season 9 autumn fall осен/ь/ью/и 秋天 秋季
season 12 winter зим/а/ой/ы/у 冬天 冬季
half 106 上半年
half 706 下半年
unit 0 hour hours час//а/ов 小时 个小时
unit 1 day days день дня дней дню сутки суток 天 日
unit 2 week weeks недел/я/ю/и/ь/е 周 星期 个星期 礼拜 个礼拜
unit 3 month months месяц//а/ев/е 个月
unit 4 quarter quarters квартал//а/ов 个季度
unit 5 year years год//а/у лет 年
ago_zh 0 小时前 个小时前
ago_zh 1 天前
ago_zh 2 周前 星期前 个星期前 礼拜前
ago_zh 3 个月前
ago_zh 5 年前
once 0 час
once 1 день
once 2 неделю
once 3 месяц
once 5 год
months 6 полгода 半年
cal 2 week недел/я/ю/и/е/ей 周 星期 礼拜
cal 3 month месяц//а/е/ем 月 月份
cal 4 quarter квартал//а/е 季度
cal 5 year год//а/у 年 年度
cal 6 weekend выходн/ые/ых 周末
god 0 год//а/у/ы/ах гг
god_zh 0 年 年度
god_abbr 0 г
month_zh_mark 0 月 月份
day_zh_mark 0 日 号
yearword 0 year
quarterword 0 quarter квартал//а/е 季度
di 0 第
ord 1 first перв/ый/ом/ого i
ord 2 second втор/ой/ом/ого ii
ord 3 third трет/ий/ьем/ьего iii
ord 4 fourth четверт/ый/ом/ого iv
rel -2 позапрошл/ый/ая/ое/ой/ого/ом/ую/ые/ых/ым 上上 上上个
rel -1 last previous прошл/ый/ая/ое/ой/ого/ом/ую/ые/ых/ым предыдущ/ий/ая/ей/его/ем/ую/ие/их 上 上个 上一 上一个
rel 0 this current эт/от/а/о/ой/ого/ом/у/и/их/им текущ/ий/ей/его/ем/ую 这 这个 本
rel 1 next следующ/ий/ая/ей/его/ем/ую/ие/их/им будущ/ий/ей/его/ем 下 下个 下一 下一个
rel 2 下下 下下个
past 0 last past previous последн/ие/их 最近 近 过去
past_one 0 past последн/юю/ий/ей/его
ahead 0 next coming следующ/ие/их ближайш/ие/их 未来 接下来
ago 0 ago назад 前 之前 以前
later 0 后 之后
thence 0 тому
offset -3 大前天
offset -2 позавчера 前天 前日
offset -1 yesterday вчера 昨天 昨日 昨晚 昨夜
offset 0 today tonight сегодня 今天 今日 今早 今晨 今晚 今夜
offset 1 tomorrow завтра 明天 明日 明早 明晚
offset 2 послезавтра 后天
offset 3 大后天
dayword 0 day
yesterday 0 yesterday
tomorrow 0 tomorrow
offset_year -2 前年
offset_year -1 去年
offset_year 0 今年
offset_year 1 明年
offset_year 2 后年
daypart 0 night morning afternoon evening ночью утром
part 1 early начал/е/о/а
part 2 mid середин/е/а/ы/у
part 3 late кон/це/ец/ца
part_of 1 beginning start
part_of 2 middle
part_of 3 end
part_zh 1 初 上旬
part_zh 2 中旬
part_zh 3 底 末 下旬
part_year_zh 1 年初
part_year_zh 2 年中
part_year_zh 3 年底 年末
num 1 a an one один одну одна
num 2 two два две двух пару
num 3 three три трёх
num 4 four четыре четырёх
num 5 five пять пяти
num 6 six шесть шести
num 7 seven семь семи
num 8 eight восемь восьми
num 9 nine девять девяти
num 10 ten десять десяти
num 11 eleven одиннадцать
num 12 twelve двенадцать
num 20 twenty двадцать
num 30 thirty тридцать
num 60 sixty шестьдесят
num 90 ninety девяносто
in 0 in during throughout в во
on 0 on в во
prep 0 in on during over within в во на за
hence 0 in через
the 0 the
of 0 of
conn 0 to through thru till until по до 到 至
and 0 and и 和 与
since 1 since starting 自 自从
since 0 с со
until 1 until till 截至 截止 直到
until 0 by до к
by 0 by
name 0 jan april may june august
before 1 before
after 1 after
after 0 после
from 1 from 从
between 1 between
between 0 между
since_end 0 onward onwards 以来 起 以后 至今
start_end 0 开始
after_end 0 之后
before_end 0 之前 以前
until_end 0 为止
now 0 present настоящее 现在
"""

# Ordinary words too: in lower case or capitals they need a year or an ordinal; SHY, whatever their case, a full date;
# «среда» is also "environment", so SHY_ALONE needs "last" or "next".
SHY_LOWER = frozenset(["jan", "mar", "march", "apr", "may", "jun", "jul", "aug", "sep", "sept", "oct", "dec", "fall"])
SHY = frozenset(["sun", "sat", "wed", "ср", "вс"])
SHY_ALONE = frozenset(["среда", "среду", "среды", "среде"])

# Ordinary Chinese words that hide a time word at their edge: «日本|周边», «登上|月球», «聪明|天真».
PLAIN_HAN = """
日本 基本 版本 脚本 文本 样本 成本 资本 书本 剧本 副本 课本 根本 原本 一本 这本 本来
登上 赶上 加上 以上 路上 晚上 早上 网上 地上 桌上 身上 马上 爱上 遇上 世界上 实际上 基本上 上年纪 上年级
以下 之下 一下 当下 如下 地下 楼下 手下 剩下 留下 余下 这年头 这周期
周围 周边 周转 周期 周年 周岁 周折 月球 月亮 月薪 月光 年级 年龄 年轻 年代 年纪 年薪 年货
然后 最后 今后 此后 背后 先后 前后 落后 目前 提前 当前 此前 先前 面前 眼前
聪明 文明 证明 说明 透明 声明 发明 表明 光明 阐明 照明 黎明 申明 注明 标明
失去 进去 出去 下去 上去 回去 一起 起来 起诉 起点 起飞 起床 起步 起码 起草 到底 大年初
"""

# «三天|前端»: 前 opens another word when one of these follows.
FRONT = "端台期往后景进置缀面言沿锋"

TRADITIONAL = str.maketrans("週個號後這過兩從來間禮來訖開終時歲", "周个号后这过两从来间礼来讫开终时岁")

# One line an order of words: where it counts (0 anywhere, 1 after an opener or in a range, 2 only as a whole string),
# what it means, the classes. `x?` may be absent, `x|y` is a choice.
RULES = """
0 calendar (WD) a_month_en day ,? year
0 calendar (WD) the? day of? a_month ,? year
0 calendar day dash a_month dash year
0 calendar year month_en day
0 calendar (WD) month_en day clock year
0 calendar (WD) month_en day
0 calendar (WD) a_month_en nth
0 calendar (WD) day month
0 calendar (WD) the? nth of month|a_month
0 calendar (WD) the? nth a_month
0 calendar on a_month_en day
0 calendar on day a_month
0 calendar fullyear? month_zh nth?
0 calendar day conn day month
0 calendar day conn day a_month ,? year
0 calendar month_en day conn day
0 calendar a_month_en day conn day ,? year
0 calendar between day and day month year?
0 calendar between month_en day and day
0 calendar fullyear? month_zh day conn nth
0 calendar in lone
0 calendar in? a_month ,? year
0 calendar in? a_month of year
0 calendar in? part dash? month
0 calendar in? part dash? a_month year
0 calendar the? part_of of lone
0 calendar the? part_of of a_month year
0 calendar fullyear? month_zh part_zh
0 calendar year part_year_zh
0 calendar fullyear part_zh
0 calendar in? part dash? byear
0 calendar in? part of? fullyear
0 calendar the? part_of of byear|fullyear
0 calendar in byear|gyear
0 calendar in byear conn byear
0 calendar in? year conn fullyear
0 calendar in? the? yearword byear
0 calendar prep? the? fullyear
0 calendar half|q dash? ,? of? year
0 calendar year dash? half|q
0 calendar in the? q
0 calendar in? the? ord|figure quarterword of? year
0 calendar in the? ord quarterword
0 calendar fullyear di? figure quarterword
0 calendar in? season of? year
0 calendar in? a_season of year
0 calendar in a_season year
0 calendar fullyear season
0 rel_calendar in? the? rel season
0 rel_calendar in? the? rel month
0 rel_weekday prep? the? rel relday
0 rel_weekday_zh rel weekday_zh
0 rel_unit prep? the? rel cal
0 rel_unit the? cal before rel
0 rel_unit the? cal after rel
0 rel_day rel month_zh_mark nth
0 rel_part rel daypart
0 weekday on weekday
0 offset offset
0 offset_two the? dayword before yesterday
0 offset_two the? dayword after tomorrow
0 ago num unit thence? ago
0 ago once|months thence? ago
0 ago_zh num ago_zh
0 past prep? the? past num unit
0 past prep? the? past_one cal|once
0 past past months
0 ahead prep? the? ahead num unit
1 calendar lone
1 calendar byear
1 calendar gyear
1 calendar half|q
1 calendar season
1 calendar the? ord quarterword
1 calendar a_month_en day
1 calendar day a_month
1 weekday weekday|weekday_zh
2 calendar a_month
2 calendar year
2 calendar a_season
2 calendar a_month_en nth? ,? year
2 weekday a_weekday
2 past num unit
2 past once|months|span
2 later hence num unit
2 later num unit later
"""
