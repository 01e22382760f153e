import { useState } from "react";
import { RunBadge } from "@/features/sweeps/RunBadge";
import { SlotFronts } from "@/features/sweeps/SlotFronts";
import type { SlotComparison } from "@/lib/api/sweeps";
import { number } from "@/lib/format";
import { Link } from "@/lib/router";

function Changes({ slot }: { slot: SlotComparison }) {
  if (!slot.changes.length) return <p className="hint">Nothing that it was made with has changed.</p>;
  return (
    <ul className="causes">
      {slot.changes.map((c) => (
        <li key={c.what}>
          <span className="strong">{c.what}</span> <code>{c.before}</code> → <code>{c.after}</code>
        </li>
      ))}
    </ul>
  );
}

function Detail({ slot: s }: { slot: SlotComparison }) {
  return (
    <div className="card slot-detail" data-testid="slot">
      <div className="card-head">
        <h2>{s.slot}</h2>
        <span>
          <Link href={`/explorations/${s.exploration}`}>this run</Link>
          {s.baseline_exploration && (
            <>
              {" · "}
              <Link href={`/explorations/${s.baseline_exploration}`}>baseline</Link>
            </>
          )}
        </span>
      </div>
      {s.error && <p className="hint bad pre">{s.error}</p>}
      <SlotFronts slot={s} />
      <div className="slot-changes">
        <h3>What it was made with</h3>
        <Changes slot={s} />
        {s.difference_count > 0 && <p className="hint">{number(s.difference_count)} values of designs differ.</p>}
      </div>
    </div>
  );
}

const ORDER: SlotComparison["result"][] = ["regressed", "failed", "cancelled", "changed", "new", "same"];

/** The explorations of a run, the worst first; one of them in detail. */
export function Slots({ slots }: { slots: readonly SlotComparison[] }) {
  const [chosen, choose] = useState<string | null>(null);
  const sorted = [...slots].sort((a, b) => ORDER.indexOf(a.result) - ORDER.indexOf(b.result) || a.slot.localeCompare(b.slot));
  const shown = sorted.find((s) => s.exploration === chosen) ?? sorted[0];
  if (!shown) return null;
  return (
    <section className={sorted.length > 1 ? "slots" : ""} aria-label="Explorations of the run">
      {sorted.length > 1 && (
        <ul className="card slot-list">
          {sorted.map((s) => (
            <li key={s.exploration}>
              <button type="button" aria-pressed={s === shown} onClick={() => choose(s.exploration)}>
                <span>{s.slot}</span>
                <RunBadge state={s.result} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <Detail key={shown.exploration} slot={shown} />
    </section>
  );
}
