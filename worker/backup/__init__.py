"""Backup and restore of a farm: `make` and `restore` do it, `files` and `archive` say what a backup looks like."""
