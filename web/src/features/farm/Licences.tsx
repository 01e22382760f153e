import type { Licence } from "@/lib/api/farm";
import { number } from "@/lib/format";

/** Above this many tokens single ones can not be told apart. */
const FEW = 24;

function Tokens({ licence: l }: { licence: Licence }) {
  const text = `${number(l.used)} of ${number(l.tokens)} tokens in use`;
  const count = Math.max(l.tokens, l.used);
  return (
    <span
      className="tokens"
      role="meter"
      aria-label={l.feature}
      aria-valuemin={0}
      aria-valuemax={l.tokens}
      aria-valuenow={Math.min(l.used, l.tokens)}
      aria-valuetext={text}
    >
      {count <= FEW ? (
        Array.from({ length: count }, (_, i) => <i key={i} className={i < l.used ? "used" : ""} />)
      ) : (
        <i className="many">
          <b style={{ width: `${(100 * l.used) / count}%` }} />
        </i>
      )}
    </span>
  );
}

/** One pip a token. */
export function Licences({ licences }: { licences: readonly Licence[] }) {
  return (
    <section className="card panel" aria-label="Licences" data-testid="licences">
      <h2>Licences</h2>
      {!licences.length && <p className="hint">None is counted: <code>millrace farm licence set vitis_hls 2</code> sets how many builds may hold one.</p>}
      <ul className="licences">
        {licences.map((l) => (
          <li key={l.feature} data-licence={l.feature}>
            <span className="strong">{l.feature}</span>
            <span className={l.used >= l.tokens ? "num warn" : "num"}>
              {number(l.used)} / {number(l.tokens)}
            </span>
            <Tokens licence={l} />
          </li>
        ))}
      </ul>
    </section>
  );
}
