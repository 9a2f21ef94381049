"""Straight from a live server, by Spark's JDBC: the same rows, flags and SQL as from its dump."""

from __future__ import annotations

import gzip
import os
import runpy
import shutil
import zipfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.clean import server as servers
from dedup_lib.clean.run import target_of
from dedup_lib.dump.ddl import Column
from dedup_lib.errors import ConfigError, DedupError, InputError
from dedup_lib.server import address, catalog
from dedup_lib.server.options import JARS, Driver, Options, driver
from dedup_lib.server.source import Connection
from dedup_lib.settings import load_settings
from tests.conftest import ROOT, SAMPLE, needs_java
from tests.dump.server import Server, plain_rows, read_all
from tests.dump.test_deletion import run
from tests.dump.test_roundtrip import fitting, hostile

USER, PASSWORD = "w'e`ird", "p\"a\\'s #;&?%41密"
FORMS = [USER.replace("`", "``"), PASSWORD.replace("\\", "\\\\").replace("'", "\\'")]
needs_driver = pytest.mark.skipif(
    not any(map(os.path.isfile, JARS)), reason="no JDBC driver: no table is read from a server (Debian: libmariadb-java)"
)
on_spark = pytest.mark.parametrize("session", [pytest.param("spark", marks=[needs_java, needs_driver])], indirect=True)


@pytest.fixture(scope="module")
def account(mariadb: Server) -> address.Login:
    """Somebody who may read every table and change none."""
    for host in ("localhost", "127.0.0.1"):
        mariadb.execute(f"GRANT SELECT ON *.* TO `{FORMS[0]}`@'{host}' IDENTIFIED BY '{FORMS[1]}'")
    return address.Login(USER, PASSWORD)


def connection(session, server: Server, login: address.Login, database: str, **options: str) -> Connection:
    place = address.Server("127.0.0.1", server.port, database)
    return Connection(session, place, login, Options.of(options), driver(None))


def rows_of(connected: Connection, table: str) -> pa.Table:
    """All rows of a table as they are read, without the lines of delete.sql."""
    listing, _ = connected.tables()
    (found,) = [entry for entry in listing.tables if entry.name == table]
    partition, conditions, _ = connected.parts(found, 1 << 30)
    return connected.rows(found, None, partition, conditions).drop("_delete").toArrow()


@on_spark
@pytest.mark.parametrize("charset", ["utf8mb4", "gbk", "latin1"])
def test_values_are_those_of_the_dump(session, mariadb, account, tmp_path, charset):
    hostile(mariadb, charset, fitting(charset))
    (tmp_path / "d.sql").write_bytes(mariadb.dump("--default-character-set=binary", "--hex-blob", "h", "hostile"))
    read = rows_of(connection(session, mariadb, account, "h"), "hostile")
    dumped = read_all(tmp_path / "d.sql", "hostile", metadata="_flags")
    assert read.schema.names == dumped.schema.names and read.num_rows == dumped.num_rows > 9
    computed = [name for name in dumped.schema.names if dumped[name].null_count == len(dumped)]  # no dump has their values
    assert plain_rows(read.drop_columns(computed)) == plain_rows(dumped.drop_columns(computed))


@on_spark
def test_types_names_and_dates_of_zeros(session, mariadb, account):
    """Names that look like SQL, every kind of type, GBK in a latin1 column, a key of two columns."""
    table, name = "n`e\"w's; DROP TABLE x -- ?{fn}\\", "c`o?l'{d \"x\\"
    quoted = [part.replace("`", "``") for part in (table, name)]
    hidden = "正文，许功盖的故事。".encode("gbk").hex()
    mariadb.execute(
        f"DROP DATABASE IF EXISTS `we``ird 库`; CREATE DATABASE `we``ird 库`; USE `we``ird 库`; CREATE TABLE `{quoted[0]}` (id "
        f"bigint unsigned, `{quoted[1]}` text CHARSET latin1, d date, at datetime(3), ts timestamp NULL, t time, y year,"
        " n decimal(9,2), f float, g double,"
        " b bit(64), e enum('a''b','许') CHARSET gbk, j blob, k varbinary(9), made int AS (y + 1) PERSISTENT,"
        f" p point, PRIMARY KEY (id, k)); INSERT INTO `{quoted[0]}` (id, `{quoted[1]}`, d, at, ts, t, y, n, f, g, b, e, j, k, p)"
        f" VALUES (18446744073709551615, x'{hidden}', '0000-00-00', '2014-05-06 07:08:09.125', '2014-05-06 07:08:09',"
        " '-01:02:03', 2014, -1.5, 0.5, 1e300, x'8000000000000001', '许', x'00ff27', '', ST_GeomFromText('POINT(1 2)')),"
        " (1, ''');--', '2014-05-06', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, x'00', NULL)"
    )
    connected = connection(session, mariadb, account, "we`ird 库", timezone="Asia/Shanghai")
    rows = rows_of(connected, table).to_pylist()
    first = next(row for row in rows if row["id"] != 1)
    second = next(row for row in rows if row["id"] == 1)
    assert len(rows) == 2 and first["id"] == 18446744073709551615 and first["made"] == 2015
    assert first[name] == "正文，许功盖的故事。" and second[name] == "');--"
    assert first["d"] is None and str(second["d"]) == "2014-05-06" and str(first["at"]) == "2014-05-06 07:08:09.125000"
    assert {line.split("\t")[0] for line in first["_flags"].split("\n")} == {"charset_repaired", "zero_date"}
    assert (first["t"], first["y"], str(first["n"]), first["f"], first["g"]) == ("-01:02:03", "2014", "-1.50", 0.5, 1e300)
    assert (int(first["b"]), first["e"], first["j"], first["k"]) == (0x8000000000000001, "许", b"\x00\xff'", b"")
    assert second["_flags"] is None and second["k"] == b"\x00" and len(first["p"]) > 16
    job = servers.prepare(connected, table, {"content": name})
    assert job.partition == "id" and len(job.conditions) > 1 and job.reason == ""
    (line,) = [row["_delete"] for row in read_lines(job) if row["id"] == 1]
    assert line.startswith("(1,x'00',x'")


def read_lines(job: servers.Job) -> list[dict]:
    """The rows with what delete.sql needs."""
    target = target_of(job.choice, "r")
    return job.connection.rows(job.choice.table, target, job.partition, job.conditions).toArrow().to_pylist()


@on_spark
def test_cleaning_the_sample_on_a_server(session, mariadb, account, tmp_path):
    """What delete.sql takes out is what the report says; undo.sql puts it back; an edited row stays; no secret is written."""
    (tmp_path / "all.sql").write_bytes(gzip.decompress((SAMPLE / "legacy_news.sql.gz").read_bytes()))
    assert mariadb.load(tmp_path / "all.sql", "live", "gbk") == ""
    original = Counter(mariadb.rows("live", "news")[1])
    quick = ["profiles.news.contain=null", "output.report=false"]  # the stages have tests of their own
    settings = load_settings(overrides=[f"output.path={tmp_path / 'out'}", "engine=spark", *quick])
    work = servers.prepare(connection(session, mariadb, account, "live"), "news", {})
    said: list[str] = []
    result = servers.clean(session, settings.config, work, "r", say=said.append)
    made = tmp_path / "out" / "runs" / "r"
    assert not list(made.glob("*.gz")) and result.metrics["rows"]["input"] == 323
    assert (
        "there is no clean dump" in (made / "report.html").read_text("utf-8")
        and "zero_date" in (made / "report.html").read_text()
    )
    gone = {row["doc_id"] for row in result.store.table("dropped").collect()}
    edited = min(gone, key=int)
    mariadb.execute(f"UPDATE live.news SET title = CONCAT(title, '。') WHERE id = {edited}")
    changed = Counter(mariadb.rows("live", "news")[1])
    rows, errors = run(mariadb, "live", (made / "delete.sql").read_text("utf-8"))
    assert errors == "" and rows[-1] == [str(len(gone)), str(len(gone) - 1), "1", "0", str(len(gone) - 1)]
    left = Counter({row: n for row, n in changed.items() if row[0] not in gone or row[0] == edited})
    assert Counter(mariadb.rows("live", "news")[1]) == left
    assert run(mariadb, "live", (made / "undo.sql").read_text("utf-8"))[1] == ""
    assert Counter(mariadb.rows("live", "news")[1]) == changed != original
    for written in ("\n".join(said).encode(), *(file.read_bytes() for file in filter(Path.is_file, made.rglob("*")))):
        assert not any(secret.encode() in written for secret in (PASSWORD, FORMS[1], 'p\\"a'))


@on_spark
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl: no encrypted connection is tried")
def test_encrypted_connections(session, mariadb):
    mariadb.execute(
        "GRANT SELECT ON *.* TO careful@'127.0.0.1' IDENTIFIED BY 'a secret' REQUIRE SSL; DROP DATABASE IF EXISTS enc;"
        "CREATE DATABASE enc; USE enc; CREATE TABLE texts (k int PRIMARY KEY, content text); INSERT INTO texts VALUES (1, '甲')"
    )

    def read(tls: str, authority: str | None = None) -> list[dict]:
        file = authority and str(Path(mariadb.socket).parent / authority)
        wanted = connection(session, mariadb, address.Login("careful", "a secret", file), "enc", tls=tls)
        return rows_of(wanted, "texts").to_pylist()

    assert read("on") == read("verify", "ca.pem") != []
    for tls, authority, said in (("verify", "other.pem", "certification path"), ("off", None, "Access denied")):
        with pytest.raises(InputError, match=said):
            read(tls, authority)


@on_spark
def test_a_server_is_chosen_from_and_errors_are_one_line(session, mariadb, account):
    mariadb.execute(
        "DROP DATABASE IF EXISTS e; CREATE DATABASE e; USE e; CREATE TABLE bare (a int, content text);"
        "CREATE TABLE texts (k varchar(9) PRIMARY KEY, n int, content text); INSERT INTO texts VALUES ('a', 1, '甲')"
    )
    wanted = connection(session, mariadb, account, "e")
    bare, texts = servers.prepare(wanted, "bare", {}), servers.prepare(wanted, "e.texts", {})
    assert bare.reason and "has no primary key" in " ".join(bare.notes) and "one task reads all rows" in " ".join(texts.notes)
    by_number = servers.prepare(connection(session, mariadb, account, "e", partition="n"), "texts", {})
    assert by_number.partition == "n" and by_number.conditions == ["1 = 1"]
    with pytest.raises(ConfigError, match="partition: 'content' is no column of whole numbers; there are n"):
        servers.prepare(connection(session, mariadb, account, "e", partition="content"), "texts", {})
    with pytest.raises(InputError, match=r"table nosuch is not there; choose one of"):
        servers.prepare(wanted, "nosuch", {})
    with pytest.raises(InputError, match="has no such database"):
        servers.prepare(connection(session, mariadb, account, "nosuch"), "t", {})
    cases = [
        (address.Server("127.0.0.1", mariadb.port, "e"), address.Login(USER, "geheim-1"), "Access denied"),
        (address.Server("nohost.invalid", 3306, "e"), account, "check the address"),
        (address.Server("127.0.0.1", 1, "e"), account, "check the address"),
    ]
    for place, login, said in cases:
        with pytest.raises(InputError, match=said) as error:
            servers.prepare(Connection(session, place, login, Options(), driver(None)), "texts", {})
        assert "\n" not in str(error.value) and login.password not in str(error.value) and error.value.__cause__ is None
    with pytest.raises(DedupError, match="server 127"):
        Connection(session, cases[0][0], account, Options(), Driver(JARS[0], "org.mariadb.jdbc.Nothing")).tables()


@given(st.integers(-50, 50), st.integers(0, 200), st.integers(1, 30))
def test_every_row_is_in_one_part(low, width, parts):
    conditions = catalog.predicates(low, low + width, parts)
    assert 1 <= len(conditions) <= parts
    for part in (None, low - 1, *range(low, low + width + 1), low + width + 1):
        names = {"part": part}
        assert sum(fulfils(condition, names["part"]) for condition in conditions) == 1


def fulfils(condition: str, part: int | None) -> bool:
    """A second reading of the conditions."""
    if condition == "1 = 1":
        return True
    if part is None:
        return condition.endswith("OR part IS NULL")
    pieces = condition.removesuffix(" OR part IS NULL").split(" AND ")
    return all(part < int(p.split()[2]) if p.split()[1] == "<" else part >= int(p.split()[2]) for p in pieces)


@pytest.mark.parametrize(
    ("version", "merges"),
    [("5.1.73", False), ("5.6.51-log", False), ("5.7.0", True), ("8.0.36", True), ("10.11.6-MariaDB", True),
     ("5.5.68-MariaDB", True), ("5.2.14-MariaDB", False), ("unknown", False)],
)  # fmt: skip
def test_old_servers_are_read_by_one_task(version, merges):
    assert catalog.merges(version) == merges


def test_addresses():
    assert address.parsed("db.example.org/old") == address.Server("db.example.org", 3306, "old")
    assert str(address.parsed("[::1]:3307/数据 `库`")) == "[::1]:3307/数据 `库`"
    for wrong in ("", "h", "h/", "/d", "h:0/d", "h:99999/d", "h:x/d", "h?x=1/d", "h,g/d", "h/d/e", "h/d\n", "a b/d", "h;x/d"):
        with pytest.raises(ConfigError, match="--server"):
            address.parsed(wrong)
    with pytest.raises(ConfigError) as error:
        address.parsed("root:geheim@h/d")
    assert "geheim" not in str(error.value)


@pytest.mark.parametrize(
    ("written", "password"),
    [
        ("password=a", "a"), ("password = 'a b' # c", "a b"), ('password="a\\"b"', 'a\\"b'), ("password=a#b", "a#b"),
        ("password=a #b", "a"), (r"password=a\\b\sc\x", r"a\b c\x"), ("password", ""), ("#password=a", ""), ("password='", "'"),
    ],
)  # fmt: skip
def test_options_files(tmp_path, written, password):
    path = tmp_path / "my.cnf"
    path.write_text(f"!includedir /etc\n[mysql]\nuser=x\n[client]\nuser=me\nssl-ca=/ca.pem\n{written}\n[other]\npassword=no\n")
    login = address.login(str(path), {"MYSQL_USER": "you"})
    assert (login.user, login.password, login.authority) == ("me", password, "/ca.pem")
    assert password in ("", "a", "'") or password not in repr(login)


def test_the_environment_gives_what_no_file_does(tmp_path):
    assert address.login(None, {"MYSQL_USER": "you", "MYSQL_PWD": "p"}) == address.Login("you", "p")
    (tmp_path / "my.cnf").write_text("[client]\nuser=me\n")
    assert address.login(str(tmp_path / "my.cnf"), {"MYSQL_USER": "you", "MYSQL_PWD": "p"}) == address.Login("me", "p")
    with pytest.raises(ConfigError, match="no user"):
        address.login(None, {"MYSQL_PWD": "geheim"})
    with pytest.raises(ConfigError, match="No such file"):
        address.login("absent.cnf", {})


def test_drivers(tmp_path):
    jar = tmp_path / "d.jar"
    for service, said in (
        ("com.mysql.cj.jdbc.Driver\n", None),
        ("org.h2.Driver\n", "is a driver of org.h2"),
        (None, "no JDBC driver"),
    ):
        with zipfile.ZipFile(jar, "w") as archive:
            archive.writestr("META-INF/services/java.sql.Driver" if service else "x", service or "")
        if said is None:
            assert driver(str(jar)) == Driver(str(jar), "com.mysql.cj.jdbc.Driver")
        else:
            with pytest.raises(ConfigError, match=said):
                driver(str(jar))
    with pytest.raises(ConfigError, match="No such file"):
        driver(str(tmp_path / "absent.jar"))


def test_options_and_engines(tmp_path):
    with pytest.raises(ConfigError) as error:
        Options.of({"colour": "1", "parts": "0", "fetch": "²", "tls": "maybe", "timezone": "Moon/Sea"})
    assert len(error.value.problems) == 5
    for engine in ("embedded", "connect=sc://h:1"):
        with pytest.raises(ConfigError, match="--engine spark"):
            servers.check_engine(engine)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"dump": "x", "server": "h/d"}, "--dump, --server: name a file or a server"),
        ({"dump": "x", "options_file": "y", "driver": "z"}, "--options-file, --driver: belongs to --server"),
        ({"server": "h/d", "dump_option": ["charset=gbk"]}, "--dump-option: belongs to --dump"),
        ({"server": "h/d", "output": "out", "engine": "embedded"}, "embedded cannot read a server"),
        ({"server": "h/d", "output": "out", "set": ["engine=embedded"]}, "embedded cannot read a server"),
        ({"server": "a:geheim@h/d", "output": "out"}, "has credentials in it"),
        ({"server": "h/d", "output": "out", "options_file": "absent.cnf"}, "absent.cnf: No such file"),
    ],
)
def test_the_command_refuses_what_cannot_work(tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    main = runpy.run_path(str(ROOT / "jobs" / "clean_dump.py"))["main"]
    with pytest.raises(ConfigError) as error:
        main(**given)
    assert said in str(error.value) and "geheim" not in str(error.value) and not os.path.exists("out")


def test_a_listing_of_a_server_that_ignores_case():
    column = {"b": "t", "name": "id", "kind": "int(11)", "charset": None, "place": "1", "number": None, "size": None}
    asked = [{**column, "a": "Old"}, {**column, "a": "old"}]
    found, sizes = catalog.listing("old", asked, [{"a": "old", "b": "t", "name": "id", "place": "1"}])
    assert [(table.database, table.key, table.rows) for table in found.tables] == [("old", ("id",), 1)] and sizes == {"t": 0}
    assert catalog.listing("OLD", asked[:1], [])[0].tables[0].columns == (Column("id", "int(11)", pa.int32()),)
