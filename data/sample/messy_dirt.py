"""Rows that are dirty copies of a clean text: markup, spaces, forms of characters, wrong decoding, noise, repeats."""

from messy_model import Group, drop, keep, misread

RAW = (
    "清河老街的修缮工程上周全部完工，沿街的铺面重新开门营业。施工队保留了原来的青砖墙和木门板，只更换了腐朽的梁柱和破损的瓦片。"
    "街口的茶馆老板说，老主顾一早就来占座，热闹得像过年一样。街道办提醒游客，老街路面狭窄，周末请尽量乘坐公共交通前往。"
)

WIDTH = (
    "海风牌X200型空气净化器本周上架，适用面积30-50m2，整机重量6.5kg，能效等级为1级。厂家表示，新款机器换用了静音风扇（夜间模式低于32dB），"
    "滤网可以水洗；购买者凭订单号可免费领取一套备用滤网！详情请拨打客服热线，或者访问官网ABC栏目查询。"
)
WIDTH_FULL = (
    "海风牌Ｘ２００型空气净化器本周上架,适用面积３０－５０㎡,整机重量６．５㎏,能效等级为１级｡厂家表示,新款机器换用了静音风扇(夜间模式低于３２ｄＢ),"
    "滤网可以水洗;购买者凭订单号可免费领取一套备用滤网!详情请拨打客服热线,或者访问官网ＡＢＣ栏目查询｡"
)

SPACE = (
    "周末公益讲座 预告：本期主题是 Python 入门，主讲人是 市职业学院 的李老师。讲座安排在周六下午，地点在市民中心二楼报告厅。"
    "想参加的读者请把 姓名 和 单位 发到讲座公众号，座位有限 先到先得。带孩子来的家长可以使用隔壁的绘本角，那里有志愿者照看。"
)
SPACE_WIDE = "\u3000\u3000" + SPACE.replace(" Python ", "\u00a0Python\u2003").replace(" ", "\u3000") + "\u00a0\u3000"
SPACE_HIDDEN = "\ufeff" + (
    SPACE.replace("讲座", "讲\u200b座").replace("主题", "主\u00ad题").replace("报告", "报\u2060告").replace("家长", "家\ufeff长")
)
SPACE_LINES = (
    SPACE.replace("。讲座安排", "。\r\n\u3000\u3000讲座安排").replace("，地点", "，\n地点").replace("，那里", "，\u2028那里")
    + "\n"
)

HTML = (
    "县农科站的技术员这几天跑遍了山下的果园，指导果农给苹果树疏花。站长介绍，今年花量比往年多出20%左右，如果不及时疏掉一部分，秋后的果子就会又小又酸。"
    "技术员建议“先疏弱枝、后疏强枝”，并请A&B合作社统一采购防冻用的烟雾剂。果农都说，技术送到了地头，心里就踏实了。"
)
HTML_INLINE = (
    '<style>p { color: #333; }</style>\n<p class="lead">'
    '县农科站的<b>技术员</b>这几天跑遍了山下的果园，指导果农给<a href="https://example.com/apple?a=1&amp;b=2">苹果树</a>疏花。'
    "站长介绍，今年花量比往年多出20&#37;左右，如果不及时疏掉一部分，秋后的果子就会又小又酸。<!-- 广告位 -->"
    "技术员建议&ldquo;先疏弱枝、后疏强枝&rdquo;，并请A&amp;B合作社统一采购防冻用的烟雾剂&#x3002;"
    "果农都说，技术送到了<span style='color:red'>地头</span>，心里就踏实了。</p>\n"
    "<script type=\"text/javascript\">var tip = '<p>猜你喜欢</p>'; if (1 < 2) { show(tip); }</script>"
)
HTML_BLOCKS = "<div><p>" + HTML.replace("技术员建议", "</p>\n<p>技术员建议").replace("&", "&amp;") + "<br/></p></div>"

CASE = (
    "微光社区把OpenDesk办公套件升级到了最新版本，新版支持在iPad和Windows电脑之间同步文档，也能直接导出PDF格式。"
    "社区的管理员说，老用户登录以后点击右上角的Update按钮就能完成升级，原来的文档不会丢失，遇到问题可以到Forum栏目留言。"
)

TRADITIONAL = (
    "台风过后，山区的乡亲忙着清理道路、修补屋顶。县里派来的电力工人连夜抢修线路，天亮以前大部分村庄恢复了供电。"
    "学校的操场上搭起了临时厨房，志愿者给老人和孩子送去热汤和面条。气象台预报，未来几天以晴为主，有利于灾后重建。"
)
TRADITIONAL_HAND = (
    "颱風過後，山區的鄉親忙着清理道路、修補屋頂。縣裡派來的電力工人連夜搶修線路，天亮以前大部分村莊恢復了供電。"
    "學校的操場上搭起了臨時廚房，志願者給老人和孩子送去熱湯和麵條。氣象臺預報，未來幾天以晴為主，有利於災後重建。"
)

GLOSS = (
    "研究团队发现，这种野生兰花只在海拔较高的山谷里开放，花期不到十天。队员连续三年在山里观测，记录下每一朵花开放和凋谢的时间，并把数据整理成册。"
    "专家认为，这项发现对保护当地的植物资源很有帮助。"
)
GLOSS_WASHED = (
    "研究團(tuán)隊(duì)發(fā)現(xiàn)，這(zhè)種(zhǒng)野生蘭(lán)花只在海拔較(jiào)高的山谷里開(kāi)放，花期不到十天。"
    "隊(duì)員(yuán)連(lián)續(xù)三年在山里觀(guān)測(cè)，記(jì)錄(lù)下每一朵花開(kāi)放和凋謝(xiè)的時(shí)間(jiān)，并把數(shù)據(jù)整理成冊(cè)。"
    "專(zhuān)家認(rèn)為(wéi)，這(zhè)項(xiàng)發(fā)現(xiàn)對(duì)保護(hù)當(dāng)地的植物資(zī)源很有幫(bāng)助。"
)

TAG = (
    "青石镇的春茶昨天开采，头一批鲜叶当晚就下锅炒制。茶农介绍，今年雨水匀、日照足，芽头比往年肥壮，价格也稳中有升。"
    "镇上的茶厂换了新的炒茶机，火候由电脑控制，老师傅只需在旁边看着。收购的车队一早就停在村口，等着把新茶运往城里的茶庄。"
)

LATIN = (
    "山上的桃花开得正好，附近的民宿几乎全部订满，公园里的游人比平时多，车站安排了专人引导。"
    "去年的这个时候花还没有开，学校组织学生到田间观察作物，图书角添置了三百册新书，出门请带好雨伞。"
)

MISREAD_GBK = (
    "今年气温回升得早，湖边的柳树已经发芽，鸟儿在林间飞来飞去，河水比前几年清了很多，停车场上午就已经停满，"
    "工作人员提醒大家不要攀折花枝，社区食堂推出了时令菜，大家都说日子越过越好！"
)

FROM_GBK = (
    "老城区的修表铺换了主人，新来的师傅是原来店主的徒弟。铺子不大，墙上挂满了各式各样的钟，整点一到便此起彼伏地响起来。"
    "师傅说，修表讲究耐心，一块旧表拆开来要摆满一桌，少一颗螺丝都装不回去。街坊有了走不准的钟表，还是习惯往这里送。"
)

NOISE = (
    "东湖边的自行车道本月全线贯通，骑行爱好者可以绕湖一圈而不必走上机动车道。沿途修了六处休息亭，亭子里有饮水点和打气筒。"
    "骑了一圈的市民说，湖风吹在脸上很舒服，就是有两处坡道稍陡，老人骑车要慢一些。养护单位表示，夜间照明正在调试，"
    "完工以后晚上也能放心骑行；下雨天木板路面湿滑，请尽量减速。附近的学校已经把这条路写进了春游的路线，体育老师准备带学生来上几次户外课。"
)
NOISE_TAIL = NOISE + "\n相关推荐\n网友评论"
NOISE_CREDITS = NOISE + "\n（责任编辑：王小禾）\n版权声明：未经许可不得转载。"

FOLD_ONE = "你是凑企鹅"
FOLD_LONG = "直播间里忽然有人开始刷屏，屏幕上只看见一句{}，主播愣了一下，笑着说今天的观众真热情。管理员提醒大家注意秩序，话题很快又回到了刚才那首歌上面。"

DIRT = (
    Group(
        "raw",
        "清河老街修缮完工",
        (
            drop(
                "raw-2",
                RAW,
                "raw-1",
                "exact_raw",
                "same text and same time as raw-1: the smaller doc_id stays",
                time="2024-03-01 08:00:00",
            ),
            keep("raw-1", RAW, "first of three equal texts", time="2024-03-01 08:00:00"),
            drop("raw-3", RAW, "raw-1", "exact_raw", "same text under another headline", title="修旧如旧，清河老街重新开门迎客"),
        ),
    ),
    Group(
        "width",
        "海风牌空气净化器上架",
        (
            keep("width-1", WIDTH, "clean text"),
            drop(
                "width-2",
                WIDTH_FULL,
                "width-1",
                "exact_normalized",
                "full-width letters and digits, unit signs, half-width punctuation: equal after NFKC",
            ),
        ),
    ),
    Group(
        "space",
        "周末公益讲座预告",
        (
            keep("space-1", SPACE, "clean text"),
            drop(
                "space-2",
                SPACE_WIDE,
                "space-1",
                "exact_normalized",
                "ideographic, no-break and em spaces instead of plain ones, indent in front",
            ),
            drop(
                "space-3",
                SPACE_HIDDEN,
                "space-1",
                "exact_normalized",
                "zero-width space, word joiner, soft hyphen and byte order marks inside words",
            ),
            drop("space-4", SPACE_LINES, "space-1", "near|exact_normalized", "hard line breaks and indents inside the text"),
        ),
    ),
    Group(
        "html",
        "技术员进果园指导疏花",
        (
            keep("html-1", HTML, "clean text"),
            drop("html-2", HTML_INLINE, "html-1", "exact_normalized", "tags, entities, comment, script and style"),
            drop(
                "html-3",
                HTML_INLINE,
                "html-1",
                "exact_normalized",
                "raw copy of html-2, but the method speaks of the survivor html-1",
            ),
            drop(
                "html-4",
                HTML_BLOCKS,
                "html-1",
                "near|exact_normalized",
                "two paragraphs in block tags where the clean text has one",
            ),
        ),
    ),
    Group(
        "case",
        "OpenDesk升级到最新版本",
        (
            keep("case-1", CASE, "clean text"),
            drop("case-2", CASE.upper(), "case-1", "exact_normalized", "upper case", title="OPENDESK升级到最新版本"),
        ),
    ),
    Group(
        "trad",
        "台风过后山区加紧重建",
        (
            keep("trad-1", TRADITIONAL, "simplified"),
            drop(
                "trad-2", TRADITIONAL_HAND, "trad-1", "exact_normalized", "traditional characters", title="颱風過後山區加緊重建"
            ),
            drop(
                "trad-3",
                TRADITIONAL_HAND.replace("着", "著"),
                "trad-1",
                "near|exact_normalized",
                "著 for 着, which a converter leaves alone because 著 is a simplified character too",
                title="颱風過後山區加緊重建",
            ),
        ),
    ),
    Group(
        "gloss",
        "研究团队发现野生兰花新规律",
        (
            keep("gloss-1", GLOSS, "clean text"),
            drop(
                "gloss-2", GLOSS_WASHED, "gloss-1", "exact_normalized", "washed text with pinyin glosses, in half-width brackets"
            ),
            drop(
                "gloss-3",
                GLOSS_WASHED.replace("(", "（").replace(")", "）"),
                "gloss-1",
                "exact_normalized",
                "the same glosses in full-width brackets",
            ),
        ),
    ),
    Group(
        "tag",
        "青石镇春茶开采",
        (
            keep("tag-1", TAG, "clean headline and text"),
            drop("tag-2", TAG, "tag-1", "exact_raw", "tags in the headline only", title="【快讯】青石镇春茶开采(图)"),
            drop(
                "tag-3",
                "【快讯】" + TAG,
                "tag-1",
                "near|exact_normalized",
                "tags in headline and text",
                title="[原创]青石镇春茶开采（图）",
            ),
        ),
    ),
    Group(
        "moji",
        "桃花开了",
        (
            keep("moji-1", LATIN, "clean text"),
            drop(
                "moji-2",
                misread(LATIN, "utf-8", "latin-1"),
                "moji-1",
                "exact_normalized",
                "UTF-8 bytes read as Latin-1, control characters and all",
            ),
            drop("moji-3", misread(LATIN, "utf-8", "cp1252"), "moji-1", "exact_normalized", "UTF-8 bytes read as Windows-1252"),
        ),
    ),
    Group(
        "moji-gbk",
        "湖边的春天",
        (
            keep("moji-4", MISREAD_GBK, "clean text"),
            drop(
                "moji-5",
                misread(MISREAD_GBK, "utf-8", "gbk"),
                "moji-4",
                "exact_normalized",
                "UTF-8 bytes read as GBK, no byte lost",
            ),
        ),
    ),
    Group(
        "moji-latin",
        "老城区的修表铺",
        (
            keep("moji-6", FROM_GBK, "clean text"),
            drop("moji-7", misread(FROM_GBK, "gbk", "latin-1"), "moji-6", "exact_normalized", "GBK bytes read as Latin-1"),
            keep(
                "moji-8",
                "Café crème à 3 €, Äpfel süß, señor: naïve façade.",
                "accented Latin letters that are no mojibake",
                title="Café",
            ),
        ),
    ),
    Group(
        "noise",
        "东湖自行车道全线贯通",
        (
            keep("noise-1", NOISE, "clean text"),
            drop("noise-2", NOISE_TAIL, "noise-1", "near|exact_normalized", "bare noise phrases on lines of their own"),
            drop(
                "noise-3",
                NOISE_CREDITS,
                "noise-1",
                "near|exact_normalized",
                "editor and copyright lines with words after the phrase",
            ),
        ),
    ),
    Group(
        "fold",
        None,
        (
            keep("fold-1", FOLD_ONE, "the phrase once"),
            drop("fold-2", FOLD_ONE * 3, "fold-1", "exact_folded", "the phrase three times in a row"),
            keep("fold-3", FOLD_LONG.format(FOLD_ONE), "the phrase once inside a longer text"),
            drop(
                "fold-4",
                FOLD_LONG.format(FOLD_ONE * 3),
                "fold-3",
                "exact_folded",
                "the phrase three times inside the longer text",
            ),
        ),
    ),
    Group(
        "combo",
        "夜市换上新摊位",
        (
            keep(
                "combo-1",
                "<p>\u3000\u3000沿江夜市換上了統一的新攤位，燈牌和雨棚也一併更新。攤主說，新攤位帶水槽和排煙口，收攤以後不用再擦地。</p>"
                "<p>\u3000\u3000管理方介紹，夜市每晚十點半停止接待，十一點以前清場，附近居民的投訴比以前少了很多。</p>",
                "the earliest copy stays although it is the dirty one: traditional characters, markup, indents",
            ),
            drop(
                "combo-2",
                "沿江夜市换上了统一的新摊位，灯牌和雨棚也一并更新。摊主说，新摊位带水槽和排烟口，收摊以后不用再擦地。"
                "管理方介绍，夜市每晚十点半停止接待，十一点以前清场，附近居民的投诉比以前少了很多。",
                "combo-1",
                "near|exact_normalized",
                "clean, but published later",
            ),
        ),
    ),
)
