/**
 * Streams that this side has left while the visitor still sent: what is under way on them is no offence until the visitor knows (RFC 9113 §5.1), as
 * far as their windows went.
 */

/** The oldest are forgotten beyond so many: what comes for them then counts as for any closed stream. */
const MAX_LEFT = 256;

export class LeftStreams {
  /** What each may still bring. Made when first used. */
  #allowances: Map<number, number> | null = null;

  add(id: number, bytes: number): void {
    const all = (this.#allowances ??= new Map<number, number>());
    all.set(id, bytes);
    if (all.size <= MAX_LEFT) return;
    for (const oldest of all.keys()) {
      all.delete(oldest);
      return;
    }
  }

  has(id: number): boolean {
    return this.#allowances?.has(id) === true;
  }

  /** `bytes` of a body came. False: more than could be under way. */
  admit(id: number, bytes: number): boolean {
    const left = this.#allowances?.get(id);
    if (left === undefined || left < bytes) return false;
    this.#allowances?.set(id, left - bytes);
    return true;
  }

  /** The visitor has ended its side too, or knows of the end. */
  delete(id: number): void {
    this.#allowances?.delete(id);
    if (this.#allowances?.size === 0) this.#allowances = null;
  }
}
