"""A private MariaDB server, which says what a dump means; tests that ask it are skipped where there is none."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tests.kernels.conftest  # noqa: F401  (hypothesis settings)
from tests.dump.server import Server


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory) -> Iterator[Server]:
    """A server in a temporary folder, on a socket of its own, and on a port of this machine alone."""
    programs = {name: shutil.which(name) for name in ("mariadbd", "mariadb-install-db", "mariadb", "mysqldump")}
    if missing := [name for name, path in programs.items() if path is None]:
        pytest.skip(f"no MariaDB server: {', '.join(missing)} not found (Debian: apt-get install mariadb-server)")
    folder = tmp_path_factory.mktemp("mariadb")
    with socket.create_server(("127.0.0.1", 0)) as free:
        server = Server(folder, free.getsockname()[1])
    subprocess.run(
        [programs["mariadb-install-db"], "--no-defaults", f"--datadir={folder}/data", "--skip-test-db", "--user=root",
         "--auth-root-authentication-method=normal", "--innodb-log-file-size=8M"],
        check=True, capture_output=True,
    )  # fmt: skip
    encrypted = certificates(folder) if shutil.which("openssl") else []
    process = subprocess.Popen(
        [programs["mariadbd"], "--no-defaults", *encrypted, f"--datadir={folder}/data", f"--socket={server.socket}",
         "--bind-address=127.0.0.1",
         f"--port={server.port}", "--user=root", f"--pid-file={folder}/pid", "--innodb-flush-log-at-trx-commit=0",
         "--innodb-doublewrite=0",
         "--sync-frm=0", "--sql-mode=", "--max-allowed-packet=64M", "--skip-log-bin", "--innodb-log-file-size=8M"],
        stdout=subprocess.DEVNULL, stderr=(Path(folder) / "log").open("w"),
    )  # fmt: skip
    try:
        for _ in range(150):
            if server.answers():
                break
            time.sleep(0.2)
        else:
            pytest.skip(f"MariaDB did not start: {(Path(folder) / 'log').read_text()[-500:]}")
        yield server
    finally:
        process.terminate()
        process.wait(30)


def certificates(folder: Path) -> list[str]:
    """A server's certificate for 127.0.0.1 signed by ``ca.pem``, an authority ``other.pem`` that signed nothing; the options."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2",
                "-subj", f"/CN={name}")  # fmt: skip
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "own.key", "-out", "own.csr", "-subj", "/CN=127.0.0.1")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "own.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "own.pem")  # fmt: skip
    return [f"--ssl-cert={folder}/own.pem", f"--ssl-key={folder}/own.key", f"--ssl-ca={folder}/ca.pem"]


@pytest.fixture
def dump(tmp_path) -> Callable[..., Path]:
    """Write a dump and give its path."""

    def write(content: str | bytes, name: str = "dump.sql") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
