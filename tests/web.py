"""A news page as crawlers bring it: navigation, share bar, links, comments and footer around an article."""

from __future__ import annotations

TITLE = "云溪镇老粮站变身社区图书馆"
PARAGRAPHS = (
    "本报讯（记者 周小禾）停用二十多年的云溪镇老粮站，上周六以社区图书馆的新身份重新开门，首日接待读者一千三百余人次。",
    "老粮站建于一九七三年，砖木结构的四座粮仓呈扇形排列。改造时保留了通风口、木屋架和墙上的标语，只在仓内加建了钢结构的书架和夹层。",
    "“小时候我跟随父亲来这里交公粮，排队要排一整天。”七十一岁的退休教师陈国梁在阅览室里找到了自己当年坐过的石阶，“没想到老了来这里看书。”",
    "图书馆现有藏书三万二千册，其中地方志、家谱和农业技术类图书占四分之一。镇里还请来六位老人，每周三下午讲述粮站往事，由中学生整理成册。",
    "据镇文化站介绍，改造共投入四百八十万元，其中村民集资九十六万元。二期工程将把晒谷场改为露天剧场，预计明年国庆前完工。",
)
ARTICLE = "\n".join(PARAGRAPHS)
_LINKS = "".join(
    f'<li><a href="/n/{n}.html">{text}</a></li>' for n, text in enumerate("首页 国内 国际 财经 体育 娱乐 汽车 房产".split())
)
_RELATED = "".join(
    f'<li><a href="/r/{n}.html">{text}</a></li>'
    for n, text in enumerate(["县城新增公交线路三条", "水稻机插秧现场会举行", "河道保洁员招聘公告", "中学生运动会落幕"])
)


def news_page(charset: str = "utf-8", article: str = ARTICLE) -> str:
    """The page as text, with ``charset`` as the character set it declares."""
    paragraphs = "".join(f"<p>　　{line}</p>\n" for line in article.split("\n"))
    return f"""<!DOCTYPE html>
<html><head><meta http-equiv="Content-Type" content="text/html; charset={charset}"><title>{TITLE}_溪报网</title>
<style>.nav li {{ float: left }}</style><script>var page = "<p>不是正文</p>";</script></head>
<body><div class="header"><ul class="nav">{_LINKS}</ul><form><input name="q"><button>搜索</button></form></div>
<div class="main"><h1>{TITLE}</h1><div class="info">2024-05-20 08:15 来源：溪报 编辑：林一</div>
<div class="content" id="article">{paragraphs}</div>
<div class="share"><a href="#">分享到微博</a> <a href="#">微信</a> <a href="#">QQ空间</a> <a href="#">收藏</a></div>
<div class="related"><h3>相关阅读</h3><ul>{_RELATED}</ul></div>
<div class="comment"><h3>网友评论</h3><p>支持！</p><p>周末带孩子去看看。</p></div></div>
<div class="footer"><p>关于我们 | 广告服务 | 联系方式 | 网站地图</p><p>溪报社版权所有 未经授权不得转载</p></div></body></html>"""
