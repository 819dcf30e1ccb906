"""S3 by moto, in memory. It checks no signatures."""

import importlib.util
import sys
import urllib.request
from pathlib import Path

from servers.running import HOST, Hosted

# A signature that moto does not check: it only sees by it that the request is for S3, and whose it is.
AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=tester/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=none"
)


def is_installed() -> bool:
    """Whether moto and the web server that it needs are there."""
    return all(importlib.util.find_spec(name) is not None for name in ("moto", "flask"))


class S3Server(Hosted):
    """An S3 server."""

    def __init__(self) -> None:
        super().__init__("s3")
        self.endpoint = f"http://{HOST}:{self.port}"
        # The variables of every S3 client.
        self.environment = {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "tester",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }
        self._buckets: set[str] = set()

    def _command(self, port: int) -> list[str | Path]:
        return [sys.executable, "-m", "moto.server", "-H", HOST, "-p", str(port)]

    def put(self, bucket: str, key: str, content: Path | bytes) -> None:
        """Stores an object, in a new bucket if need be."""
        if bucket not in self._buckets:
            self._send(f"{self.endpoint}/{bucket}", b"")
            self._buckets.add(bucket)
        self._send(f"{self.endpoint}/{bucket}/{key}", content if isinstance(content, bytes) else content.read_bytes())

    def _send(self, url: str, body: bytes) -> None:
        headers = {"Authorization": AUTHORIZATION, "Content-Type": "application/octet-stream"}
        request = urllib.request.Request(url, data=body, method="PUT", headers=headers)
        with urllib.request.urlopen(request, timeout=30) as reply:
            assert reply.status == 200, reply.status

    def url(self, bucket: str, key: str) -> str:
        """The URL of an object."""
        return f"s3://{bucket}/{key}"
