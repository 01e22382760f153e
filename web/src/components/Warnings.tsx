/** What of a request waits for a node that the farm does not have. */
export function Warnings({ texts }: { texts: readonly string[] }) {
  if (!texts.length) return null;
  return (
    <div className="note note-plain" role="status" data-testid="warnings">
      <strong>No node for what it asks for</strong>
      {texts.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </div>
  );
}
