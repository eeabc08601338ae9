/**
 * The line ends of an edited text: a text area knows LF alone, and a multipart body with that is broken for its service. Used
 * by replay-edits.ts. Pure: tested without a browser.
 */

/** As a text area gives it back. */
export function asTyped(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

/** `typed` with the ends that its lines have in `first`; lines that were changed take those of the lines whose place they have. */
export function withLineEnds(typed: string, first: string): string {
  if (!first.includes('\r')) return typed;
  const old = linesOf(first);
  const lines = asTyped(typed).split('\n');
  const most = Math.min(old.length, lines.length);
  let above = 0;
  while (above < most && old[above]?.line === lines[above]) above++;
  let below = 0;
  while (below < most - above && old.at(-1 - below)?.line === lines.at(-1 - below)) below++;
  const lastChanged = old.length - below - 1;
  const placeOf = (at: number): number => {
    if (at < above) return at;
    const fromEnd = lines.length - at;
    return fromEnd <= below + 1 ? old.length - fromEnd : Math.min(at, lastChanged);
  };
  const endOf = (at: number): string => (at === lines.length - 1 ? '' : old[placeOf(at)]?.end || '\r\n');
  return lines.map((line, at) => line + endOf(at)).join('');
}

function linesOf(text: string): ReadonlyArray<{ readonly line: string; readonly end: string }> {
  // Line, end, line, end, …, line
  const pieces = text.split(/(\r\n|\r|\n)/);
  return pieces.flatMap((line, at) => (at % 2 === 0 ? { line, end: pieces[at + 1] ?? '' } : []));
}
