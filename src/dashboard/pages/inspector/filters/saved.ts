/** Filters by a name, as the browser keeps them. Pure: tested without a browser. */
import { filterIn, searchOf } from './filter.ts';

export interface Saved {
  readonly name: string;
  /** As in the address of the page. */
  readonly search: string;
}

const MAX_SAVED = 20;
const MAX_NAME = 60;

/** What was kept may be of another version, or of another hand: what is no filter is left out. */
export function readSaved(text: string | undefined): readonly Saved[] {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? '[]');
  } catch {
    // No JSON: nothing that this page has kept.
    return [];
  }
  if (!Array.isArray(kept)) return [];
  return kept.flatMap((one: unknown) => {
    if (typeof one !== 'object' || one === null || !('name' in one) || !('search' in one)) return [];
    const { name, search } = one;
    if (typeof name !== 'string' || typeof search !== 'string' || name === '' || name.length > MAX_NAME) return [];
    const clean = searchOf(filterIn(search));
    return clean === '' ? [] : [{ name, search: clean }];
  });
}

/** The newest first; one of the same name is replaced. */
export function withSaved(saved: readonly Saved[], one: Saved): readonly Saved[] {
  return [one, ...saved.filter(({ name }) => name !== one.name)].slice(0, MAX_SAVED);
}

/** Restores a deleted filter at its place. Undefined if its name is taken by now, or the list is full. */
export function restored(
  saved: readonly Saved[],
  { of: former, name }: { readonly of: readonly Saved[]; readonly name: string },
): readonly Saved[] | undefined {
  const at = former.findIndex((one) => one.name === name);
  const one = former[at];
  if (one === undefined || saved.length >= MAX_SAVED || saved.some((other) => other.name === name)) return undefined;
  return saved.toSpliced(at, 0, one);
}
