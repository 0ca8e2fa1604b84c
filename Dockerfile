# A worker (and the command line) for a fleet on a Temporal cluster.
# The base by the digest of its index, which holds for every architecture; `docker buildx imagetools inspect
# python:3.12.12-slim-bookworm` prints it. Another base: `docker build --build-arg BASE=python:...@sha256:...`
ARG BASE=python:3.12.12-slim-bookworm@sha256:593bd06efe90efa80dc4eee3948be7c0fde4134606dd40d8dd8dbcade98e669c
FROM ${BASE}

RUN useradd --create-home --uid 10001 determinator
WORKDIR /app
COPY requirements/image.txt requirements/image.txt
# pinned versions with digests (`make lock`)
RUN pip install --no-cache-dir --require-hashes -r requirements/image.txt
COPY pyproject.toml README.md LICENSE ./
COPY determinator determinator
COPY activities activities
COPY workflows workflows
COPY worker worker
COPY client client
COPY examples/codec_server.py examples/
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

USER determinator
ENV DETERMINATOR_HOME=/home/determinator/data DETERMINATOR_CACHE=/home/determinator/data/cache PYTHONUNBUFFERED=1
RUN mkdir -p /home/determinator/data
VOLUME /home/determinator/data

# a worker stops gracefully on SIGTERM
STOPSIGNAL SIGTERM
ENTRYPOINT ["determinator"]
CMD ["worker"]
