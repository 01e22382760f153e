"""Celery on Redis: tickets that say where there is work, and wake-up calls between processes."""
