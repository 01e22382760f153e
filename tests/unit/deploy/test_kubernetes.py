"""deploy/kubernetes against the schemas of the API, and what these can not say."""

import json
import subprocess
from typing import Any

import kubernetes_validate
import pytest
import yaml
from deploy_files import KUBERNETES, compose, load, manifests, pod_specs
from needed import need

from worker.ladder.table import KINDS

VERSION = "1.31"
OBJECTS = dict(manifests())
KEDA = {name: m for name, m in OBJECTS.items() if m["apiVersion"].startswith("keda.sh/")}
PODS = dict(pod_specs())

# From KEDA's reference: what these objects may have.
KEDA_FIELDS = {
    "TriggerAuthentication": {"podIdentity", "secretTargetRef", "env", "configMapTargetRef", "hashiCorpVault"},
    "ScaledObject": {
        "scaleTargetRef", "pollingInterval", "cooldownPeriod", "initialCooldownPeriod", "idleReplicaCount",
        "minReplicaCount", "maxReplicaCount", "fallback", "advanced", "triggers",
    },
    "ScaledJob": {
        "jobTargetRef", "pollingInterval", "successfulJobsHistoryLimit", "failedJobsHistoryLimit",
        "envSourceContainerName", "minReplicaCount", "maxReplicaCount", "rollout", "scalingStrategy", "triggers",
    },
}  # fmt: skip
TRIGGER_FIELDS = {"type", "metadata", "name", "useCachedMetrics", "authenticationRef", "metricType"}
POSTGRESQL_FIELDS = {"query", "targetQueryValue", "activationTargetQueryValue"}


def validate(manifest: dict[str, Any]) -> None:
    # Through JSON: YAML's anchors make one object appear twice.
    kubernetes_validate.validate(json.loads(json.dumps(manifest)), VERSION, strict=True)


@pytest.mark.parametrize("name", sorted(set(OBJECTS) - set(KEDA)))
def test_schema(name: str) -> None:
    validate(OBJECTS[name])


def test_the_validator_finds_mistakes() -> None:
    wrong = json.loads(json.dumps(OBJECTS["Deployment/api"]))
    wrong["spec"]["template"]["spec"]["containers"][0]["resources"]["limit"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        validate(wrong)


@pytest.mark.parametrize("name", sorted(KEDA))
def test_keda(name: str) -> None:
    manifest = KEDA[name]
    spec = manifest["spec"]
    assert manifest["apiVersion"] == "keda.sh/v1alpha1"
    assert set(spec) <= KEDA_FIELDS[manifest["kind"]]
    for trigger in spec.get("triggers", ()):
        assert set(trigger) <= TRIGGER_FIELDS
        assert trigger["type"] == "postgresql"
        assert set(trigger["metadata"]) <= POSTGRESQL_FIELDS
        assert all(isinstance(value, str) for value in trigger["metadata"].values())
        assert f"TriggerAuthentication/{trigger['authenticationRef']['name']}" in OBJECTS
    target = spec.get("scaleTargetRef")
    if target is not None:
        assert f"{target['kind']}/{target['name']}" in OBJECTS
    if "jobTargetRef" in spec:
        validate({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}, "spec": spec["jobTargetRef"]})


@pytest.mark.parametrize("name", sorted(PODS))
def test_pods_are_bounded_and_confined(name: str) -> None:
    spec = PODS[name]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    for container in spec["containers"]:
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert {"cpu", "memory"} <= set(container["resources"]["requests"])
        assert "memory" in container["resources"]["limits"]
        assert {"/tmp", "/var/lib/millrace"} <= {mount["mountPath"] for mount in container["volumeMounts"]}


@pytest.mark.parametrize("name", sorted(PODS))
def test_mounts_probes_and_references_exist(name: str) -> None:
    spec, manifest = PODS[name], OBJECTS[name]
    claims = {claim["metadata"]["name"] for claim in manifest["spec"].get("volumeClaimTemplates", ())}
    volumes = {volume["name"] for volume in spec["volumes"]} | claims
    for container in spec["containers"]:
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        for source in container["envFrom"]:
            reference = source.get("configMapRef")
            assert reference is None or f"ConfigMap/{reference['name']}" in OBJECTS
            assert reference is not None or source["secretRef"]["name"] == "millrace"


def test_images_are_those_that_compose_builds() -> None:
    built = {service["image"] for service in compose()["services"].values() if "build" in service}
    used = {container["image"] for spec in PODS.values() for container in spec["containers"]}
    assert used <= built


def test_probes_ask_for_what_the_service_has() -> None:
    from api.routes.health import router

    paths = {getattr(route, "path", "") for route in router.routes}
    container = PODS["Deployment/api"]["containers"][0]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["path"] in paths
    assert container["readinessProbe"]["httpGet"]["path"] == "/v1/health/ready"


def test_scaling_counts_every_queue() -> None:
    worker = KEDA["ScaledObject/worker"]["spec"]["triggers"][0]["metadata"]["query"]
    vitis = KEDA["ScaledJob/vitis"]["spec"]["triggers"][0]["metadata"]["query"]
    for stage in KINDS:
        assert f"'{stage}" in worker or f"{stage}|" in vitis or f"|{stage})" in vitis or f"({stage}|" in vitis


def test_grace_is_longer_than_what_is_waited_before_stopping() -> None:
    for name in ("StatefulSet/worker", "ScaledJob/vitis"):
        [command] = [c["lifecycle"]["preStop"]["exec"]["command"][2] for c in PODS[name]["containers"]]
        assert PODS[name]["terminationGracePeriodSeconds"] >= int(command.rpartition(" ")[2]) + 30


@pytest.mark.parametrize("folder", ["base", "keda"])
def test_kustomization_names_every_file(folder: str) -> None:
    resources = set(load(KUBERNETES / folder / "kustomization.yaml")["resources"])
    files = {path.name for path in (KUBERNETES / folder).glob("*.yaml")} - {"kustomization.yaml"}
    assert {name for name in resources if name.endswith(".yaml")} == files


@pytest.mark.parametrize("folder", ["base", "keda"])
def test_kustomize_builds_it_and_every_pod_is_under_the_network_policy(folder: str) -> None:
    need("kubectl")
    done = subprocess.run(
        ["kubectl", "kustomize", str(KUBERNETES / folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for manifest in yaml.safe_load_all(done.stdout):
        assert manifest["metadata"]["namespace"] == "millrace"
        spec = manifest.get("spec", {})
        template = spec.get("jobTargetRef", spec).get("template")
        if template is not None:
            assert template["metadata"]["labels"]["app.kubernetes.io/part-of"] == "millrace"
