"""A database that is not whole. Apart from the other errors, which the command line loads without SQLAlchemy."""

from sqlalchemy.exc import SQLAlchemyError

from db.errors import DatabaseError


class DamagedDatabaseError(DatabaseError, SQLAlchemyError):
    """The SQLite file at `path` is not whole, or no database: who waits for a database that is away need not."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"the database {path} is damaged ({reason}). Stop Millrace, move the file and its -wal and -shm away, and "
            "bring back the newest backup: millrace farm restore BACKUP"
        )
        self.path = path
