"""The stage ``read``: input rows with one id each, and the files that had to be left out."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib import room, unreadable
from dedup_lib.checks import checked_columns
from dedup_lib.config import Columns, Config
from dedup_lib.journal import Journal
from dedup_lib.nightly import Night
from dedup_lib.stages.contents import pages_of
from dedup_lib.stages.identify import distinct_ids, raw_rows, shared_ids
from dedup_lib.store import RunStore, reading

Given = Callable[[RunStore], DataFrame]  # input rows that no file of the settings holds; may use the run's work tables


class Intake:
    """What was read: ``columns``, ``rows_read`` (a file left out counts as one), ``unreadable`` (None where all was readable)."""

    columns: Columns
    rows_read: int
    needed: dict[str, int | None]

    def __init__(self, store: RunStore, night: Night, config: Config, timer: Journal, given: Given | None) -> None:
        self.store, self.night, self.config, self.timer, self.given = store, night, config, timer, given
        self.bad: list[unreadable.Bad] = []
        self.unreadable: DataFrame | None = None

    def read(self) -> DataFrame:
        """Input rows with one id each."""
        with self.timer("read"):
            settings = self.config.input
            raw = self.given(self.store) if self.given else self._load()
            columns = self.columns = checked_columns(raw, self.config)
            with reading(settings.path, settings.format):
                self.rows_read = raw.count()
            self.needed = room.secure(self.config, self.rows_read, self.timer.detail)
            self.night.claim(self.store)
            if self._remembers():
                raw = self._load()
                self.rows_read = raw.count()
            self.rows_read += len(self.bad)
            for found in self.bad:
                self.timer.detail(f"left out {found.file}: {found.reason}")
            rows = raw_rows(raw, columns.doc_id, settings.profile_column, self.config.profile)
            with reading(settings.path, settings.format):
                shared = self.store.save(shared_ids(rows), "shared_ids")
            if shared.isEmpty():
                return rows.withColumn("copy", F.lit(1))
            return distinct_ids(rows, shared, columns, pages_of(self.config))

    def finds_damage(self) -> bool:
        """Look through all files for what stopped the engine, and begin anew without them; False if nothing is found."""
        settings = self.config.input
        found = unreadable.damaged(settings.path, settings.format) if self.given is None and self.store.claimed else []
        if new := set(found) - set(self.bad):
            self.bad = found
            self.night.start.checkpoints.anew()
        return bool(new)

    def left_out(self) -> dict[str, int]:
        """The files left out, and the rows they are believed to hold."""
        return {"files": len(self.bad), "rows": sum(found.rows or 0 for found in self.bad)}

    def _load(self) -> DataFrame:
        settings = self.config.input
        raw, self.bad = unreadable.load(self.store.session, settings.path, settings.format, self.bad)
        return raw

    def _remembers(self) -> bool:
        """Note what is left out; whether an attempt before knew of more, since it had found damage while it read."""
        noted = self.store.save(unreadable.table(self.store.session, self.bad), unreadable.UNREADABLE.name)
        listed = [unreadable.Bad(*row) for row in noted.orderBy("file").collect()]
        self.unreadable = noted if listed else None
        differs, self.bad = listed != self.bad, listed
        return differs
