from pathlib import Path

import pytest

from worker.errors import SettingsError
from worker.settings import Settings
from worker.store.folder import FolderStore
from worker.store.opening import open_store
from worker.store.s3 import S3Store


def test_the_home_is_the_default(tmp_path: Path) -> None:
    store = open_store(Settings(home=tmp_path))
    assert isinstance(store, FolderStore)
    assert store.root == tmp_path / "store"


def test_folder_that_nodes_share(tmp_path: Path) -> None:
    store = open_store(Settings(home=tmp_path, store_url=f"{(tmp_path / 'a b').as_uri()}"))
    assert isinstance(store, FolderStore)
    assert store.root == tmp_path / "a b"
    assert open_store(Settings(home=tmp_path, store_url=store.url)).url == store.url


def test_bucket(tmp_path: Path) -> None:
    store = open_store(Settings(home=tmp_path, store_url="s3://bucket/some/prefix"))
    assert isinstance(store, S3Store)
    assert store.url == "s3://bucket/some/prefix"


def test_bucket_where_the_system_has_no_certificate_authorities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    assert isinstance(open_store(Settings(home=tmp_path, store_url="s3://bucket/some/prefix")), S3Store)


@pytest.mark.parametrize("url", ["/srv/store", "s3:bucket", "s3://", "file://host/x", "gs://bucket", "s3://b/p?x=1"])
def test_other_addresses_are_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(SettingsError, match=r"MILLRACE_STORE_URL .* expected s3://bucket/prefix"):
        open_store(Settings(home=tmp_path, store_url=url))
