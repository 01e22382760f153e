import { ErrorNote } from "@/components/ErrorNote";
import { LoadBar } from "@/components/LoadBar";
import { Tag, type Tone } from "@/components/badges";
import { NodeActions } from "@/features/farm/NodeActions";
import { useChangeNode } from "@/features/farm/api/changeNode";
import { type Capability, capabilitiesOf, shortVariant } from "@/features/farm/capabilities";
import type { FarmNode } from "@/lib/api/farm";
import { ago, exactTime, withUnit } from "@/lib/format";

function stateOf({ present, state }: FarmNode): [Tone, string] {
  if (!present) return ["bad", "gone"];
  if (state === "active") return ["good", "active"];
  return ["warn", state];
}

function Chip({ capability: c }: { capability: Capability }) {
  return (
    <li className="chip" title={c.tools || "no tools of its own"}>
      <span className="strong">{c.stage}</span>
      {c.variants.map((variant) => (
        <code key={variant} title={variant}>
          {shortVariant(variant)}
        </code>
      ))}
    </li>
  );
}

function Missing({ missing }: { missing: Record<string, string> }) {
  const entries = Object.entries(missing);
  if (!entries.length) return null;
  return (
    <details className="missing">
      <summary>
        {entries.length === 1 ? "1 thing it can not do" : `${entries.length} things it can not do`}
      </summary>
      <dl>
        {entries.map(([what, why]) => (
          <div key={what}>
            <dt>
              <code>{what}</code>
            </dt>
            <dd>{why}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Disk({ disk }: { disk: Record<string, number> }) {
  const parts = Object.entries(disk).sort((a, b) => b[1] - a[1]);
  if (!parts.length) return null;
  const all = parts.reduce((sum, [, size]) => sum + size, 0);
  return (
    <details className="missing">
      <summary>{withUnit(all, "bytes")} on its disk</summary>
      <dl>
        {parts.map(([what, size]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{withUnit(size, "bytes")}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/** One machine: what it can do, what it does, and what an operator may do to it. */
export function NodeCard({ node, now }: { node: FarmNode; now: number }) {
  const change = useChangeNode(node.name);
  const [tone, word] = stateOf(node);
  return (
    <li className="card node" data-node={node.name}>
      <div className="node-head">
        <h3>{node.name}</h3>
        <Tag tone={tone}>
          <i className="dot" />
          {word}
        </Tag>
        <span className="spacer" />
        <NodeActions node={node} busy={change.isPending} onChange={(to) => change.mutate(to)} />
      </div>
      <LoadBar label="CPUs" used={node.used_cpus} total={node.cpus} />
      <LoadBar label="Memory" used={node.used_memory_gb} total={node.memory_gb} unit="GB" />
      <ul className="chips" aria-label={`What ${node.name} can do`}>
        {capabilitiesOf(node.capabilities).map((c) => (
          <Chip key={c.stage} capability={c} />
        ))}
      </ul>
      <Missing missing={node.missing} />
      <Disk disk={node.disk} />
      <p className="node-foot">
        <span>{node.running === 1 ? "1 build runs" : `${node.running || "no"} builds run`}</span>
        <time dateTime={node.last_seen} title={exactTime(node.last_seen)}>
          {node.present && `millrace ${node.version}, `}seen {ago(node.last_seen, now)}
        </time>
      </p>
      {change.error && <ErrorNote error={change.error} />}
    </li>
  );
}
