/**
 * Who mints and rotates keys: a person, as the caller's handler has just read them from the tables (core/http/context.ts), or a master key
 * (master/rights.ts).
 */
import { type Actor, allow, type MasterKeyActor, type Thing, type UserActor } from '../core/rules/actor.ts';
import type { TokenRow } from './rows.ts';

export interface Minter {
  readonly actor: UserActor | MasterKeyActor;
  /** The person who answers for what is minted. */
  readonly createdBy: string | null;
  /** The key that mints, when it is one. */
  readonly master: TokenRow | null;
}

/** The person, if they may make such a thing. Throws `forbidden`. */
export function personAs(actor: Actor, thing: Thing): Minter & { readonly actor: UserActor } {
  allow(actor, 'create', thing);
  return { actor, createdBy: actor.userId, master: null };
}
