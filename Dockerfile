# A worker (and the command line) for a fleet on a Temporal cluster.
FROM python:3.12-slim

RUN useradd --create-home --uid 10001 determinator
WORKDIR /app
COPY pyproject.toml README.md LICENSE ./
COPY activities activities
COPY workflows workflows
COPY worker worker
COPY client client
RUN pip install --no-cache-dir ".[docx,pdf]"

USER determinator
ENV DETERMINATOR_HOME=/home/determinator/data PYTHONUNBUFFERED=1
RUN mkdir -p /home/determinator/data
VOLUME /home/determinator/data

# a worker stops gracefully on SIGTERM
STOPSIGNAL SIGTERM
ENTRYPOINT ["determinator"]
CMD ["worker"]
