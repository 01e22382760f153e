"""The farm as Prometheus metrics."""

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.orm import Session

from db.engine import Database
from db.repositories import licences, nodes, overview, statistics
from db.types import utcnow

_OF_NODES = {
    "millrace_node_running": "Builds that run on the node",
    "millrace_node_cpus": "CPUs that the node offers",
    "millrace_node_cpus_used": "CPUs that its running builds ask for",
    "millrace_node_memory_bytes": "Memory that the node offers",
    "millrace_node_memory_used_bytes": "Memory that its running builds ask for",
}


class FarmCollector(Collector):
    """Reads the database whenever it is asked."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def describe(self) -> Iterable[Metric]:
        return ()  # registering asks nothing of the database

    def collect(self) -> Iterator[Metric]:
        with self._database.read() as session:
            yield from _queues(session)
            yield from _builds(session)
            yield from _nodes(session)
            yield from _licences(session)
            states = overview.explorations_by_state(session)
            yield _gauge("millrace_explorations", "Explorations, by state", "state", states)


def _queues(session: Session) -> Iterator[Metric]:
    queued = statistics.by_queue(session)
    running: dict[str, float] = {}
    for count in statistics.running(session):
        running[count.queue] = running.get(count.queue, 0) + count.builds
    ages = {count.queue: (utcnow() - count.oldest).total_seconds() for count in queued}
    zero = dict.fromkeys((name for node in nodes.all(session) for name in node.capabilities), 0.0)
    waiting = {count.queue: float(count.builds) for count in queued}
    yield _gauge("millrace_queue_waiting", "Builds that wait in the queue", "queue", {**zero, **waiting})
    yield _gauge("millrace_queue_running", "Builds of the queue that run", "queue", {**zero, **running})
    yield _gauge("millrace_queue_oldest_seconds", "Age of the oldest build that waits", "queue", {**zero, **ages})


def _builds(session: Session) -> Iterator[Metric]:
    labels = ("stage", "state", "failure")
    builds = GaugeMetricFamily("millrace_builds", "Builds in the database", labels=labels)
    runs = CounterMetricFamily("millrace_build_runs", "Builds that ended after they ran here", labels=labels)
    seconds = CounterMetricFamily("millrace_build_seconds", "How long they ran in all", labels=labels)
    losses = CounterMetricFamily("millrace_lease_losses", "Leases that ran out", labels=("stage",))
    lost: dict[str, int] = {}
    for count in statistics.by_stage(session):
        label = (count.stage, count.state, count.failure or "")
        builds.add_metric(label, count.builds)
        runs.add_metric(label, count.runs)
        seconds.add_metric(label, count.seconds)
        lost[count.stage] = lost.get(count.stage, 0) + count.losses
    for stage, number in lost.items():
        losses.add_metric((stage,), number)
    yield from (builds, runs, seconds, losses)


def _nodes(session: Session) -> Iterator[Metric]:
    lost_since, loads = utcnow() - nodes.LOST_AFTER, overview.loads(session)
    up = GaugeMetricFamily("millrace_node_up", "1 where the node has reported lately", labels=("node", "state"))
    found = {name: GaugeMetricFamily(name, text, labels=("node",)) for name, text in _OF_NODES.items()}
    for node in nodes.all(session):
        up.add_metric((node.name, node.state), float(node.last_seen > lost_since))
        load = loads.get(node.name, overview.Load(0, 0.0, 0.0))
        values = (load.running, node.cpus, load.cpus, node.memory_gb * 1e9, load.memory_gb * 1e9)
        for family, value in zip(found.values(), values, strict=True):
            family.add_metric((node.name,), value)
    yield up
    yield from found.values()


def _licences(session: Session) -> Iterator[Metric]:
    usage = licences.usage(session)
    tokens = {feature: found.tokens for feature, found in usage.items()}
    used = {feature: found.used for feature, found in usage.items()}
    yield _gauge("millrace_licence_tokens", "Tokens of the licence feature", "feature", tokens)
    yield _gauge("millrace_licence_used", "Tokens that running builds hold", "feature", used)


def _gauge(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=(label,))
    for key, value in sorted(values.items()):
        family.add_metric((key,), value)
    return family
