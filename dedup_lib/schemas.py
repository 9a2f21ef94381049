"""Every table of the product: its columns, their types, and what they mean.

``RAW`` stands for the input's own columns, which every table that starts with it carries unchanged. Work tables live only as
long as the run; published tables are the contract with those who read the result.
"""

from __future__ import annotations

from dedup_lib.tables import Column, Table

DOC_ID = Column("doc_id", "string", "the row's id: as given, or made from the row's content where the input has none")
KEPT_ID = Column("kept_id", "string", "the surviving row it is compared with")
SOURCE = Column("source", "string", "the input's column of that role; empty where unknown")
PROFILE = Column("profile", "string", "name of the profile that judged the row")
RANK = Column("rank", "bigint", "place in the order of priority among the representatives, 0 first")
MEASURES = (
    Column("hamming", "int", "bits in which the two SimHashes differ, 0 to 64; null where a text has no features"),
    Column("jaccard", "double", "shared over all distinct shingles of the two normalised texts, 0 to 1"),
    Column("containment", "double", "shared over the smaller text's distinct shingles, 0 to 1"),
    Column(
        "threshold",
        "double",
        "the Jaccard similarity (contains: containment) that a drop needs; short texts: what one edit leaves",
    ),
    Column("reason", "string", "the rule that decided, and the differing facts where a guard did"),
)
RELATION = Column("relation", "string", "same: the two say the same; contains: the text of doc_id lies in that of kept_id")

SIGNATURE = (
    Column("features", "int", "feature characters (letters and numbers) of the text"),
    Column("shingles", "int", "distinct shingles of the text"),
    Column("simhash", "bigint", "64-bit SimHash, two's complement; null for a text without features"),
    Column("minhash", "binary", "MinHash signature, little-endian uint32; null for texts too short to be compared"),
    Column("deletions", "binary", "keys by which short texts meet, little-endian uint64; null for others"),
    Column("sentences", "binary", "smallest sentence hashes, see kernels/anchors.py; null where no containment is looked for"),
    Column(
        "masked", "bigint", "hash of the text with its codes masked, null where there are none; in signatures of families only"
    ),
)

# ---- work tables, in the order of the data flow -----------------------------------------------------------------------------

NORMALIZED = Table(
    "normalized",
    "one row for each input row that can be compared",
    (
        DOC_ID,
        PROFILE,
        SOURCE,
        Column("published", "bigint", "publication time in microseconds, null if unknown"),
        Column("length", "int", "characters of the raw content; bytes decoded, a page's body alone"),
        Column("raw_sha1", "string", "SHA-1 of the raw compared columns, bytes as they are"),
        Column("text_sha1", "string", "SHA-1 of the normalised text; of the raw one where nothing is left"),
        Column("key", "string", "SHA-1 of the normalised and folded text: rows with one key say the same"),
        Column("text", "string", "the normalised and folded text, from which all features are taken"),
        Column("heading", "string", "the normalised title where the profile compares it apart, else empty"),
        *SIGNATURE,
        Column("unfolded", "string", "the normalised text where folding changed it, null elsewhere"),
        Column("head", "bigint", "key of the unfolded text's first sentence or line, see kernels/units.py; null if it has none"),
        Column("tail", "bigint", "key of its last one"),
    ),
)
EXACT = Table(
    "exact",
    "for each row the representative of its exact group, which is the row itself where method is null",
    (
        DOC_ID,
        Column("rep_id", "string", "doc_id of the group's first row in the order of priority"),
        Column("method", "string", "exact_raw, exact_normalized or exact_folded: how the row equals its representative"),
        Column("pinned", "boolean", "a verdict names the row, so it speaks for itself instead of joining its exact group"),
        PROFILE,
        Column("published", "bigint", "as in normalized"),
        Column("length", "int", "as in normalized"),
        Column("raw_sha1", "string", "as in normalized"),
        Column("text_sha1", "string", "as in normalized"),
        Column("key", "string", "as in normalized"),
    ),
)
SIGNATURES = Table(
    "signatures",
    "one row for each representative",
    (
        RANK,
        DOC_ID,
        PROFILE,
        Column("raw_sha1", "string", "as in normalized"),
        Column("text_sha1", "string", "as in normalized"),
        Column("key", "string", "as in normalized"),
        Column("pinned", "boolean", "as in exact"),
        *SIGNATURE,
    ),
)
BUCKETS = Table(
    "buckets",
    "one row for each representative and band or block key",
    (
        Column("key", "bigint", "hash of a band of the signature or of a SimHash's whole blocks; the low 8 bits are the group"),
        RANK,
        Column("simhash", "bigint", "as in signatures"),
        Column("shingles", "int", "as in signatures"),
    ),
)
CANDIDATES = Table(
    "candidates",
    "what the buckets of one round gave: pairs, rows that must wait, and bucket statistics",
    (
        Column("kind", "tinyint", "0 pair, 1 waiting row, 2 hot bucket, 3 totals of a partition"),
        Column("a", "bigint", "rank of the pair's earlier row; the waiting row; the hot bucket's first row; buckets"),
        Column("b", "bigint", "rank of the pair's later row; the hot bucket's size; pairs of a naive self-join"),
        Column("value", "bigint", "Hamming distance of the pair; pairs that the hot bucket gave"),
        Column("group", "int", "of a hot bucket: profile and kind of key, see stages/candidates.py"),
    ),
)
VERIFIED = Table(
    "verified",
    "candidate pairs that are duplicates or worth a look, with exact measures",
    (
        Column("a", "bigint", "rank of the earlier row"),
        Column("b", "bigint", "rank of the later row"),
        Column("outcome", "tinyint", "1 duplicate, 2 review, 3 review since the facts differ; 0 where a verdict asks"),
        *MEASURES,
    ),
)
EDGES = Table(
    "edges",
    "pairs of which at most one row may survive",
    (
        Column("a", "bigint", "rank of the earlier row"),
        Column("b", "bigint", "rank of the later row"),
    ),
)
DECISIONS = Table(
    "decisions",
    "one row for each row of normalized: what becomes of it",
    (
        DOC_ID,
        Column("kept_id", "string", "the survivor it is dropped for; null for a survivor"),
        Column("method", "string", "as in pairs; null for a survivor"),
        *MEASURES,
        RELATION,
        Column("content_sha1", "string", "as in documents"),
        Column("simhash", "bigint", "as in documents"),
        PROFILE,
        Column("length", "int", "as in normalized"),
    ),
)

FAMILY = Column("family", "int", "rows of the family of look-alikes that this pair stands for; null for a pair alone")
QUESTIONS = Table(
    "questions",
    "pairs that the measures did not decide: for a person, or kept apart by a verdict",
    (DOC_ID, KEPT_ID, Column("decision", "string", "review, or keep for a verdict"), *MEASURES, RELATION, PROFILE, FAMILY),
)

# ---- input tables beside the corpus -----------------------------------------------------------------------------------------

VERDICTS = Table(
    "verdicts",
    "what people decided; it always wins",
    (
        Column("doc_id", "string", "the row judged"),
        Column("other_id", "string", "the row it was compared with; null for protect"),
        Column("verdict", "string", "duplicate, not_duplicate or protect"),
        Column("judged_by", "string", "who said so; null or absent where nobody noted it"),
        Column("judged_at", "timestamp", "when, UTC; null or absent where nobody noted it"),
    ),
)
NEEDED_OF_A_VERDICT = ("doc_id", "other_id", "verdict")

# ---- published tables -------------------------------------------------------------------------------------------------------

DOCUMENTS = Table(
    "documents",
    "the survivors",
    (
        Column("cluster_size", "int", "rows that say the same, the survivor included"),
        Column("content_sha1", "string", "SHA-1 of the normalised text without templates; of the raw one where nothing is left"),
        Column("simhash", "bigint", "64-bit SimHash, two's complement; null for a text without letters or numbers"),
        PROFILE,
    ),
    raw=True,
)
DROPPED = Table(
    "dropped",
    "the rows that were dropped, complete, so that each can be restored from here",
    (KEPT_ID, Column("method", "string", "as in pairs")),
    raw=True,
)
PAIRS = Table(
    "pairs",
    "the audit: one row for each drop, each review pair and each verdict applied",
    (
        DOC_ID,
        KEPT_ID,
        Column("decision", "string", "drop, review (both rows stay) or keep (a verdict prevented a drop)"),
        Column("method", "string", "exact_raw, exact_normalized, exact_folded, near or verdict"),
        RELATION,
        *MEASURES[:4],
        PROFILE,
        MEASURES[4],
        Column("run_id", "string", "the run that decided"),
        Column("decided_at", "timestamp", "when that run began, UTC"),
    ),
)
CLUSTERS = Table(
    "clusters",
    "every row that shares its text with another, and its survivor",
    (
        Column("cluster_id", "string", "doc_id of the survivor"),
        DOC_ID,
        Column("is_survivor", "boolean", "whether this row is the survivor"),
    ),
)
REVIEW = Table(
    "review",
    "pairs for a person to judge; both rows are in documents",
    (
        DOC_ID,
        KEPT_ID,
        Column("title", "string", "title of doc_id"),
        Column("kept_title", "string", "title of kept_id"),
        Column("text", "string", "content of doc_id: raw; bytes decoded, a page's body alone"),
        Column("kept_text", "string", "the same of kept_id"),
        RELATION,
        *MEASURES,
        PROFILE,
        FAMILY,
    ),
)
QUARANTINE = Table(
    "quarantine",
    "rows that could not be processed",
    (
        Column("reason", "string", "empty, undecodable, duplicate_id, missing_id, unknown_profile or unreadable_file"),
        Column("file", "string", "the input file and what is wrong with it; then the line stands for all its rows"),
    ),
    raw=True,
)
FLAGS = Table(
    "flags",
    "what there is to say about how a row's content was read; no row where it was plain",
    (
        DOC_ID,
        Column(
            "flag",
            "string",
            "charset_guessed, charset_doubtful, charset_mismatch, bytes_replaced, undecodable, body_extracted or no_body_found",
        ),
        Column("detail", "string", "the character set, counts"),
    ),
)

TEMPLATES = Table(
    "templates",
    "what was learned to be a site's own: sentences and lines at the head or tail of unrelated documents",
    (
        PROFILE,
        SOURCE,
        Column("position", "string", "head or tail"),
        Column("text", "string", "the sentence or line; what has the same letters and numbers counts as the same"),
        Column("documents", "bigint", "documents of the source that have it there, copies included"),
        Column("unrelated", "int", "so many of at most 64 different ones that were looked at have nothing to do with each other"),
        Column("example_ids", "array<string>", "three of these"),
        Column("vetoed", "boolean", "left alone, since it holds a phrase of the lexicon's list keep"),
        Column("unit", "bigint", "hash of its letters and numbers"),
    ),
)
EVENTS = Table(
    "events",
    "one row for each group of equal texts of the profiles that ask for it: what was logged, how often, from when to when",
    (
        PROFILE,
        Column("event", "string", "the normalised text, in which what differs between lines is masked"),
        Column("count", "bigint", "rows of the group"),
        Column("first_time", "timestamp", "earliest publication time, UTC; null if none is known"),
        Column("last_time", "timestamp", "latest publication time, UTC"),
        Column("example_id", "string", "the first row by priority"),
        Column("example", "string", "its raw content"),
    ),
)

SCORES = Table(
    "scores",
    "every pair that was compared and is a duplicate, or worth a look: what a change of thresholds is computed from",
    (
        Column("doc_id", "string", "the later row by priority; for its exact copies it speaks too"),
        Column("other_id", "string", "the earlier row"),
        Column("rank", "bigint", "place of doc_id in the order of priority among the distinct texts, 0 first"),
        Column("other_rank", "bigint", "place of other_id"),
        PROFILE,
        Column("features", "int", "feature characters (letters and numbers) of the shorter text"),
        Column("outcome", "tinyint", "1 duplicate, 2 review, 3 review since the facts differ; 0 where a verdict asks"),
        Column("relation", "string", "same, or contains: one text lies in the other"),
        *MEASURES,
    ),
)

PUBLISHED = (DOCUMENTS, DROPPED, PAIRS, CLUSTERS, REVIEW, QUARANTINE, FLAGS, TEMPLATES, EVENTS, SCORES)
ALL_TABLES = (NORMALIZED, EXACT, SIGNATURES, BUCKETS, CANDIDATES, VERIFIED, EDGES, DECISIONS, QUESTIONS, VERDICTS, *PUBLISHED)
