"""Relations that have one value at a time, in English, Russian and Chinese, and the words that undo them: data only."""

from __future__ import annotations

__all__ = [
    "BARE_TITLES",
    "CASED",
    "CITIES",
    "COUNTRIES",
    "DATES",
    "HAN_NO_FIRM",
    "HAN_NO_PLACE",
    "HAN_TITLES",
    "HEDGES",
    "HEDGES_HAN",
    "RULES",
    "RULES_HAN",
    "SECOND_CLAUSE",
    "SOFTWARE",
    "STATES",
    "TITLES_RU",
    "WORKS",
]  # fmt: skip

# One rule a line: key | frame | value | what stands before the value. A `|` inside parentheses separates choices.
# Frames: verb "NAME … value"; noun "NAME's …: value" or "… of NAME is value"; whole: the value stands at {}.
# The first word of each choice (or what stands in <angle brackets>) is what a line must hold to be looked at.
RULES = """
city | verb | place | <lives|resides> (?:permanently )?in
city | verb | place | is (?:now |currently |still )?(?:<living|residing|based>) in
city | noun | place | (?:home )?<city>
country | noun | place | <country>(?: of residence)?
employer | verb | name | <works> (?:at|for)
employer | verb | name | is (?:now |currently |still )?(?:<working>) (?:at|for)
employer | verb | name | is (?:now |currently |still )?<employed> (?:by|at)
employer | noun | name | <employer>
role | verb | job | (?:<works>|is <working>|is <employed>) as (?:an? |the )?
role | verb | title | is (?:(?:now|currently|still) (?:an? |the )?(?:new )?|the (?:new |current )?|our (?:new )?)?<=titles>
role | noun | any | <role|job title|occupation>
status | noun | any | <status>
status | verb | state | is (?:(?:now|currently|still) )?<=states>
version | noun | version | (?:(?:current|latest|newest|stable) )?(?:stable )?<release|version>(?: number)?
version | verb | version | is (?:(?:now|currently|still) )?(?:at|on) <version|release>
owner | noun | name | (?:product |code |data |process )?<owner>
owner | verb | name | is (?:(?:now|currently) )?<owned> by
manager | noun | name | (?:line |direct )?<manager|boss|supervisor>
manager | verb | name | <reports> (?:directly )?to
deadline | noun | date | (?:final |new |hard )?<deadline|due date>
deadline | verb | date | is (?:(?:now|currently|still) )?<due> (?:on|by)
db | noun | name | (?:main |primary |production )?<database|db|datastore>
db | whole | name | <uses> {} as (?:its|the) (?:main |primary |production |only )?(?:database|db|datastore|data store)
db | verb | name | <stores|keeps> (?:its|all(?: its)?|the) data in
host | verb | name | is (?:(?:now|currently|still) )?<hosted> (?:on|at)
license | noun | name | <license|licence>
license | verb | name | is <licensed|licenced> under (?:the )?
birthday | noun | date | <birthday|birth date|date of birth>
birthday | verb | date | was <born> on
age | whole | number | is (?:now )?{} <years> old
phone | noun | phone | (?:<phone|mobile|cell|telephone>)(?: phone)?(?: number)?
email | noun | email | <email|e-mail>(?: address)?
address | noun | number | (?:home |postal )<address>
timezone | noun | any | <timezone|time zone>
timezone | whole | name | is in the {} <timezone|time zone>
spouse | noun | name | <wife|husband|spouse>
spouse | verb | name | is (?:now )?<married> to
city | verb | place | (?:<живет|проживает|обитает>) во?
city | noun | place | <город>
employer | verb | firm | <работает|трудится> (?:во?|на)
employer | noun | name | <работодатель>
role | verb | job_ru | <работает>
role | verb | any | <занимает> должность
role | noun | any | <должность>
status | noun | any | (?:текущий )?<статус>
version | noun | version | (?:(?:текущ|последн|актуальн|нынешн|стабильн)\\w+ )?<версия|релиз>
owner | noun | name | <владелец|владелица|хозяин|хозяйка|ответственный|ответственная>
owner | verb | name | <принадлежит>
manager | noun | name | (?:непосредственный )?<руководитель|начальник|начальница|менеджер>
manager | verb | name | <подчиняется>
deadline | noun | date | (?:крайний |конечный |новый )?<срок|дедлайн>(?: сдачи| выпуска)?
db | noun | name | (?:основная )?<база|бд|субд>(?: данных)?
db | whole | name | <использует> {} (?:как|в качестве) (?:основной |основную |единственной )?баз[уы] данных
db | verb | name | <хранит> (?:свои |все |все свои )?данные в
license | noun | name | <лицензия>
birthday | noun | date | <день|дата> рождения
birthday | verb | date | <родился|родилась>
phone | noun | phone | (?:номер )?<телефон|телефона|мобильный>
email | noun | email | (?:электронная )?<почта|e-mail|email|имейл>
address | noun | number | (?:домашний |почтовый )?<адрес>
timezone | noun | any | <часовой> пояс
spouse | noun | name | <жена|муж|супруг|супруга>
spouse | verb | name | <женат|замужем> (?:на|за)
"""

# The same for Chinese, where the words stand without spaces: key | frame | value | words.
RULES_HAN = """
city | verb | place | 居住在 住在 居住于 定居在 常住
city | noun | place | 居住地 所在城市 居住城市
employer | verb | any | 就职于 任职于 供职于 受雇于
employer | around | firm | 在 (?:工作|上班|任职|就职)
employer | noun | any | 雇主 工作单位 就职公司
role | verb | title | 担任 现任
role | noun | any | 职位 职务 岗位
status | noun | any | 当前状态 目前状态 状态
version | noun | version | 当前版本 最新版本 目前版本 现在的版本 现行版本 版本号
owner | noun | any | 负责人 所有者 拥有者 归属人
owner | around | any | 归 所有
manager | noun | any | 直属上司 上司 直属领导 主管
deadline | noun | date | 截止日期 截止时间 截止日 最后期限 交付日期 到期日
db | noun | any | 数据库用的 数据库
db | around | any | (?:使用|用|采用) (?:作为|做|当作|当)(?:主)?数据库
license | noun | any | 许可证
birthday | noun | date | 生日 出生日期
birthday | verb | date | 出生于 生于
phone | noun | phone | 电话号码 电话 手机号码 手机号
email | noun | email | 邮箱地址 电子邮箱 邮箱 电子邮件
address | noun | number | 家庭住址 家庭地址 通讯地址
timezone | noun | any | 时区
spouse | noun | any | 妻子 丈夫 配偶 太太 老公 老婆
"""

# Titles that one person holds once, after "is" without an indefinite article; a complement ("of …") undoes the second half.
BARE_TITLES = (
    "ceo|cto|cfo|coo|cio|ciso|cmo|cpo|president|chairman|chairwoman|chairperson|principal|dean|rector|"
    "lead|leader|manager|director|head|captain|coordinator|supervisor|engineer|developer|designer|architect|analyst|"
    "scientist|administrator|consultant|intern|trainee|volunteer|secretary|treasurer|editor|accountant|officer"
)
WORKS = (
    r"teacher|nurse|doctor|lawyer|baker|barista|waiter|waitress|driver|pilot|chef|cook|carpenter|electrician|plumber|"
    r"translator|writer|journalist|photographer|librarian|researcher|professor|lecturer|therapist|dentist|pharmacist|"
    r"gardener|mechanic|programmer|salesperson|receptionist|freelancer|contractor|paramedic|firefighter|ranger|biologist"
)
TITLES_RU = (
    r"(?:\w+(?:ым|им|ой|ей|-)\s+)?(?:инженером|разработчиком|программистом|менеджером|директором|руководителем|учителем|"
    r"учительницей|врачом|медсестрой|аналитиком|дизайнером|архитектором|администратором|бухгалтером|юристом|поваром|"
    r"водителем|продавцом|переводчиком|переводчицей|журналистом|журналисткой|редактором|библиотекарем|орнитологом|"
    r"волонтером|тимлидом|техлидом|техником|электриком|механиком|стажером|тестировщиком|исследователем|преподавателем)\b"
)
HAN_TITLES = "经理|总监|主管|工程师|组长|主任|校长|院长|总裁|总经理|董事长|秘书|顾问|教练|老师|教授|编辑|会计|CEO|CTO|CFO|COO|负责人|队长|站长|店长"
STATES = (
    r"active|inactive|paused|on hold|blocked|in progress|in beta|in alpha|in review|in production|in development|in maintenance"
    r"|deprecated|archived|cancelled|canceled|completed|complete|finished|done|shipped|released|abandoned|frozen|suspended"
    r"|discontinued|retired|live|offline|online"
)
DATES = (
    r"\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tues|wednes|thurs|fri|satur|sun)[a-z]*\b|tomorrow|today|next |"
    r"the (?:end|first|last|\d)|end of|январ|феврал|март|апрел|ма[йя]\b|июн|июл|август|сентябр|октябр|ноябр|декабр|понедельник|"
    r"вторник|сред[ауы]\b|четверг|пятниц|суббот|воскресень|завтра|конец|周|星期|下|本|月底|年底|[一二三四五六七八九十]+月"
)
# Words that stand in lower case only, or the sentence means a month or a person: may, will.
CASED = r"\b(?:may|will|might)\b"
HEDGES = (
    r"\?|\b(?:if|unless|provided|assuming|whenever|maybe|perhaps|probably|possibly|apparently|reportedly|allegedly|supposedly|presumably"
    r"|likely|seems?|could|would|should|temporar\w+|for now|sometimes|occasionally|part of the (?:year|week|time)|half|"
    r"weekdays|weekends|(?:in|for|during) (?:the )?(?:summers?|winters?|spring|autumn|fall)|also|among others|one of|not sure|"
    r"rumou?r\w*|says|said|claims?|according|i think|i guess|not (?:yet|really|any ?more)|no longer$|no more$|anymore$"
    r"|two|both|several|many"
    r"|если|возможно|наверное|наверно|вероятно|кажется|вроде|похоже|видимо|якобы|говорят|может|пока|временно|иногда|летом|зимой|"
    r"тоже|также|бы|ли|скорее всего|по слухам|по словам|наполовину|больше не|уже не)\b"
)
HEDGES_HAN = "？|吗|如果|假如|要是|除非|可能|也许|或许|大概|似乎|好像|据说|听说|应该|暂时|临时|有时|之一|还是|打算|想要|希望|计划|曾|不再|不是|没有|未|别|夏天|冬天|周末|说[：“]"
# A second statement behind the first: closing the line would close both.
SECOND_CLAUSE = (
    r"\b(?:and|but|while|whereas)\s+(?:also |now |then )?(?:he|she|it|they|is|was|has|had|does|works?|lives?|plays?|likes?|loves?|"
    r"hates?|owns?|runs?|uses?|speaks?|studies|prefers?|teaches|writes?|keeps?|reports?|manages?|leads?|wants?|plans?|\w+s (?:in|at|for|on|to|as|the|an?|his|her|its))\b"
    r"|\b(?:и|а|но)\s+(?:он|она|они|\w{2,}(?:ет|ит|ют|ят|ает|яет))\b"
    r"|[，；、,]?(?:并且|并|而且|同时|但是?|不过|也)"
)
HAN_NO_PLACE = (
    r"^(?:[这那哪我你您他她它自父母爷奶哥姐弟妹朋同同事新旧老大小某一二两四五六七八九几]|三(?!亚|门|明)|十(?!堰))"
    r"|(?:楼|层|室|号|校|店|房|边|下|寓|宿舍|院|厅|里|附近|旁|间|屋|区里|城里|乡下|国外|外地|老家|农村|郊区|家|船|车|洞|树上|山上|岛上|街|路)$"
)
HAN_NO_FIRM = r"^[这那哪我你您他她它自]|(?:家|里|上|下|边|楼|室|店|间|外地|国外|海外|当地|本地|附近|晚上|白天|一起|线上|区|县|镇|村|岛|省|州|街|路|工地|现场|前线|一线|后台|电脑)$"
# "Lives in Germany" does not end "lives in Berlin": countries fill a slot of their own. Stems for Russian cases.
COUNTRIES = """
afghanistan albania algeria america andorra angola argentina armenia australia austria azerbaijan bahrain bangladesh belarus
belgium bolivia bosnia botswana brazil britain bulgaria cambodia cameroon canada chile china colombia croatia cuba cyprus
czechia denmark ecuador egypt england estonia ethiopia europe finland france gambia georgia germany ghana greece greenland
guatemala guinea haiti holland honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan
kazakhstan kenya korea kuwait kyrgyzstan laos latvia lebanon libya liechtenstein lithuania macedonia malaysia mali malta mexico
moldova mongolia montenegro morocco mozambique myanmar namibia nepal netherlands nicaragua niger nigeria norway oman pakistan
panama paraguay peru philippines poland portugal qatar romania russia rwanda scotland senegal serbia slovakia slovenia somalia
spain sudan sweden switzerland syria taiwan tajikistan tanzania thailand tunisia turkey turkmenistan uganda uk ukraine uruguay
us usa uzbekistan venezuela vietnam wales yemen zambia zimbabwe africa asia scandinavia california texas florida bavaria siberia
австрали австри азербайджан америк англи аргентин армени белорусси беларус бельги болгари бразили великобритани венгри вьетнам
германи голланди греци грузи дани европ египет египт израил инди индонези ирланди исланди испани итали казахстан канад кипр китай кита
коре кыргызстан латви литв мексик молдов монголи нидерланд норвеги польш португали росси румыни серби словаки словени сша таджикистан
таиланд тунис турци узбекистан украин финлянди франци хорвати черногори чехи чили швейцари швеци шотланди эстони япони
中国 美国 英国 法国 德国 俄罗斯 日本 韩国 朝鲜 印度 加拿大 澳大利亚 新西兰 意大利 西班牙 葡萄牙 荷兰 比利时 瑞士 瑞典 挪威 芬兰 丹麦 波兰 捷克
奥地利 匈牙利 希腊 土耳其 以色列 埃及 巴西 阿根廷 墨西哥 智利 泰国 越南 马来西亚 印度尼西亚 菲律宾 爱尔兰 冰岛 乌克兰 白俄罗斯 爱沙尼亚 拉脱维亚
立陶宛 欧洲 亚洲 非洲 台湾
"""

# «Работает в Москве», 在北京工作 name a town, «работает в Docker» a program: none of them is an employer.
CITIES = """
москв петербург санкт питер новосибирск екатеринбург казан нижн челябинск самар омск ростов уф красноярск воронеж перм волгоград
краснодар саратов тюмен тольятти ижевск барнаул ульяновск иркутск хабаровск ярославл владивосток махачкал томск оренбург
кемерово новокузнецк рязан астрахан пенз липецк киров чебоксар тул калининград курск сочи ставропол твер магнитогорск иваново
брянск белгород сургут владимир чит архангельск калуг смоленск вологд череповец мурманск якутск псков новгород петрозаводск
минск киев одесс львов харьков риг таллин тарту вильнюс каунас алмат астан ташкент бишкек тбилис батум ереван баку кишинев
берлин мюнхен гамбург лейпциг дрезден вен праг париж лион лондон манчестер дублин рим милан мадрид барселон лиссабон порту
амстердам роттердам брюссел антверпен гент варшав краков будапешт белград загреб софи афин стамбул хельсинк стокгольм осло
копенгаген цюрих женев берн нью йорк бостон чикаго токио пекин шанха сеул дубай тел иерусалим хайф сингапур
北京 上海 广州 深圳 天津 重庆 成都 杭州 武汉 西安 南京 苏州 长沙 郑州 青岛 大连 宁波 厦门 沈阳 哈尔滨 长春 济南 合肥 福州 昆明 南昌 贵阳 南宁 太原
石家庄 兰州 乌鲁木齐 呼和浩特 海口 三亚 拉萨 银川 西宁 无锡 常州 扬州 镇江 南通 徐州 温州 绍兴 嘉兴 金华 佛山 东莞 珠海 中山 惠州 泉州 烟台 洛阳
桂林 香港 澳门 台北 高雄 柏林 慕尼黑 汉堡 巴黎 里昂 伦敦 曼彻斯特 罗马 米兰 马德里 巴塞罗那 里斯本 波尔图 阿姆斯特丹 布鲁塞尔 维也纳 布拉格 华沙
莫斯科 圣彼得堡 里加 塔林 赫尔辛基 斯德哥尔摩 奥斯陆 哥本哈根 苏黎世 日内瓦 纽约 波士顿 芝加哥 旧金山 洛杉矶 西雅图 东京 大阪 京都 首尔 新加坡 曼谷
悉尼 墨尔本 多伦多 温哥华 迪拜 雅典 伊斯坦布尔 都柏林
"""
SOFTWARE = """
android ansible apache aws azure bash blender chrome debian discord docker edge emacs excel figma firefox gcc git github gitlab
ide illustrator ios java jira jupyter kafka kubernetes linux macos matlab mysql nginx node notion numpy opera outlook photoshop
php postgres postgresql powershell python redis rust safari sap slack sql sqlite teams telegram terminal tmux ubuntu unity
vim visual vscode web whatsapp windows word wsl x86 zoom 1с
"""
