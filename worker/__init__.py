"""Runs explorations and builds: Celery tasks, leases, the artifact store, and the processes of one machine."""
