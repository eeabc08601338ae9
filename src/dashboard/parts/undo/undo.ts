/** Takes an action back: reads what there is now, and writes the former values only if they are still those of the action. */
import { Failure } from '../../api/failure.ts';

/** @throws Failure `changed_meanwhile` if a value has changed since the action, or the API's error. */
export type Undo = () => Promise<void>;

interface UndoOf<R, K extends keyof R> {
  /** As the page has shown it before the action. */
  readonly before: Pick<R, K>;
  /** As the action has left it. */
  readonly after: Pick<R, K>;
  /** Values that the action has sent: another one that differs is another member's change. */
  readonly fields: readonly K[];
  /** Reads it again. Undefined: it is gone. */
  readonly read: () => Promise<Pick<R, K> | undefined>;
  /** Gets the former values of the fields that the action has changed, and no others. */
  readonly write: (former: Partial<Pick<R, K>>) => Promise<unknown>;
}

/**
 * The way back from an action; undefined if it has changed nothing. The API has no conditional writes: a change that another member makes
 * between the read and the write, some milliseconds, is overwritten.
 */
export function undoOf<R, K extends keyof R>({ before, after, fields, read, write }: UndoOf<R, K>): Undo | undefined {
  const changed = fields.filter((field) => !isSame(before[field], after[field]));
  if (changed.length === 0) return undefined;
  return async () => {
    const now = await read();
    if (now === undefined || changed.some((field) => !isSame(now[field], after[field]))) throw changedMeanwhile();
    // Only `changed`: values that another member set in other fields stay.
    const former: Partial<Pick<R, K>> = {};
    for (const field of changed) former[field] = before[field];
    await write(former);
  };
}

/** The failure of an undo after a later change. */
export function changedMeanwhile(): Failure {
  const message = 'Nothing was undone: the value was changed again. Check the current value.';
  return new Failure({ status: 409, code: 'changed_meanwhile', message });
}

/** Compares JSON values; the order of keys does not count, that of entries does. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
