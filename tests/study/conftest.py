"""A study in a folder, and a real object store on loopback."""

import itertools
import os
import socket
import subprocess
import sys
import time

import pytest
from tests.support.studies import new_store

_numbers = itertools.count()


@pytest.fixture(scope="session")
def s3_server():
    """The environment that leads to a server process of our own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    command = (sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as server:
        try:
            _wait_for(port, server)
            yield environment
        finally:
            server.terminate()


def _wait_for(port, server):
    while server.poll() is None:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"moto ended with {server.returncode}")


@pytest.fixture
def s3(s3_server, monkeypatch):
    """The address of an empty place in an object store, in a bucket of its own."""
    import boto3

    for name, value in s3_server.items():
        monkeypatch.setenv(name, value)
    bucket = f"study-{os.getpid()}-{next(_numbers)}"
    client = boto3.client("s3", endpoint_url=s3_server["AWS_ENDPOINT_URL"])
    client.create_bucket(Bucket=bucket)
    client.close()
    return f"s3://{bucket}/deep/study"


@pytest.fixture(params=["folder", "s3"])
def address(request, tmp_path, monkeypatch):
    """The address of an empty store: a folder and an object store in turn."""
    monkeypatch.setenv("MLAB_SCRATCH", str(tmp_path / "scratch"))
    if request.param == "s3":
        return request.getfixturevalue("s3")
    return str(tmp_path / "store")


@pytest.fixture(autouse=True)
def _own_cache(cache, monkeypatch):
    monkeypatch.setenv("MLAB_CACHE", str(cache))


@pytest.fixture
def store(tmp_path):
    """An empty study in a folder."""
    return new_store(tmp_path / "study")
