"""The store that the settings name."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from worker.errors import SettingsError
from worker.settings import Settings
from worker.store.artifacts import ArtifactStore
from worker.store.folder import FolderStore


def open_store(settings: Settings) -> ArtifactStore:
    """The folder below the home, or what MILLRACE_STORE_URL names. Nothing is contacted yet. Raises SettingsError."""
    if settings.store_url is None:
        return FolderStore(settings.store_dir)
    return store_at(settings.store_url, settings)


def store_at(url: str, settings: Settings) -> ArtifactStore:
    """The store at `url`: `s3://bucket/prefix`, or `file:///folder`. Raises SettingsError."""
    parts = urlsplit(url)
    if parts.scheme == "file" and not parts.netloc and Path(unquote(parts.path)).is_absolute():
        return FolderStore(Path(unquote(parts.path)))
    if parts.scheme == "s3" and parts.netloc and not (parts.query or parts.fragment):
        from worker.store.s3 import open_s3  # noqa: PLC0415 - its library is loaded only where it is used

        return open_s3(url, settings.cache_dir, int(settings.store_cache_gb * 1e9))
    raise SettingsError(
        f"MILLRACE_STORE_URL is {url!r}: expected s3://bucket/prefix, or file:///folder for one that all nodes share. "
        "Set another value, or unset it"
    )
