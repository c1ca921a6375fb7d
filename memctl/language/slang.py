"""Other words for the same thing: slang, short forms and translations of engineering words, and names of slots.

One group a line, spellings with commas between; one of several words is a phrase. `~` marks what is understood in a
question and never looked for, because it mostly means something else; `+` the reverse. Read by `language/synonyms.py` for the question only,
so the index does not depend on it; a workspace may add groups of its own.
Left out: words that usually mean something else (base, key, pod, node, branch, main, chart, job).
"""

from __future__ import annotations

__all__ = ["GROUPS"]

GROUPS = """
kubernetes, k8s, kube, кубер, кубернетес, кубернетис, 库伯内特斯
docker, докер, докера
postgres, postgresql, pgsql, постгрес, постгре, постгря, ~слон
mongodb, mongo, монга, монго, монгодб
mysql, ~мускул, мускуль, майскл, майэскуэль
sqlite, скулайт, эскулайт
clickhouse, кликхаус, клик хаус
elasticsearch, эластик, эластиксерч
redis, редис, ~редиска
kafka, кафка, 卡夫卡
rabbitmq, ~кролик, рэббит, рабит
nginx, нгинкс, энджинкс, энжинкс
github, гитхаб, гитхап
gitlab, гитлаб
git, гит
jenkins, дженкинс
terraform, терраформ
ansible, ансибл
grafana, графана
prometheus, ~прометей, прометеус, 普罗米修斯
jira, джира, жира
confluence, конфлюенс, ~конфа
slack, слак, слэк
telegram, телеграм, ~телега, ~тг, tg, 电报
python, питон, пайтон, ~py
javascript, ~js, джаваскрипт, жс
typescript, ~ts, тайпскрипт
java, джава, ~жаба, ~ява
golang, го ланг, голанг
rust, раст
c++, cpp, ~плюсы, си плюс плюс
c#, csharp, ~шарп, си шарп
linux, линукс, линух
ubuntu, убунту
windows, винда, виндовс, виндоус
macos, mac os, макось
firefox, ~лиса, огнелис, 火狐
chrome, хром
vscode, vs code, visual studio code, вскод
excel, эксель
google, гугл, 谷歌
microsoft, майкрософт, мелкософт, 微软
~apple, эппл, ~苹果
amazon web services, aws, авс, ~амазон
android, андроид, ведроид, 安卓
iphone, айфон
react, реакт
angular, ангуляр
vue, вью, вуе
django, джанго
database, databases, db, бд, субд, база данных, база, 数据库, 资料库
server, сервер, 服务器, 伺服器
client, клиент, 客户端
frontend, front end, фронт, фронтенд, 前端
backend, back end, бэк, бэкенд, бекенд, 后端
production, prod, прод, продакшн, продакшен, боевая среда, 生产环境, 正式环境, ~线上
staging, стейдж, стейджинг, предпрод, preprod, 预发布, 预发环境
development, dev, разработка, 开发
deploy, deployment, rollout, деплой, задеплоить, выкатка, выкат, раскатка, развертывание, 部署, 上线
rollback, roll back, откат, 回滚
release, релиз, 发布, 发版
repository, repo, репозиторий, репо, ~репа, 仓库, 代码库
pull request, pr, merge request, mr, пулл-реквест, пуллреквест, пул-реквест, ~пр, ~мр, мерж-реквест, 拉取请求, 合并请求
merge, мерж, мердж, слияние, 合并
commit, коммит, 提交
code review, ревью, код-ревью, 代码审查, 代码评审
config, configuration, cfg, конфиг, конфигурация, настройки, 配置, 设定
settings, настройки, 设置
auth, authentication, authn, авторизация, аутентификация, логин, 认证, 身份验证, 登录
authorization, authz, permissions, авторизация, права доступа, 授权, 权限
password, passwd, пароль, 密码, 口令
token, токен, 令牌
environment, env, окружение, среда, 环境
infrastructure, infra, инфраструктура, инфра, 基础设施, 基础架构
performance, perf, производительность, перф, 性能
latency, задержка, латентность, 延迟
monitoring, мониторинг, 监控
logs, logging, логи, журналы, 日志
metrics, метрики, 指标
alert, алерт, оповещение, 告警, 报警
incident, outage, инцидент, авария, сбой, 故障, 事故
bug, баг, ошибка, дефект, 缺陷
error, ошибка, 错误
exception, исключение, эксепшн, 异常
fix, фикс, исправление, 修复
hotfix, хотфикс, 热修复
feature, фича, функция, 功能, 特性
feature flag, feature toggle, фичефлаг, фича-флаг, 功能开关
test, тест, 测试
refactoring, рефакторинг, 重构
tech debt, technical debt, техдолг, технический долг, 技术债, 技术债务
legacy, легаси, наследие, 遗留
architecture, архитектура, арх, 架构
microservice, microservices, микросервис, 微服务
monolith, монолит, 单体
api, апи, эндпоинт, ~ручка, 接口
endpoint, эндпоинт, ~ручка, 端点, 接口
cache, кэш, кеш, 缓存
queue, очередь, 队列
cluster, кластер, 集群
container, контейнер, 容器
virtual machine, vm, виртуалка, виртуальная машина, 虚拟机
image, образ, 镜像
backup, бэкап, бекап, резервная копия, 备份
migration, миграция, 迁移
dependency, dependencies, deps, зависимость, зависимости, 依赖
package, пакет, 软件包
library, lib, либа, библиотека, 软件库
framework, фреймворк, 框架
documentation, docs, документация, дока, доки, 文档
requirements, требования, тз, 需求
+specification, spec, specs, спека, спецификация, тз, 规范
script, скрипт, 脚本
pipeline, ci, пайплайн, ~сборка, 流水线, 持续集成
build, билд, ~сборка, 构建
certificate, cert, сертификат, серт, 证书
encryption, шифрование, 加密
security, безопасность, 安全
vulnerability, vuln, уязвимость, ~дыра, 漏洞
network, сеть, 网络
proxy, прокси, 代理
firewall, файрвол, брандмауэр, 防火墙
load balancer, ~lb, балансировщик, балансер, 负载均衡
cloud, облако
storage, хранилище, 存储
memory leak, утечка памяти, 内存泄漏
memory, ram, оперативка, ~память, 内存
thread, поток, тред, 线程
function, функция, 函数
variable, переменная, 变量
algorithm, алгоритм, 算法
machine learning, ml, машинное обучение, 机器学习
artificial intelligence, ~ai, ии, искусственный интеллект, 人工智能
large language model, llm, языковая модель, 大模型, 大语言模型
neural network, нейросеть, нейронка, 神经网络
user interface, ui, интерфейс, 用户界面
ticket, тикет, 工单
task, задача, таск, таска, 任务
sprint, спринт, 冲刺
standup, стендап, дейлик, daily, 站会
meeting, созвон, встреча, митинг, совещание, 会议
roadmap, роадмап, дорожная карта, 路线图
on-call, oncall, дежурство, 值班
admin, administrator, админ, администратор, 管理员
devops, девопс, 运维
developer, dev, разработчик, программист, 开发者, 程序员
team lead, тимлид, 组长
manager, менеджер, начальник, 经理
customer, client, заказчик, клиент, 客户
contract, договор, контракт, 合同
budget, бюджет, 预算
invoice, счет, инвойс, 发票
price, цена, стоимость, 价格
salary, зарплата, оклад, зп, 工资, 薪水
deadline, due date, дедлайн, ~срок, 截止日期, 期限
version, версия, 版本
status, статус, состояние, 状态
owner, владелец, ответственный, 负责人, 所有者
role, роль, должность, 角色, 职位
team, команда, 团队
company, employer, компания, работодатель, 公司
city, town, город, 城市
country, страна, 国家
address, адрес, 地址
home, ~дом
email, e-mail, mail, почта, имейл, ~мыло, 邮箱, 邮件, 电子邮件
phone, telephone, телефон, 电话, 手机
language, язык, 语言
timezone, time zone, часовой пояс, 时区
birthday, date of birth, день рождения, ~др, 生日
name, ~имя, 名字, 姓名
nickname, прозвище, ~ник, 昵称
age, возраст, 年龄
diet, диета, питание, 饮食
allergy, аллергия, 过敏
hobby, хобби, увлечение, 爱好
pet, питомец, 宠物
car, машина, авто, 汽车
editor, редактор, 编辑器
keyboard, клавиатура, клава, 键盘
laptop, notebook, ноутбук, ноут, 笔记本电脑
monitor, монитор, 显示器
phone number, номер телефона, 电话号码
license, licence, лицензия, 许可证
"""
