"""Rows about decisions: what is near, what only looks near, which copy stays, and what must not stop or fool a run."""

from messy_model import DUPLICATE_ID, EMPTY, Group, drop, keep, quarantine

EARNINGS = (
    "云峰机械今日披露2023年第{quarter}季度主要经营数据：营业收入{sales}亿元，同比增长{growth}%，净利润{profit}亿元。公司表示，本期经营情况总体平稳，主要产品产销两旺，"
    "原材料价格波动对毛利率的影响可控。公司将继续推进生产线的自动化改造，压缩库存周转天数，加大研发投入，稳步拓展海外市场，同时严格控制各项费用，保持现金流充裕。公司同时提醒，以上数据由内部统计得出，"
    "未经会计师事务所审计，可能与定期报告披露的数据存在差异，具体以正式披露的定期报告为准，敬请广大投资者谨慎决策，注意投资风险。特此公告。云峰机械股份有限公司董事会。"
)
RATES = (
    "银行间外汇市场今日公布人民币汇率中间价：1美元对人民币{usd}元，1欧元对人民币{eur}元。中间价由外汇交易中心在每个工作日开盘前，向各报价商询价以后计算得出，"
    "去掉最高和最低的报价，再把其余报价加权平均。即期交易价可以在中间价上下规定的幅度内浮动。"
    "各商业银行挂牌的买入价和卖出价由银行自行确定，与中间价会有出入，居民购汇结汇请以网点当时的牌价为准，大额兑换最好提前预约。"
)
MATCH = (
    "市业余足球联赛昨晚在工人体育场结束了一场焦点战，青石队{home}比{away}击败临河队。比赛从一开始就打得难解难分，双方在中场反复争夺，门将多次做出精彩扑救。"
    "主教练赛后说，队员执行了赛前的布置，体能分配得也好，接下来要抓紧恢复，准备下一轮比赛。球迷在看台上一直唱到散场，志愿者引导大家有序离开。"
)
TRAIN = (
    "受强降雨影响，{train}次列车今日晚点{late}分钟，预计{arrival}到达青石东站，请旅客合理安排行程。车站已经延长候车室的开放时间，并安排了热水和简餐。"
    "需要改签或者退票的旅客，可以在车站窗口、自动售票机和手机客户端办理，不收手续费；已经检票上车的旅客请听从列车员的安排，照看好随身行李和同行的老人孩子。"
    "列车恢复正点的时间取决于雨势和线路检查的结果，最新消息会在站内大屏和广播里滚动发布，由此带来的不便，车站表示歉意。"
)
ADDRESS = (
    "城西社区卫生服务中心的接种门诊从下周一起迁到解放路{number}号，原址不再接待。新门诊分开设置了登记、候诊、接种和留观区，每天上午八点开始取号，中午不休息。"
    "带孩子来的家长请带上接种证，体温异常的孩子请先到隔壁的发热门诊看医生；坐轮椅的居民可以走东侧的坡道，门口有工作人员帮忙。"
)
PRODUCT = (
    "乐途 {model} 手机保护壳，硅胶软边加透明背板，四角加厚防摔，镜头圈高出一截不怕磨花，按键回弹清脆，支持无线充电不用摘壳。"
    "黑色、雾蓝、浅紫三色可选，附赠挂绳一根和清洁布一块，七天无理由退换，运费由本店承担。"
)

REWORD = (
    "市博物馆的新展昨天开幕，展出了近年来在河谷遗址出土的一批陶器和骨器。讲解员介绍，这些陶器大多用作炊具和盛器，器身上的绳纹是用缠着麻绳的木拍一下一下拍出来的，"
    "凑近了看还能分辨出绳子的粗细。骨器里最引人注目的是一支骨笛，用鹤的腿骨磨成，至今还能吹出完整的音阶。展厅里放着复制品，观众可以拿起来试一试。"
    "考古队的负责人说，遗址的发掘还在继续，下一步要弄清村落的布局，尤其是墓地和窑场的关系。"
    "为了方便学生参观，博物馆把闭馆时间推迟到晚上八点，并请来退休教师担任志愿讲解。展览持续到秋天，期间还会举办制陶体验课，报名办法见馆方的公告。"
)
REWORD_LIGHT = REWORD.replace("引人注目", "惹人注目").replace("还在继续", "仍在继续").replace("新展昨天", "新展览昨天")
REWORD_HEAVY = (
    REWORD.replace("新展昨天开幕", "新展览昨日与观众见面")
    .replace("凑近了看", "近看")
    .replace("至今还能", "现在仍可")
    .replace("还在继续", "尚未结束")
    .replace("请来退休教师", "邀请老教师")
    .replace("持续到秋天", "到入秋结束")
)

PARAGRAPHS = (
    "果蔬批发市场的夜班从午夜开始，货车一辆接一辆倒进卸货口，搬运工踩着湿漉漉的地面来回小跑，叫卖声和喇叭声混在一起，比白天的闹市还要热闹。",
    "管理员老周在这里干了二十年，哪家的瓜甜、哪家的菜新鲜，他闻一闻就知道。遇到短斤少两的摊主，他会板起脸来，当场让对方把秤换掉。",
    "天亮时分，采购的小贩陆续散去，清洁工冲洗地面，卖早点的推车趁机开张，一碗热豆浆下肚，忙了一夜的人总算可以回家睡觉。",
)

FOOTER = (
    "\n本栏目由街道文化站主办，欢迎居民来稿，题材不限，可以写身边的人和事，也可以寄来老照片和手绘画作。来稿请写明真实姓名和联系方式，编辑部收到以后会尽快回复，"
    "一经采用即寄送样刊和纪念品一份。稿件请勿一稿多投，文责由作者自负，如有侵权请及时与我们联系处理。"
    "历期内容可以在文化站的阅览室里翻看，也可以向值班人员索取合订本；小读者的来稿请注明学校和年级，由家长或老师代寄。"
)
KITE = (
    "扎风筝的老手艺人住在巷子尽头，屋里挂满了竹骨和彩纸。他说一只好风筝三分在扎七分在放，骨架轻了容易折，重了又飞不高。"
    "每年开春，附近小学的美术老师都会带着学生来学，孩子们把自己画的鱼和燕子糊上去，再到河滩上比谁飞得稳。"
)
BAKERY = (
    "转角的面包房天不亮就亮起灯，老板娘把发好的面团排进烤盘，整条街都闻得到麦香。她原先在纺织厂上班，下岗后跟着亲戚学烘焙，从一只旧烤箱做起。"
    "如今熟客报上名字她就知道要什么，卖剩的面包傍晚送到福利院，多年来从没断过。"
)

SENTENCES = (
    "登山队在天亮以前离开营地，头灯连成一条细线。",
    "向导走在最前面，不时用冰镐试探雪层的软硬。",
    "翻过第一道山脊，风忽然大了起来，说话要靠喊。",
    "队医给每个人检查手指，提醒大家不要摘下手套。",
    "休息的时候众人分食干粮，热茶在杯里很快变凉。",
    "中午云层压低，远处的主峰只剩下一个模糊轮廓。",
    "队长决定改走东侧的岩壁，那里背风而且不易雪崩。",
    "绳索一段段固定，最年轻的队员负责收回岩钉。",
    "傍晚他们在石台上搭起帐篷，炉火映红了每张脸。",
    "夜里有人听见冰川开裂的闷响，像是很远的雷声。",
    "次日清晨天空放晴，山谷里铺满了棉花一样的云海。",
    "登顶的时刻没有欢呼，大家只是静静站了一会儿。",
    "下山比上山更耗膝盖，两位老队员互相搀扶着走。",
    "回到村口，牧民端来酥油茶，孩子围着他们问长问短。",
)


def window(start: int) -> str:
    """Twelve sentences in a row: windows one apart share eleven of thirteen, windows two apart ten of fourteen."""
    return "".join(SENTENCES[start : start + 12])


HARBOR = (
    "渔港的开渔季就要到了，船老大忙着补网刷漆，冰厂连夜制冰。港务人员逐船检查救生衣和灭火器，不合格的当场更换。岸上的海鲜排档也打扫一新，就等头一批渔获上岸。"
    "老渔民说，今年海水偏暖，鱼群来得可能要晚一些，出海的人要多看天气，不要贪多，也不要跑得太远。"
)
DATED = (
    "旧货市集每逢月底在河堤上摆开，卖的多是旧书、瓷碗和老唱片。摊主大多是退休工人，与其说做买卖，不如说来聊天。有人专门来找小时候看过的连环画，翻到一本就高兴半天。"
    "城管划出了白线，收摊以后地上不留一片纸屑，附近的居民也就没有什么意见。"
)

NEAR = (
    Group(
        "reword",
        "河谷遗址文物展开幕",
        (
            keep("reword-1", REWORD, "first publication"),
            drop("reword-2", REWORD_LIGHT, "reword-1", "near", "a few words changed"),
            keep("reword-3", REWORD_HEAVY, "rewritten so far that a person should look; a review pair is right, a drop is not"),
        ),
    ),
    Group(
        "shuffle",
        "果蔬市场的夜班",
        (
            keep("shuffle-1", "\n".join(PARAGRAPHS), "first publication"),
            drop(
                "shuffle-2",
                "\n".join((PARAGRAPHS[2], PARAGRAPHS[0], PARAGRAPHS[1])),
                "shuffle-1",
                "near",
                "paragraphs in another order",
            ),
        ),
    ),
    Group(
        "footer",
        None,
        (
            keep(
                "footer-1",
                KITE + FOOTER,
                "shares only the long footer with footer-2",
                title="巷子里的风筝",
                source="www.example.org",
            ),
            keep(
                "footer-2",
                BAKERY + FOOTER,
                "shares only the long footer with footer-1",
                title="转角面包房",
                source="www.example.org",
            ),
        ),
    ),
    Group(
        "chain",
        "登山队的两天",
        (
            keep("chain-1", window(0), "first window of a sliding text"),
            drop("chain-2", window(1), "chain-1", "near", "one sentence on: near to chain-1"),
            keep("chain-3", window(2), "near to chain-2, which is gone, but not to chain-1: no chaining"),
        ),
    ),
)

GUARDED = (
    Group(
        "earnings",
        "云峰机械经营数据公告",
        (
            keep("earnings-1", EARNINGS.format(quarter=2, sales="12.4", growth="8.1", profit="1.9"), "second quarter"),
            keep(
                "earnings-2",
                EARNINGS.format(quarter=3, sales="13.0", growth="2.7", profit="2.3"),
                "third quarter: other figures in the same template",
            ),
        ),
    ),
    Group(
        "rates",
        "人民币汇率中间价公布",
        (
            keep("rates-1", RATES.format(usd="7.1059", eur="7.6841"), "one day"),
            keep("rates-2", RATES.format(usd="7.0982", eur="7.7120"), "another day: other rates"),
        ),
    ),
    Group(
        "match",
        "青石队战胜临河队",
        (
            keep("match-1", MATCH.format(home=3, away=1), "one match"),
            keep("match-2", MATCH.format(home=2, away=0), "another match: other score"),
        ),
    ),
    Group(
        "train",
        "列车晚点通知",
        (
            keep("train-1", TRAIN.format(train="G1503", late=35, arrival="18:20"), "one train"),
            keep("train-2", TRAIN.format(train="G1507", late=50, arrival="19:05"), "another train: other number, delay and time"),
        ),
    ),
    Group(
        "address",
        "接种门诊搬迁",
        (
            keep("address-1", ADDRESS.format(number=118), "one address"),
            keep("address-2", ADDRESS.format(number=181), "another address"),
        ),
    ),
    Group(
        "product",
        "乐途手机保护壳",
        (
            keep("product-1", PRODUCT.format(model="A12"), "one model"),
            keep("product-2", PRODUCT.format(model="A12s"), "another model: one letter decides"),
            drop("product-3", PRODUCT.format(model="A12"), "product-1", "exact_raw", "the first model listed again"),
        ),
    ),
)

SHORT = (
    Group(
        "rating",
        None,
        (
            keep("good-1", "好评", "first of two equal comments"),
            keep("bad-1", "差评", "one character is the whole meaning"),
            drop("good-2", "好评", "good-1", "exact_raw", "the same comment again"),
        ),
    ),
    Group(
        "doubled",
        None,
        (
            keep("double-1", "哈哈", "a doubled word is no repeat to fold"),
            keep("double-2", "哈", "not the same as the doubled word"),
            keep("double-3", "看看", "a doubled word is no repeat to fold"),
            keep("double-4", "看", "not the same as the doubled word"),
        ),
    ),
    Group(
        "symbols",
        None,
        (
            keep("emoji-1", "👍👍👍", "emoji only"),
            keep("emoji-2", "😡😡", "emoji only, the opposite opinion"),
            keep("emoji-3", "👨\u200d👩\u200d👧❤\ufe0f", "joined emoji: the joiner is part of the sign"),
            keep("punct-1", "？？？", "punctuation only"),
            keep("punct-2", "……", "punctuation only"),
            keep("punct-3", "！！！", "punctuation only"),
        ),
    ),
    Group(
        "comma",
        None,
        (
            keep("comma-1", "下雨天留客，天留我不留。", "too short for near; punctuation carries the meaning"),
            keep("comma-2", "下雨天，留客天，留我不？留！", "the same characters, the opposite meaning"),
        ),
    ),
    Group(
        "words",
        None,
        (
            keep("word-none", "None", "a text that looks like a missing value"),
            keep("word-nan", "nan", "a text that looks like a missing value"),
            keep("word-null", "NULL", "a text that looks like a missing value"),
            keep("only-tags", "<p></p>", "empty after normalising, stays a document"),
        ),
    ),
)

PRIORITY = (
    Group(
        "longer",
        "开渔季将至",
        (
            drop("longer-1", HARBOR, "longer-2", "near", "same time as longer-2, but shorter", time="2024-04-10 09:00:00"),
            keep(
                "longer-2",
                HARBOR + "港口广播每天早晚播报海况。",
                "same time as longer-1: the longer text stays, whatever the ids",
                time="2024-04-10 09:00:00",
            ),
        ),
    ),
    Group(
        "dated",
        "河堤上的旧货市集",
        (
            drop("dated-1", DATED, "dated-2", "exact_raw", "no publish time: comes after every dated copy", time=None),
            keep("dated-2", DATED, "the dated copy stays"),
        ),
    ),
)

QUARANTINE = (
    Group(
        "empty",
        "编辑部公告",
        (
            quarantine("empty-1", None, EMPTY, "no content; a headline alone is no document"),
            quarantine("empty-2", "", EMPTY, "empty content"),
            quarantine("empty-3", "\u3000 \u3000\n ", EMPTY, "nothing but spaces and a line break"),
        ),
    ),
    Group(
        "same-id",
        "同一编号的两条",
        (
            quarantine(
                "same-id-1",
                "渡口的石阶上刻着历年的水位，最高的一道比屋檐还高，船工每天早晨都会看上一眼。",
                DUPLICATE_ID,
                "the later of two rows with one id",
                time="2024-05-02 10:00:00",
            ),
            keep(
                "same-id-1",
                "裁缝铺的老式缝纫机还在用，踏板一响，半条街都知道她开工了，熟客隔着窗户就打招呼。",
                "the earlier of two rows with one id",
                time="2024-05-01 10:00:00",
            ),
            keep(
                "same-id-2",
                "养蜂人把蜂箱搬到油菜地边，帐篷就搭在田埂上，等花谢了再往北边追赶下一个花期。",
                "the dated of two rows with one id",
            ),
            quarantine(
                "same-id-2",
                "修伞匠每逢梅雨季才出摊，一把断了骨的旧伞到了他手里，半支烟的工夫就能撑开。",
                DUPLICATE_ID,
                "the same id without a time",
                time=None,
            ),
        ),
    ),
)

FORMULA = "=cmd|' /C calc'!A0"
SCRIPT = "<script>alert(1)</script>"
SQL = "'); DROP TABLE news;--"
PEN = "旧钢笔修理摊摆在邮局门口，老人戴着放大镜，把笔尖在油石上轻轻磨几下，再蘸墨写一行小楷，写顺了才肯收钱。"

HOSTILE = (
    Group(
        "hostile",
        None,
        (
            keep(
                "hostile-script",
                f"网络安全课上，老师演示了跨站脚本：在评论框里写进{SCRIPT}，没有过滤的网页就会弹出窗口，同学看完都记住了要先转义。",
                "script in headline and text",
                title=SCRIPT,
            ),
            keep("hostile-formula", FORMULA, "a spreadsheet formula as headline and text", title=FORMULA),
            keep("hostile-sql", SQL, "an SQL fragment as headline and text", title=SQL),
            keep(
                "hostile-control",
                "打字机敲到一半卡住了\x00，铃声\x07响了一下，\x1b[31m红字\x1b[0m印在纸带上，值班员只好重新来过。",
                "control characters and terminal codes",
                title="\x1b[2J",
            ),
            keep("../../etc", PEN, "an id that looks like a path", title="钢笔修理摊"),
            drop(
                "hostile 'id' with \"quotes\",\nspaces and a line break",
                PEN,
                "../../etc",
                "exact_raw",
                "an id that breaks careless CSV and SQL",
                title="钢笔修理摊",
            ),
        ),
    ),
)

DECISIONS = NEAR + GUARDED + SHORT + PRIORITY + QUARANTINE + HOSTILE
