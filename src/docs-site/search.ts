/** Search over the documentation: entries made by the build (scripts/docs/search-index.ts), ranked in the browser (site.ts). */

/** A page, or a section of one. */
export interface SearchEntry {
  /** Address below `/docs/`, with the section's anchor: `policies#log-only`. */
  readonly url: string;
  readonly title: string;
  /** Empty for the page itself. */
  readonly heading: string;
  /** Of the page itself: terms of other products, in lower case. */
  readonly keywords: readonly string[];
  /** The words of the text, in lower case, each once. */
  readonly words: string;
}

/** Words of a text, in lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
}

const WEIGHT = { phrase: 40, keyword: 10, title: 12, heading: 8, text: 1 } as const;

/** The entries that have all words of `query`, or else some of them; best first. */
export function search(entries: readonly SearchEntry[], query: string, limit = 8): SearchEntry[] {
  const wanted = wordsOf(query).map(stem);
  if (wanted.length === 0) return [];
  const phrase = wanted.join(' ');
  const ranked = entries
    .map((entry) => ({ entry, ...rank(entry, wanted, phrase) }))
    .filter(({ found }) => found > 0)
    .toSorted((a, b) => b.found - a.found || b.score - a.score);
  const [best] = ranked;
  return ranked
    .filter(({ found }) => found === best?.found)
    .slice(0, limit)
    .map(({ entry }) => entry);
}

function rank(entry: SearchEntry, wanted: readonly string[], phrase: string): { found: number; score: number } {
  const fields = [
    [wordsOf(entry.title), entry.heading === '' ? WEIGHT.title : 2],
    [wordsOf(entry.heading), WEIGHT.heading],
    [entry.keywords.flatMap(wordsOf), WEIGHT.keyword],
    [entry.words.split(' '), WEIGHT.text],
  ] as const;
  let found = 0;
  let score = entry.keywords.some((keyword) => wordsOf(keyword).map(stem).join(' ') === phrase) ? WEIGHT.phrase : 0;
  for (const word of wanted) {
    const hits = fields.map(([words, weight]) => weight * closeness(words, word));
    const sum = hits.reduce((all, hit) => all + hit, 0);
    if (sum > 0) found += 1;
    score += sum;
  }
  return { found, score };
}

/** 1: a word is the same; 0.5: a word begins so; 0: none does. */
function closeness(words: readonly string[], wanted: string): number {
  if (words.some((word) => stem(word) === wanted)) return 1;
  return wanted.length >= 2 && words.some((word) => word.startsWith(wanted)) ? 0.5 : 0;
}

/** "keys" finds "key". */
function stem(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}
