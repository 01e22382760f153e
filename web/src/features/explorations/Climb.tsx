import { usePromoted } from "@/features/explorations/api/listPromoted";
import { type Word, countWords, newestOf, wordOf } from "@/features/explorations/climb";
import type { Build, ClimbStage, Exploration } from "@/lib/api/types";
import { number } from "@/lib/format";
import { Link } from "@/lib/router";
import { isActive } from "@/lib/states";

const STAGES: ClimbStage[] = ["csynth", "cosim", "link", "measure"];
const WORDS: Word[] = ["passed", "running", "waiting", "failed", "cancelled"];

function Bar({ counts, budget }: { counts: Record<Word, number>; budget: number }) {
  const made = WORDS.reduce((sum, word) => sum + counts[word], 0);
  return (
    <span className="climb-bar" aria-hidden="true">
      {WORDS.map((word) => counts[word] > 0 && <i key={word} className={`climb-${word}`} style={{ flexGrow: counts[word] }} />)}
      {budget > made && <i className="climb-left" style={{ flexGrow: budget - made }} />}
    </span>
  );
}

function inWords(counts: Record<Word, number>): string {
  const said = WORDS.filter((word) => counts[word]).map((word) => `${number(counts[word])} ${word}`);
  return said.join(", ") || "none yet";
}

function Chips({ builds }: { builds: readonly Build[] }) {
  return (
    <ul className="chips">
      {[...builds].sort((a, b) => WORDS.indexOf(wordOf(a)) - WORDS.indexOf(wordOf(b))).map((b) => (
        <li key={b.id}>
          <Link
            href={`/builds/${b.id}`}
            className={`climb-chip climb-${wordOf(b)}`}
            title={b.waiting ?? b.error ?? `${b.stage} of ${b.design_id}: ${wordOf(b)}`}
            aria-label={`${b.stage} of ${b.design_id}: ${wordOf(b)}`}
          />
        </li>
      ))}
    </ul>
  );
}

function Row({ stage, exploration: e }: { stage: ClimbStage; exploration: Exploration }) {
  const { data } = usePromoted(e.id, stage, isActive(e.state));
  const builds = newestOf(data ?? []);
  const budget = e.builds[stage] ?? 0;
  if (!budget && !builds.length) return null;
  const counts = countWords(builds);
  return (
    <li className="climb-row" data-stage={stage}>
      <Link href={`/builds?exploration=${e.id}&stage=${stage}`} className="strong">
        {stage}
      </Link>
      <span className="num">
        {number(builds.length)} <span className="faint">/ {number(budget)}</span>
      </span>
      <span className="climb-words">{inWords(counts)}</span>
      <Bar counts={counts} budget={budget} />
      <Chips builds={builds} />
    </li>
  );
}

/** The designs that go further up the ladder: builds made of the budget, stage by stage. */
export function Climb({ exploration: e }: { exploration: Exploration }) {
  const wanted = STAGES.some((stage) => (e.builds[stage] ?? 0) > 0);
  if (!wanted) return null;
  return (
    <section className="card panel" aria-label="Builds" data-testid="climb">
      <div className="block-head">
        <h2>
          Builds{" "}
          <span className="count">
            {e.vitis ? `Vitis ${e.vitis}` : "newest Vitis"}, {e.board && e.board !== "simulated" ? e.board : "simulated board"}
          </span>
        </h2>
        <ul className="legend">
          {WORDS.map((word) => (
            <li key={word}>
              <i className={`mark square climb-${word}`} />
              {word}
            </li>
          ))}
        </ul>
      </div>
      <ul className="climb">
        {STAGES.map((stage) => (
          <Row key={stage} stage={stage} exploration={e} />
        ))}
      </ul>
    </section>
  );
}
