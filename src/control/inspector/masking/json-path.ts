/**
 * Paths into JSON, as far as masks need them: `$.a.b`, `$['a b']`, `$.list[0]`, `$.list[*].b`, `$.*`, `$..b` (RFC 9535 without filters,
 * slices and lists of names). Followed step by step while a text is scanned (json-mask.ts).
 */
interface Step {
  /** Null: any name or index. */
  readonly key: string | number | null;
  /** At any depth. */
  readonly isDeep: boolean;
}

export type JsonPath = readonly Step[];

const MAX_STEPS = 16;
const STEP =
  /(\.\.|\.)?(?:([\p{L}_$][\p{L}\p{N}_$-]*)|(\*)|\[(\d{1,9})\]|\[(\*)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\])/uy;

/** Undefined: it is none, has more than 16 steps, or is `$` alone. */
export function readJsonPath(text: string): JsonPath | undefined {
  if (!text.startsWith('$')) return undefined;
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < text.length) {
    const found = STEP.exec(text);
    if (found === null) return undefined;
    const [, dots, name, star, index, , single, double] = found;
    const isBare = name !== undefined || star !== undefined;
    // A bare name needs a dot, a bracket none: `$.a[0]`, `$..[0]`.
    if (isBare ? dots === undefined : dots === '.') return undefined;
    const quoted = single ?? double;
    const key = name ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? (index === undefined ? null : Number(index));
    steps.push({ key, isDeep: dots === '..' });
  }
  return steps.length === 0 || steps.length > MAX_STEPS ? undefined : steps;
}

/** Steps of one path that are done, at one place of a text; several where the path has `..`. */
export type Places = readonly number[];

export const START: Places = [0];

/** The places behind `key`, from those before it. The last one is `path.length` where the value is what the path names. */
export function follow(path: JsonPath, places: Places, key: string | number): Places {
  if (places.length === 0) return places;
  const next: number[] = [];
  for (const place of places) {
    const step = path[place];
    if (step === undefined) continue;
    if (step.isDeep && !next.includes(place)) next.push(place);
    if ((step.key === null || step.key === key) && !next.includes(place + 1)) next.push(place + 1);
  }
  return next;
}
