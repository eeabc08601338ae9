/**
 * Writes that mean nothing. A client that asks about an e-mail address must not learn from the time of this answer, or of the next
 * one, whether there was something to store: where there was not, this is done instead.
 */
import { uuidv7 } from 'uuidv7';
import { recordNothing } from '../core/rules/audit.ts';
import type { Tx } from '../db/tx.ts';
import { orgsOf } from './rows.ts';

/** Does the work of that many entries in an audit log (`recordOutside` of accounts), which is what all these actions leave. */
export function writeNothing(tx: Tx, entries = 1): void {
  for (let i = 0; i < entries; i++) {
    const id = uuidv7();
    orgsOf(tx.db, id);
    recordNothing(tx, id);
  }
}
