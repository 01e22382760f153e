import { type ChangeEvent, type KeyboardEvent, useState } from "react";
import { ErrorNote } from "@/components/ErrorNote";
import { Progress } from "@/components/Progress";
import { useUploadModel } from "@/features/catalog/api/uploadModel";
import { proposedName } from "@/features/catalog/names";
import type { Model } from "@/lib/api/types";
import { withUnit } from "@/lib/format";

/** A row of a form that stores a network from a file; it sends nothing with that form. */
export function UploadModel({ onStored }: { onStored: (model: Model) => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState("");
  const [samples, setSamples] = useState<File | null>(null);
  const { mutate, reset, isPending, error, data, share } = useUploadModel();

  const size = (file?.size ?? 0) + (samples?.size ?? 0);

  const choose = (event: ChangeEvent<HTMLInputElement>) => {
    const chosen = event.target.files?.[0] ?? null;
    reset();
    setFile(chosen);
    setSamples(null); // they are of another network's inputs
    setName(chosen ? proposedName(chosen.name) : "");
  };
  const send = () => file && name && !isPending && mutate({ file, name, samples }, { onSuccess: onStored });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the form around it would start an exploration
    send();
  };

  return (
    <details className="wide upload">
      <summary>Add a model: config.json, .onnx or .mlir</summary>
      <label>
        File
        <input type="file" accept=".json,.onnx,.mlir" onChange={choose} />
      </label>
      <label>
        Store as
        <input value={name} maxLength={100} onChange={(e) => setName(e.target.value)} onKeyDown={onKeyDown} />
      </label>
      {file && !file.name.endsWith(".json") && (
        <label title="An array of each of its inputs, or many in a row: what w8a8 and w4a8 calibrate their scales with, instead of seeded samples">
          Samples (.npz), if you have any
          <input key={file.name} type="file" accept=".npz" onChange={(e) => setSamples(e.target.files?.[0] ?? null)} />
        </label>
      )}
      <button type="button" className="button small" disabled={!file || !name || isPending} onClick={send}>
        {isPending ? "Sending…" : "Upload"}
      </button>
      {isPending && file && (
        <>
          <Progress value={share} max={1} busy label="Sent" />
          <small className="num">
            {share < 1 ? `${withUnit(share * size, "bytes")} of ${withUnit(size, "bytes")}` : "sent; the service checks it"}
          </small>
        </>
      )}
      {data && (
        <p className="good" role="status">
          ✓ stored as {data.name}
        </p>
      )}
      {error && <ErrorNote error={error} />}
    </details>
  );
}
