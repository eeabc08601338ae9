/**
 * Who mints and rotates keys, asked again inside the transaction: a request whose body dawdles is older than the log-out, lock, removal or
 * revocation that ends all keys, and must not add one. Of master keys: master-rights.ts.
 */
import { AppError } from '../../../base/errors.ts';
import type { Tx } from '../../db/tx.ts';
import { type Actor, allow, type MasterKeyActor, type Thing, type UserActor } from '../actor.ts';
import { readActor } from '../sessions/session-rows.ts';
import type { TokenRow } from './token-rows.ts';

export interface Minter {
  readonly actor: UserActor | MasterKeyActor;
  /** The person who answers for what is minted. */
  readonly createdBy: string | null;
  /** The key that mints, when it is one. */
  readonly master: TokenRow | null;
}

/** The person, if they may still make such a thing. Throws `forbidden`, `unauthorized`. */
export function personIn(tx: Tx, actor: Actor, thing: Thing): Minter & { readonly actor: UserActor } {
  allow(actor, 'create', thing);
  const now = readActor(tx.db, actor, { now: tx.now, ipAddress: actor.ipAddress });
  if (now === undefined) throw new AppError('unauthorized', 'The session is over. Log in again.');
  allow(now, 'create', thing);
  return { actor: now, createdBy: now.userId, master: null };
}
