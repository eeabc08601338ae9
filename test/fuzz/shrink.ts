/** Makes a failing case as small as it still fails. */

/** Leaves out of `text` what it can while `fails` holds: halves first, single characters last. */
export function shrink(text: string, fails: (text: string) => boolean): string {
  let best = text;
  for (let size = Math.ceil(text.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length; ) {
      const shorter = best.slice(0, at) + best.slice(at + size);
      if (fails(shorter)) best = shorter;
      else at += size;
    }
  }
  return best;
}
