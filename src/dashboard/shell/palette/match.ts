/** Which entries of the palette fit what was typed. Pure: tested without a browser. */

export interface Entry {
  /** What kind of thing it is: "Page", "Tunnel". */
  readonly kind: string;
  readonly title: string;
  /** More to find it by, such as a public URL. */
  readonly detail?: string;
  /** Below `/app`; for documentation the whole address. */
  readonly href: string;
  readonly isDocs?: true;
}

const MOST = 40;

/** Entries with all characters of `query` in their order, best first. Without a query, the first ones as they are. */
export function matching(entries: readonly Entry[], query: string): readonly Entry[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') return entries.slice(0, MOST);
  return entries
    .flatMap((entry) => {
      const title = scoreOf(wanted, entry.title.toLowerCase());
      const rest = scoreOf(wanted, `${entry.kind} ${entry.detail ?? ''}`.toLowerCase());
      const score = Math.max(title, rest / 2);
      return score > 0 ? [{ entry, score }] : [];
    })
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map(({ entry }) => entry);
}

/** 0: it does not fit. A whole word counts most, then the begin of a word, then characters that stand together. */
export function scoreOf(wanted: string, text: string): number {
  const whole = text.indexOf(wanted);
  if (whole !== -1) return 1_000 - Math.min(whole, 100) + (isBegin(text, whole) ? 500 : 0) - text.length / 100;
  let score = 0;
  let at = -1;
  for (const character of wanted.replaceAll(' ', '')) {
    const next = text.indexOf(character, at + 1);
    if (next === -1) return 0;
    score += isBegin(text, next) ? 8 : next === at + 1 ? 5 : 1;
    at = next;
  }
  // Characters that are spread over a long text fit by chance.
  return score >= wanted.length * 2 ? score : 0;
}

function isBegin(text: string, at: number): boolean {
  return at === 0 || /[^a-z0-9]/.test(text[at - 1] ?? '');
}
