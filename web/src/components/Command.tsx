import { useState } from "react";

/** A command line to copy. The clipboard is missing on plain-http addresses other than localhost: then only the text. */
export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  return (
    <span className="command">
      <code>{text}</code>
      {isSecureContext && (
        <button type="button" className="button small" onClick={() => void copy()}>
          {copied ? "Copied" : "Copy"}
        </button>
      )}
    </span>
  );
}
