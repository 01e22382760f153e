import { useEffect } from "react";
import { Command } from "@/components/Command";
import { ErrorNote } from "@/components/ErrorNote";
import { Unavailable } from "@/components/Unavailable";
import { Licences } from "@/features/farm/Licences";
import { NodeCard } from "@/features/farm/NodeCard";
import { QueueTable } from "@/features/farm/QueueTable";
import { RunningBuilds } from "@/features/farm/RunningBuilds";
import { useFarm } from "@/lib/api/farm";
import { useNow } from "@/lib/clock";

const EVERY_MS = 2000;

export function FarmRoute() {
  const { data: farm, error, refetch } = useFarm(EVERY_MS);
  const now = useNow(1000);
  useEffect(() => {
    document.title = "Farm · Millrace";
  }, []);
  if (error && !farm) return <Unavailable error={error} onRetry={() => void refetch()} />;
  if (!farm) return <div className="skeleton page" />;
  const present = farm.nodes.filter((node) => node.present).length;
  return (
    <>
      <div className="page-head title-row">
        <h1>
          Farm{" "}
          <span className="subtitle">
            {present === 1 ? "1 node" : `${present} nodes`}, {farm.running.length} running
          </span>
        </h1>
      </div>
      {error && <ErrorNote error={error} />}
      {!farm.nodes.length && (
        <section className="card empty">
          <h2>No node yet</h2>
          <p>The machine of the service is one as soon as a worker runs there; others join by the service's address and a key:</p>
          <Command text="millrace farm join http://SERVICE:8642" />
        </section>
      )}
      <div className="stack-gap">
        <ul className="nodes" aria-label="Nodes">
          {farm.nodes.map((node) => (
            <NodeCard key={node.name} node={node} now={now} />
          ))}
        </ul>
        <div className="farm-columns">
          <div className="stack-gap">
            <RunningBuilds builds={farm.running} now={now} />
            <QueueTable queues={farm.queues} />
          </div>
          <Licences licences={farm.licences} />
        </div>
      </div>
    </>
  );
}
