"""The analyst's desk: the distribution of similarities in a corpus, what another threshold would do, pairs at the cut."""
