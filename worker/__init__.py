"""Background work: the Celery application, its tasks and the services they call."""
