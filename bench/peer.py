"""One other tool on a corpus, in this process, with the setting that suits Chinese best: character n-grams, threshold 0.8.

    python -m bench.peer rensa --input 'corpus/*.parquet' --output found.parquet

Runs in the peers' own environment, so it imports nothing of the product. Writes doc_id and cluster_id of every row; rows that a
tool calls duplicates of each other are joined, since that is what its users do with pairs.

Libraries get NFKC text without white space, 25 bands of 5 rows, and keep pairs whose estimate reaches the threshold: what the
bands alone propose would cost precision. Tools bring their own normalisation and banding, which have no such check.
"""

from __future__ import annotations

import argparse
import glob
import os
import struct
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

THRESHOLD, NGRAM = 0.8, 4
BANDS, BAND_ROWS = 25, 5
PERMUTATIONS = BANDS * BAND_ROWS
CORES = len(os.sched_getaffinity(0))
_TOOL_PERMUTATIONS = 128
_SEED = 1
_TABLES = 3  # of MLlib, which needs one equal value of three: a pair at the threshold is missed with 0.2^3


class Joined:
    """Disjoint sets of row numbers."""

    def __init__(self, rows: int) -> None:
        self._parent = list(range(rows))

    def find(self, row: int) -> int:
        """The number that stands for the set of ``row``."""
        parent = self._parent
        while parent[row] != row:
            parent[row] = row = parent[parent[row]]
        return row

    def join(self, a: int, b: int) -> None:
        """Make one set of two; the smaller number stands for it."""
        a, b = self.find(a), self.find(b)
        self._parent[max(a, b)] = min(a, b)

    def labels(self) -> list[int]:
        """For each row the number that stands for its set."""
        return [self.find(row) for row in range(len(self._parent))]


def read_rows(source: str) -> tuple[list[str], list[str]]:
    """Ids and texts of a glob, a folder or a file of Parquet, in the order of the files' names."""
    paths = sorted(glob.glob(os.path.join(source, "**", "*.parquet") if os.path.isdir(source) else source, recursive=True))
    tables = [pq.read_table(path, columns=["doc_id", "content"]) for path in paths]
    table = pa.concat_tables(tables)
    return table["doc_id"].cast(pa.string()).to_pylist(), [text or "" for text in table["content"].to_pylist()]


def plain(text: str) -> str:
    """NFKC without white space."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def grams(text: str) -> list[str]:
    """The different character n-grams of a text, in the order in which they come."""
    return list(dict.fromkeys(text[i : i + NGRAM] for i in range(max(1, len(text) - NGRAM + 1))))


def datasketch(source: str) -> tuple[list[str], list[int]]:
    """MinHash and MinHashLSH, estimates checked."""
    from datasketch import MinHash, MinHashLSH

    ids, texts = read_rows(source)
    index = MinHashLSH(num_perm=PERMUTATIONS, params=(BANDS, BAND_ROWS))
    rows, seen = Joined(len(ids)), []
    grammed = ([gram.encode() for gram in grams(plain(text))] for text in texts)
    for row, signature in enumerate(MinHash.generator(grammed, num_perm=PERMUTATIONS, seed=_SEED)):
        for other in index.query(signature):
            if rows.find(other) != rows.find(row) and signature.jaccard(seen[other]) >= THRESHOLD:
                rows.join(other, row)
        seen.append(signature)
        index.insert(row, signature, check_duplication=False)
    return ids, rows.labels()


def rensa(source: str) -> tuple[list[str], list[int]]:
    """RMinHash and RMinHashLSH, estimates checked."""
    from rensa import RMinHash, RMinHashLSH

    ids, texts = read_rows(source)
    signatures: list[RMinHash] = []
    for low in range(0, len(texts), 1024):  # n-grams of a thousand texts at once, not of all
        part = [grams(plain(text)) for text in texts[low : low + 1024]]
        signatures += RMinHash.from_token_sets(part, PERMUTATIONS, _SEED)
    index = RMinHashLSH(THRESHOLD, PERMUTATIONS, BANDS)
    rows = Joined(len(ids))
    for row, signature in enumerate(signatures):
        for other in index.query(signature):
            if rows.find(other) != rows.find(row) and signature.jaccard(signatures[other]) >= THRESHOLD:
                rows.join(other, row)
        index.insert(row, signature)
    return ids, rows.labels()


def gaoya(source: str) -> tuple[list[str], list[int]]:
    """MinHashStringIndex, which checks estimates by itself and uses all cores."""
    from gaoya.minhash import MinHashStringIndex

    ids, texts = read_rows(source)
    texts = [plain(text) for text in texts]
    index = MinHashStringIndex(32, THRESHOLD, BANDS, BAND_ROWS, None, "char", True, (NGRAM, NGRAM), "vec")
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    rows = Joined(len(ids))
    for low in range(0, len(texts), 1024):
        for row, found in enumerate(index.par_bulk_query(texts[low : low + 1024]), low):
            for other in found:
                rows.join(other, row)
    return ids, rows.labels()


class Characters:
    """A tokenizer for datatrove: every character is a word. Its own for Chinese does the same by way of spaCy."""

    def word_tokenize(self, text: str) -> list[str]:
        """The characters of a text that are no white space."""
        return list("".join(text.split()))


class Slice:
    """A reader for datatrove: every n-th row of the corpus."""

    def __init__(self, source: str) -> None:
        self._source = source

    def __call__(self, data: object, rank: int = 0, world_size: int = 1) -> Iterator[object]:
        """The documents of task ``rank`` of ``world_size``."""
        from datatrove.data import Document

        ids, texts = read_rows(self._source)
        for row in range(rank, len(ids), world_size):
            yield Document(text=texts[row], id=ids[row])


def datatrove(source: str) -> tuple[list[str], list[int]]:
    """The pipeline of signatures, buckets and clusters with its own 14 buckets of 8 hashes; texts without punctuation."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.utils.text import TextNormConfig

    ids, _ = read_rows(source)
    config = MinhashConfig(n_grams=NGRAM, norm_config=TextNormConfig(norm_numbers=False))
    with tempfile.TemporaryDirectory() as work:
        sign = MinhashDedupSignature(f"{work}/signatures", config, language="zho_Latn")
        sign.word_tokenizer = Characters()
        buckets = MinhashDedupBuckets(f"{work}/signatures", f"{work}/buckets", config=config)
        cluster = MinhashDedupCluster(f"{work}/buckets", f"{work}/clusters", config, save_cluster_id=True)
        stages = ([Slice(source), sign], CORES), ([buckets], config.num_buckets), ([cluster], 1)
        for number, (pipeline, tasks) in enumerate(stages):
            LocalPipelineExecutor(pipeline, tasks=tasks, workers=CORES, logging_dir=f"{work}/logs{number}").run()
        rows, first = Joined(len(ids)), {}
        for task in range(CORES):
            for place, label in _pairs_of_integers(f"{work}/clusters/{task:06d}.clusters"):
                row = place * CORES + task
                rows.join(first.setdefault(label, row), row)
    return ids, rows.labels()


def _pairs_of_integers(path: str) -> Iterable[tuple[int, int]]:
    if not os.path.exists(path):
        return ()
    with open(path, "rb") as file:
        return list(struct.iter_unpack("<2I", file.read()))


def text_dedup(source: str) -> tuple[list[str], list[int]]:
    """Its MinHash script on texts whose characters stand apart, since it splits words at what is no letter."""
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
    ids, texts = read_rows(source)
    with tempfile.TemporaryDirectory() as work:
        os.environ["HF_HOME"] = f"{work}/home"
        table = pa.table({"text": [" ".join(filter(str.isalnum, plain(text))) for text in texts]})
        pq.write_table(table, f"{work}/texts.parquet")
        from text_dedup import minhash
        from text_dedup.utils import IOArgs, MetaArgs, MinHashArgs

        minhash.main.callback.__wrapped__.__wrapped__.__wrapped__(
            io_args=IOArgs(
                path="parquet", data_files=f"{work}/texts.parquet", split="train", cache_dir=f"{work}/cache",
                output=f"{work}/kept", num_proc=CORES,
            ),
            meta_args=MetaArgs(column="text"),
            minhash_args=MinHashArgs(
                ngram=NGRAM, threshold=THRESHOLD, num_perm=_TOOL_PERMUTATIONS, hash_func="xxh3", hash_bits=32,
            ),
        )  # fmt: skip
        return ids, [minhash.uf.find(row) for row in range(len(ids))]


def mllib(source: str) -> tuple[list[str], list[int]]:
    """Spark MLlib's MinHashLSH and approxSimilarityJoin, exact on hashed n-grams; under spark-submit."""
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    ids, texts = read_rows(source)
    spark = SparkSession.builder.appName("peer").getOrCreate()
    with tempfile.TemporaryDirectory() as work:
        pq.write_table(pa.table({"row": range(len(ids)), "text": [plain(text) for text in texts]}), f"{work}/texts.parquet")
        characters = spark.read.parquet(f"{work}/texts.parquet").select("row", F.split("text", "").alias("characters"))
        steps = [
            NGram(n=NGRAM, inputCol="characters", outputCol="grams"),
            HashingTF(binary=True, numFeatures=1 << 20, inputCol="grams", outputCol="features"),
            MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=_TABLES, seed=_SEED),
        ]
        ready = characters.repartition(4 * CORES).where(F.size("characters") >= NGRAM)
        model = Pipeline(stages=steps).fit(ready)
        signed = model.transform(ready).select("row", "features", "hashes").persist()
        near = model.stages[-1].approxSimilarityJoin(signed, signed, 1 - THRESHOLD, "distance")
        pairs = near.where("datasetA.row < datasetB.row").select("datasetA.row", "datasetB.row").toPandas()
        spark.stop()
    rows = Joined(len(ids))
    for a, b in pairs.itertuples(index=False):
        rows.join(int(a), int(b))
    return ids, rows.labels()


METHODS: dict[str, Callable[[str], tuple[list[str], list[int]]]] = {
    method.__name__: method for method in (rensa, gaoya, datasketch, datatrove, text_dedup, mllib)
}


def main(arguments: Sequence[str]) -> None:
    """Run one tool and write its clusters. Nothing but the standard library parses this: the environment is the peers'."""
    parser = argparse.ArgumentParser(description="Run one other tool on a corpus.")
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("--input", required=True, metavar="GLOB")
    parser.add_argument("--output", required=True, metavar="FILE")
    given = parser.parse_args(arguments)
    ids, labels = METHODS[given.method](given.input)
    pq.write_table(pa.table({"doc_id": ids, "cluster_id": [ids[label] for label in labels]}), given.output)


if __name__ == "__main__":
    main(sys.argv[1:])
