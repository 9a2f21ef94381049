# make run       deduplicate the sample (embedded engine, no Java); ENGINE=spark does it through spark-submit
# make clean-dump   clean a MySQL dump: the sample's, or DUMP=; the report is DUMP_OUTPUT/report.html
# make test      everything this machine can test, WORKERS= side by side (4 GB each), and what was left out
# make test-clusters  make package, and the job from its files alone on a standalone master, local-cluster and Spark Connect
# make notebook  open the notebooks on OUTPUT= (JupyterLab, installed once); LANGUAGE=zh for guides in Chinese
# make test-faults    kill the job at thirty random moments of 20,000 rows, in every stage, its executors; fill its disk; compare
# make test-hostile   thousands of hostile texts and mutated files through the job and the readers, counted
# make lint      style
# make bench     measure the job on a made corpus (N= rows, MODE=, SEED=, ENGINE=) or on INPUT= with TRUTH=; PEERS=1: other tools too
# make bench-report  draw what was measured: bench/report.html, docs/bench.svg
# make package   dist/: what a cluster needs, in one archive with compiled kernels; prints the spark-submit lines
# make audit     ask the registry for known weaknesses of the locked packages, where it can be reached
# make clean     remove the environment and all output

PYTHON  ?= python3
VENV    ?= .venv
ENGINE  ?= embedded
INPUT   ?= data/sample/*.parquet
OUTPUT  ?= out/sample
DUMP    ?= data/sample/legacy_news.sql.gz
DUMP_OUTPUT ?= out/legacy_news
ARGS    ?=
WORKERS ?= 2
LANGUAGE_OF_GUIDES := $(if $(filter zh%,$(LANGUAGE)),zh,en)
N       ?= 20000
MODE    ?= mixed
SEED    ?= 1
TRUTH   ?=
PEERS   ?=
BIN     := $(VENV)/bin
# The benchmark makes its corpus unless somebody names an input; the default above is that of make run.
GIVEN   := $(if $(filter file,$(origin INPUT)),,$(INPUT))

export PYSPARK_PYTHON := $(abspath $(BIN)/python)
export PYTHONPATH := $(CURDIR)$(if $(PYTHONPATH),:$(PYTHONPATH))

.PHONY: run run-embedded run-spark clean-dump test test-clusters test-faults test-hostile audit bench bench-report notebook setup lint package clean
.DEFAULT_GOAL := run

run: run-$(ENGINE)

run-embedded: setup
	$(BIN)/python jobs/rebuild.py --engine embedded --input '$(INPUT)' --output $(OUTPUT) $(ARGS)

run-spark: setup
	JAVA_HOME=$$(tools/java.sh) && export JAVA_HOME && \
	$(BIN)/spark-submit --properties-file conf/spark-local.conf \
	  jobs/rebuild.py --input '$(INPUT)' --output $(OUTPUT) $(ARGS)

clean-dump: setup
	$(BIN)/python jobs/clean_dump.py --engine embedded --dump '$(DUMP)' --output $(DUMP_OUTPUT) $(ARGS)

test: setup
	JAVA_HOME=$$(tools/java.sh --quiet || true) $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadscope --no-loadscope-reorder $(ARGS)

test-clusters: setup
	CLUSTERS=yes JAVA_HOME=$$(tools/java.sh) $(BIN)/python -m pytest tests/cluster $(ARGS)

test-faults: setup
	FAULTS=yes $(BIN)/python -m pytest tests/faults $(ARGS)

test-hostile: setup
	$(BIN)/python -m tests.faults.hostile $(ARGS)

audit: setup
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --target $(VENV)/audit pip-audit && \
	  PYTHONPATH=$(VENV)/audit $(BIN)/python -m pip_audit --path $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
	  || echo "audit: something is known of these packages, or their registry cannot be asked here"

bench: setup
	$(BIN)/python -m bench.run --engine $(ENGINE) --mode $(MODE) --rows $(N) --seed $(SEED) \
	  $(if $(GIVEN),--input '$(GIVEN)') $(if $(TRUTH),--truth '$(TRUTH)') $(if $(filter-out 0,$(PEERS)),--peers) $(ARGS)

bench-report: setup
	$(BIN)/python -m bench.report $(ARGS)

notebook: $(VENV)/notebook
	@test -d "$(OUTPUT)/runs/$$(cat $(OUTPUT)/CURRENT)/threshold_sweep" || \
	  $(BIN)/python jobs/histogram.py --output $(OUTPUT) --language $(LANGUAGE_OF_GUIDES)
	DEDUP_OUTPUT=$(abspath $(OUTPUT)) DEDUP_LANGUAGE=$(LANGUAGE_OF_GUIDES) $(BIN)/jupyter lab --notebook-dir notebooks $(ARGS)

$(VENV)/notebook: $(VENV)/ready
	sed '/--hash=/d; s/ *\\$$//' requirements.lock > $(VENV)/versions # pip asks hashes of everything once it meets one
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(VENV)/versions 'jupyterlab>=4.2,<5'
	touch $@

setup: $(VENV)/ready

$(VENV)/ready: requirements.lock tools/warm.py
	$(PYTHON) tools/environment.py $(VENV) requirements.lock
	$(BIN)/python tools/warm.py
	touch $@

lint: setup
	$(BIN)/ruff check bench dedup_lib deploy jobs tests tools
	$(BIN)/ruff format --check bench dedup_lib deploy jobs tests tools

package: setup
	$(BIN)/python tools/package.py dist

clean:
	rm -rf $(VENV) .venv-peers out dist .cache .pytest_cache .hypothesis spark-warehouse
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
