import stat
from pathlib import Path

import pytest

from worker.errors import StartError
from worker.private import private_directory
from worker.queue.bus import Bus
from worker.redis_server import start_redis
from worker.settings import Settings


def test_server_listens_on_a_private_socket_only(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    settings.redis_socket.parent.mkdir(parents=True)
    settings.redis_socket.touch()  # left by a server that was killed
    process = start_redis(settings)
    try:
        Bus(settings.redis).ping()
        assert stat.S_IMODE(settings.redis_socket.stat().st_mode) == 0o700
        assert stat.S_IMODE(settings.redis_socket.parent.stat().st_mode) == 0o700
        import psutil

        assert psutil.Process(process.pid).net_connections("tcp") == []
    finally:
        process.terminate()
        process.wait()


def test_home_may_be_deep(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / ("x" * 200))
    process = start_redis(settings)
    process.terminate()
    process.wait()


def test_directory_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(StartError, match="MILLRACE_HOME"):
        private_directory(tmp_path / "link")
