/** The changes in an audit entry: field, old and new value, for people to read. Never a secret. Pure. */

export type AuditValue = string | number | boolean | null;

export interface AuditChange {
  /** As the API calls it. */
  readonly field: string;
  /** null: there was nothing. */
  readonly from: AuditValue;
  readonly to: AuditValue;
}

/** Of one entry; more are left out. */
export const MAX_CHANGES = 30;
/** Characters of one value; a longer one is cut, with `…` behind it. */
export const MAX_CHANGED_TEXT = 500;

type Fields = Readonly<Record<string, AuditValue | readonly string[] | undefined>>;

/** The fields whose values differ. A field that is not in one of them was, or is, nothing. Lists are joined by commas. */
export function changesBetween(before: Fields, after: Fields): readonly AuditChange[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return fields
    .map((field) => ({ field, from: valueOf(before[field]), to: valueOf(after[field]) }))
    .filter(({ from, to }) => from !== to)
    .map(({ field, from, to }) => ({ field, from: bounded(from), to: bounded(to) }))
    .slice(0, MAX_CHANGES);
}

/** A secret was set, replaced or removed: the entry says that alone. */
export function secretChange(field: string, to: 'set' | 'changed' | 'removed' = 'changed'): AuditChange {
  return { field, from: null, to };
}

/**
 * The change of a value of which a part is secret; null: there was, or is, none. `shown`: what the entry may say of it. Where that is the same and
 * the value is not, it was `changed`.
 */
export function partlySecretChange(
  field: string,
  [before, after]: readonly [string | null, string | null],
  shown: (value: string) => string,
): readonly AuditChange[] {
  if (before === after) return [];
  const [from, to] = [before, after].map((value) => (value === null ? null : shown(value)));
  return from === to ? [secretChange(field)] : changesBetween({ [field]: from }, { [field]: to });
}

function valueOf(value: Fields[string]): AuditValue {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return value;
  return value.length === 0 ? null : value.join(', ');
}

function bounded(value: AuditValue): AuditValue {
  if (typeof value !== 'string' || value.length <= MAX_CHANGED_TEXT) return value;
  return `${value.slice(0, MAX_CHANGED_TEXT).toWellFormed()}…`;
}
