/**
 * The letters that wait in the outbox of a Plane, which delivers none: what was written to whom, oldest first.
 */
import assert from 'node:assert/strict';
import { asc } from 'drizzle-orm';
import { outgoingMails } from '../../src/control/db/schema.ts';
import type { Letter } from '../../src/control/services/mail/letters.ts';
import type { Plane } from './plane.ts';

type Of<K extends Letter['kind']> = Extract<Letter, { kind: K }>;

export function lettersTo(plane: Plane, to: string): readonly Letter[] {
  const { store, outbox } = plane.control;
  const rows = store.db.select().from(outgoingMails).orderBy(asc(outgoingMails.id)).all();
  return rows.map((row) => outbox.open(row)).filter((letter) => letter.to === to);
}

/** Their kinds. */
export function kindsTo(plane: Plane, to: string): readonly string[] {
  return lettersTo(plane, to).map(({ kind }) => kind);
}

/** The last one of a kind. Fails when there is none. */
export function lastLetter<K extends Letter['kind']>(plane: Plane, to: string, kind: K): Of<K> {
  const letter = lettersTo(plane, to).findLast((one): one is Of<K> => one.kind === kind);
  assert.ok(letter !== undefined, `no ${kind} to ${to}, only: ${kindsTo(plane, to).join(', ')}`);
  return letter;
}
