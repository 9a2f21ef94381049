"""Make legacy_news.sql.gz: a table of news as an old site's mysqldump wrote it, in GBK, with everything that breaks converters.

python make_dump.py
"""

import gzip
from pathlib import Path

import pyarrow.parquet as pq

HERE = Path(__file__).parent
ROWS, COPIES = 300, 40
HEAD = """-- MySQL dump 10.11
--
-- Host: localhost    Database: oldsite
-- ------------------------------------------------------
-- Server version	5.0.51a

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET NAMES gbk */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;

--
-- Table structure for table `news_class`
--

DROP TABLE IF EXISTS `news_class`;
CREATE TABLE `news_class` (
  `id` smallint(5) unsigned NOT NULL auto_increment,
  `name` varchar(50) NOT NULL default '' COMMENT '栏目; it''s',
  PRIMARY KEY  (`id`)
) ENGINE=MyISAM DEFAULT CHARSET=gbk;

LOCK TABLES `news_class` WRITE;
INSERT INTO `news_class` VALUES (1,'要闻'),(2,'许功盖的专栏 \\'),(');
UNLOCK TABLES;

--
-- Table structure for table `news`
--

DROP TABLE IF EXISTS `news`;
CREATE TABLE `news` (
  `id` int(10) unsigned NOT NULL auto_increment,
  `class_id` smallint(5) unsigned NOT NULL default '1',
  `title` varchar(200) NOT NULL default '',
  `content` mediumtext NOT NULL,
  `source` varchar(60) default NULL,
  `hits` int(11) NOT NULL default '0',
  `posted` datetime NOT NULL default '0000-00-00 00:00:00',
  PRIMARY KEY  (`id`),
  KEY `posted` (`posted`)
) ENGINE=MyISAM DEFAULT CHARSET=gbk;

LOCK TABLES `news` WRITE;
/*!40000 ALTER TABLE `news` DISABLE KEYS */;
"""
TAIL = """/*!40000 ALTER TABLE `news` ENABLE KEYS */;
UNLOCK TABLES;
/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;

-- Dump completed on 2014-12-31 23:59:59
"""
HOSTILE = [
    "他说'好的'；然后走了; 结束", "选项(一),(二)，均可：(a),(b)),(99,1,'", "路径 C:\\temp\\new\\", "誠信為本，運籌帷幄",
    "嗀\\'誠",
    "第一行\r\n第二行\t制表\x1a\0结束", "\nINSERT INTO `news` VALUES (1,1,'假的','一行','x',0,'2014-01-01');\n",
    "-- 不是注释 /* 也不是 */ #",
    '{"k": "<p class=\\"x\\">;</p>"}', "NULL", "", "100%_\\%\\_", "';\nDROP TABLE `news`;\n-- Dump completed",
]  # fmt: skip
ESCAPES = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "\0": "\\0", "\x1a": "\\Z"}


def literal(value: str | int | None) -> str:
    """A value as mysqldump writes it."""
    if value is None or isinstance(value, int):
        return "NULL" if value is None else str(value)
    return "'" + "".join(ESCAPES.get(char, char) for char in value) + "'"


def rows() -> list[tuple]:
    """Real articles, hostile rows and copies of both: exact, with spaces, with the site's tag."""
    table = pq.read_table(HERE / "articles.parquet", columns=["title", "content", "source", "publish_time"]).slice(0, 3000)
    chosen = [row for row in table.to_pylist()[:: 3000 // ROWS] if len(row["content"]) < 1500]
    found = [
        (row["title"], row["content"], row["source"], str(row["publish_time"] or "0000-00-00 00:00:00")[:19]) for row in chosen
    ]
    found += [(f"难读的一行 {i}", text, None, "0000-00-00 00:00:00") for i, text in enumerate(HOSTILE)]
    for i, (title, content, _, posted) in enumerate(found[-COPIES:]):
        tagged = [content, content.replace("，", "， "), content + "（责任编辑：小编）"][i % 3]
        found.append((f"[转载]{title or ''}", tagged, "本站", posted))
    return [(i + 1, 1 + i % 2, title or "", content, source, i * 37 % 1000, posted)
            for i, (title, content, source, posted) in enumerate(found)]  # fmt: skip


def main() -> None:
    """Write the dump: statements of up to 50 rows, characters that GBK lacks left out."""
    parts = [HEAD]
    table = rows()
    for first in range(0, len(table), 50):
        tuples = ",".join("(" + ",".join(map(literal, row)) + ")" for row in table[first : first + 50])
        parts.append(f"INSERT INTO `news` VALUES {tuples};\n")
    data = "".join([*parts, TAIL]).encode("gbk", "ignore")
    with open(HERE / "legacy_news.sql.gz", "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(data)


if __name__ == "__main__":
    main()
