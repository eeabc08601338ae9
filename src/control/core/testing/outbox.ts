/**
 * Emails that wait in the outbox of a Plane, which delivers none, by recipient, oldest first.
 */
import assert from 'node:assert/strict';
import { asc } from 'drizzle-orm';
import { outgoingMails } from '../../db/schema.ts';
import type { Email } from '../mail/emails.ts';
import type { Plane } from './plane.ts';

type Of<K extends Email['kind']> = Extract<Email, { kind: K }>;

export function emailsTo(plane: Plane, to: string): readonly Email[] {
  const { store, outbox } = plane.control;
  const rows = store.db.select().from(outgoingMails).orderBy(asc(outgoingMails.id)).all();
  return rows.map((row) => outbox.open(row)).filter((email) => email.to === to);
}

/** Their kinds. */
export function kindsTo(plane: Plane, to: string): readonly string[] {
  return emailsTo(plane, to).map(({ kind }) => kind);
}

/** The last one of a kind. Fails when there is none. */
export function lastEmail<K extends Email['kind']>(plane: Plane, to: string, kind: K): Of<K> {
  const email = emailsTo(plane, to).findLast((one): one is Of<K> => one.kind === kind);
  assert.ok(email !== undefined, `no ${kind} to ${to}, only: ${kindsTo(plane, to).join(', ')}`);
  return email;
}
