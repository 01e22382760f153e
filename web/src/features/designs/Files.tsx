import { useState } from "react";
import { ErrorNote } from "@/components/ErrorNote";
import { archiveUrl, useArtifacts } from "@/features/designs/api/listArtifacts";
import type { Artifact, Design } from "@/lib/api/types";
import { number, withUnit } from "@/lib/format";

const ROOT = "";
/** Folders with more files are closed at first. */
const FEW = 6;

function byFolder(files: readonly Artifact[]): [string, Artifact[]][] {
  const folders = new Map<string, Artifact[]>([[ROOT, []]]);
  for (const file of files) {
    const folder = file.path.includes("/") ? file.path.slice(0, file.path.indexOf("/") + 1) : ROOT;
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return [...folders].sort(([a], [b]) => a.localeCompare(b));
}

function FileRow({ file: f, folder }: { file: Artifact; folder: string }) {
  return (
    <tr>
      <td className={folder && "nested"}>
        <a href={f.url} download={f.path.split("/").at(-1)} title={`${f.media_type}, ${f.digest}`}>
          {f.path.slice(folder.length)}
        </a>
      </td>
      <td className="num">{withUnit(f.size, "bytes")}</td>
    </tr>
  );
}

function Folder({ folder, files }: { folder: string; files: Artifact[] }) {
  const [open, setOpen] = useState(folder === ROOT || files.length <= FEW);
  const sorted = [...files].sort((a, b) => a.path.localeCompare(b.path));
  return (
    <>
      {folder && (
        <tr className="folder">
          <th scope="rowgroup">
            <button type="button" className="link" aria-expanded={open} onClick={() => setOpen(!open)}>
              <span aria-hidden="true">{open ? "▾" : "▸"}</span> <code>{folder}</code>
            </button>
          </th>
          <td className="num faint">{open ? "" : `${number(files.length)} files`}</td>
        </tr>
      )}
      {open && sorted.map((f) => <FileRow key={f.path} file={f} folder={folder} />)}
    </>
  );
}

/** The design directory: every file to take away, and all of them at once. */
export function Files({ design }: { design: Design }) {
  const revision = design.builds.map((b) => `${b.id}:${b.state}`).join();
  const { data: files, error, refetch, isPending } = useArtifacts(design.id, revision);
  return (
    <section className="block" aria-label="Files" data-testid="files">
      <div className="block-head">
        <h2>
          Files <span className="count">{files?.length || ""}</span>
        </h2>
        {design.archive_available && (
          <a className="button small" href={archiveUrl(design.id)} download={`${design.id}.tar.gz`}>
            Download all
          </a>
        )}
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <div className="skeleton rows" />}
      {files?.length === 0 && <p className="hint">The design has not been emitted yet; running its C simulation does.</p>}
      {files && files.length > 0 && (
        <table className="data compact files">
          <tbody>
            {byFolder(files).map(([folder, members]) => (
              <Folder key={folder} folder={folder} files={members} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
