# Two images: `server` (the default) and `phoenix`. docker-compose.yml builds both.

FROM python:3.11-slim AS phoenix
WORKDIR /app
COPY constraints-phoenix.txt ./
RUN pip install --no-cache-dir -c constraints-phoenix.txt arize-phoenix \
    && useradd --create-home phoenix && mkdir /data && chown phoenix /data
USER phoenix
ENV PHOENIX_HOST=0.0.0.0 PHOENIX_PORT=6006 PHOENIX_WORKING_DIR=/data \
    PHOENIX_ALLOW_EXTERNAL_RESOURCES=false PHOENIX_TELEMETRY_ENABLED=false \
    PHOENIX_LOG_MIGRATIONS=false
VOLUME /data
EXPOSE 6006
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:6006/healthz')"]
CMD ["phoenix", "serve"]

FROM python:3.11-slim AS server
# the CPU-only index; give an empty value for a build with CUDA
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE ./
RUN pip install --no-cache-dir torch==2.13.0 ${TORCH_INDEX:+--index-url ${TORCH_INDEX}}
COPY backend backend
COPY create create
COPY targets targets
COPY frontend frontend
RUN pip install --no-cache-dir -c constraints.txt -e '.[all]' \
    && useradd --create-home atlas && mkdir data && chown -R atlas data create
USER atlas
ENV ATLAS_HOST=0.0.0.0 ATLAS_PORT=8000
# the bundled demo, so that the container answers at once
RUN atlas create files create/samples --collection atlas_demo
VOLUME /app/data
EXPOSE 8000
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/api/health')"]
CMD ["atlas", "serve"]
