import os
from pathlib import Path

import pytest

from worker.errors import SettingsError
from worker.settings import Settings


def test_defaults_lie_in_the_home(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    assert settings.database == f"sqlite:///{tmp_path}/millrace.db"
    assert settings.redis == f"unix://{tmp_path}/run/redis.sock"
    assert settings.host == "127.0.0.1"


def test_home_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MILLRACE_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Settings().home == tmp_path / "millrace"


def test_socket_path_fits_the_kernel() -> None:
    deep = Settings(home=Path("/tmp") / ("x" * 150))
    assert len(os.fsencode(deep.redis_socket)) < 100
    assert deep.redis_socket != Settings(home=Path("/tmp") / ("y" * 150)).redis_socket


def test_children_get_the_same_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, port=1234, lease_seconds=7, stages="a:b", redis_url="redis://r", concurrency=3)
    settings = settings.model_copy(update={"allowed_hosts": ("a.example", "b.example")})
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    assert Settings() == settings


@pytest.mark.parametrize("values", [{"port": 70_000}, {"lease_seconds": 0}, {"concurrency": 0}])
def test_values_out_of_range_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match=r"MILLRACE_[A-Z_]+ is "):
        Settings(**values)  # pyright: ignore[reportArgumentType]


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_PORT", "abc")
    with pytest.raises(SettingsError, match=r"MILLRACE_PORT is 'abc': .*integer"):
        Settings()


def test_an_empty_home_is_not_the_working_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MILLRACE_HOME", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Settings().home == tmp_path / "millrace"


@pytest.mark.parametrize("text", ["a.example, b.example", '["a.example", "b.example"]', "a.example,,b.example,"])
def test_allowed_hosts_are_a_list_of_either_kind(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("MILLRACE_ALLOWED_HOSTS", text)
    assert Settings().allowed_hosts == ("a.example", "b.example")


@pytest.mark.parametrize("text", ['["a.example"', "[1]"])
def test_allowed_hosts_that_are_no_list_are_named(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("MILLRACE_ALLOWED_HOSTS", text)
    with pytest.raises(SettingsError, match="MILLRACE_ALLOWED_HOSTS is "):
        Settings()


@pytest.mark.parametrize("value", ["not json: postgresql://u:secret@db", '["postgresql://u:secret@db"]'])
def test_a_wrong_address_is_not_shown_since_it_may_hold_a_password(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MILLRACE_JOIN_URLS", value)
    with pytest.raises(SettingsError) as wrong:
        Settings()
    assert "MILLRACE_JOIN_URLS" in str(wrong.value)
    assert "secret" not in str(wrong.value)
