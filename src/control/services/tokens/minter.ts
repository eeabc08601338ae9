/**
 * Who mints, rotates and ends keys, asked again inside the transaction: a request whose body dawdles is older than the log-out, lock, removal
 * or revocation that ends all keys, and must not add one.
 */
import { AppError } from '../../../base/errors.ts';
import type { Db, Tx } from '../../db/tx.ts';
import { type Actor, allow, type MasterKeyActor, type Thing, type UserActor, type Verb } from '../actor.ts';
import { ENTITLEMENTS } from '../plans.ts';
import { readActor } from '../sessions/session-rows.ts';
import { findOrg } from '../tunnels/tunnel-rows.ts';
import { isLive, type TokenRow, tokenById } from './token-rows.ts';

export interface Minter {
  readonly actor: UserActor | MasterKeyActor;
  /** The person who answers for what is minted. */
  readonly createdBy: string | null;
  /** The key that mints, when it is one. */
  readonly master: TokenRow | null;
}

/** The person, if they still may. Throws `forbidden`, `unauthorized`. */
export function personIn(tx: Tx, actor: Actor, verb: Verb, thing: Thing): Minter {
  allow(actor, verb, thing);
  const now = readActor(tx.db, actor, { now: tx.now, ipAddress: actor.ipAddress });
  if (now === undefined) throw new AppError('unauthorized', 'The session is over. Log in again.');
  allow(now, verb, thing);
  return { actor: now, createdBy: now.userId, master: null };
}

/** The master key, if it still may. Throws `forbidden`, `unauthorized`, `upgrade_required`. */
export function masterIn(tx: Tx, actor: MasterKeyActor): Minter {
  const master = checkMaster(tx.db, tokenById(tx.db, actor.tokenId), tx.now);
  return { actor, createdBy: master.createdBy, master };
}

/** The row, if it is one of a master key that may act now. Throws `unauthorized`, `forbidden`, `upgrade_required`. */
export function checkMaster(db: Db, row: TokenRow | undefined, now: number): TokenRow {
  if (row === undefined || row.kind !== 'master' || !isLive(row, now)) {
    throw new AppError('unauthorized', 'This is no live master key. Mint a new one.');
  }
  const org = findOrg(db, row.orgId);
  if (org === undefined) throw new AppError('unauthorized', 'The organization of this master key is gone.');
  if (org.approvalStatus !== 'approved') {
    throw new AppError('forbidden', `The organization ${org.name} is ${org.approvalStatus}.`);
  }
  requireMasterKeys(db, row.orgId);
  return row;
}

/** Throws `upgrade_required` where the plan of the organization has no master keys. */
export function requireMasterKeys(db: Db, orgId: string): void {
  const org = findOrg(db, orgId);
  if (org !== undefined && ENTITLEMENTS[org.plan].masterKeys) return;
  throw new AppError('upgrade_required', 'Your plan has no master keys. Choose a larger plan under billing.');
}
