"""The folder of small files, on a disk and on a store that is none."""

from __future__ import annotations

import os

import pytest
from pyarrow import fs

from dedup_lib.errors import ConfigError
from dedup_lib.files import Folder


@pytest.fixture(params=["local", "mock", "subtree"])
def folder(request, tmp_path):
    if request.param == "local":
        return Folder(str(tmp_path / "数据 out"))
    if request.param == "mock":
        return Folder("bucket/out", fs._MockFileSystem())
    return Folder("out", fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))


def test_what_is_written_is_read_listed_and_deleted(folder):
    assert folder.read("a/b.json") is None and folder.entries() == [] and folder.folders() == []
    folder.write("a/b.json", "一\n")
    folder.write("a/b.json", "二\n")
    folder.write("c", "x")
    assert folder.read("a/b.json") == "二\n"
    assert [(entry.name, entry.size) for entry in folder.entries("a")] == [("a/b.json", 4)]
    assert [entry.name for entry in folder.entries("", recursive=True)] == ["a/b.json", "c"]
    assert folder.folders() == ["a"] and folder.exists("a") and not folder.is_file("a")
    folder.delete("a")
    folder.delete("a")
    folder.delete("nowhere/file")
    assert [entry.name for entry in folder.entries("", recursive=True)] == ["c"]


def test_a_storage_that_cannot_be_opened_is_a_mistake_of_the_user():
    with pytest.raises(ConfigError, match="foo://bucket/x: this storage cannot be opened"):
        Folder("foo://bucket/x")


def test_a_uri_of_a_local_folder_is_that_folder(tmp_path):
    Folder(f"file://{tmp_path}").write("x/CURRENT", "r1\n")
    assert (tmp_path / "x" / "CURRENT").read_text() == "r1\n"


def test_only_the_newest_content_or_the_one_before_is_ever_there(tmp_path, monkeypatch):
    folder = Folder(str(tmp_path))
    folder.write("CURRENT", "old")

    def dies(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", dies)
    with pytest.raises(KeyboardInterrupt):
        folder.write("CURRENT", "new")
    assert folder.read("CURRENT") == "old"
