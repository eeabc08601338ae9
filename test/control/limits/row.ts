/**
 * One row of the table of limits (table.ts): how a bound is met below, at and above it, or where that is done.
 */
import type { LimitFixture } from './fixture.ts';

/** What is put in, and what comes out: a value, or status and code of the refusal. */
type Case<Input> = readonly [input: Input, outcome: unknown];
type Cases<Input> = readonly [Case<Input>, ...Case<Input>[]];

interface Bound<Input> {
  readonly limit: string;
  readonly value: string;
  /** Puts one input in and says what came out. */
  readonly meet: (fixture: LimitFixture, input: Input) => Promise<unknown>;
  readonly below: Cases<Input>;
  readonly at: Cases<Input>;
  readonly above: Cases<Input>;
  /** What holds when nothing is said. */
  readonly leftOut?: unknown;
}

export type Row =
  | ({ readonly kind: 'met' } & Bound<never>)
  | { readonly kind: 'elsewhere'; readonly limit: string; readonly value: string; readonly tests: readonly Named[] };

/** A test by its file (from test/control) and its exact name. */
export type Named = readonly [file: string, name: string];

/** A limit that is met right here. */
export function met<Input>(row: Bound<Input>): Row {
  return { kind: 'met', ...(row as unknown as Bound<never>) };
}

/** A limit that tests beside this table meet. */
export function elsewhere(limit: string, value: string, ...tests: readonly Named[]): Row {
  return { kind: 'elsewhere', limit, value, tests };
}
