const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Leaves out what was heard before of pieces that are numbered by the byte behind them. */
export class ByteCut {
  private seen = 0;

  /** What of `text` is new, which ends at byte `end`. */
  fresh(text: string, end: number): string {
    const unseen = end - this.seen;
    if (unseen <= 0) return "";
    this.seen = end;
    const bytes = encoder.encode(text);
    return bytes.length <= unseen ? text : decoder.decode(bytes.subarray(bytes.length - unseen));
  }
}
