# The image of driver and executors on Kubernetes: Spark's own, and what make package made.
#   make package && docker build -t REGISTRY/dedup . && docker push REGISTRY/dedup
# make package prints the spark-submit line. The archive holds an interpreter of the machine that made it: its glibc must not be
# newer than this image's, which the last RUN finds out.
ARG SPARK=4.2.1-scala2.13-java17-python3-ubuntu

FROM apache/spark:${SPARK} AS unpacked
USER root
ADD dist/environment.tar.gz /unpacked/environment/
COPY dist/*.py /unpacked/

FROM apache/spark:${SPARK}
# Owned by Spark's user: numba takes compiled kernels only from a folder that it could write as well.
COPY --from=unpacked --chown=185:0 /unpacked /opt/dedup
ENV PYSPARK_PYTHON=/opt/dedup/environment/bin/python \
    PYSPARK_DRIVER_PYTHON=/opt/dedup/environment/bin/python
USER 185
RUN /opt/dedup/environment/bin/python -c "import dedup_lib.config, llvmlite.binding, lxml, numba, opencc, pyarrow, rjieba, selectolax"
