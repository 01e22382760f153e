/** A name for the model in a file, of the characters that the service takes; none for a bare config.json. */
export function proposedName(filename: string): string {
  const stem = filename.replace(/\.[^.]*$/, "");
  return stem === "config" ? "" : stem.replace(/[^A-Za-z0-9._+-]/g, "_").replace(/^[._+-]+/, "").slice(0, 100);
}
