"""smoke"""
from tests.pipeline.helpers import *

def test_exact(session, tmp_path):
    t = run(session, [{"doc_id":"a","content":"好评"},{"doc_id":"b","content":"差评"},{"doc_id":"c","content":"好评"}], tmp_path)
    assert survivors(t)=={"a","b"} and drops(t)=={"c":("a","exact_raw")}
