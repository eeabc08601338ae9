/** Keys that end with the part of their creator in the organization: the user has left, or has a role that may not have them. */
import { type Role, roleMay } from '../../core/rules/actor.ts';
import type { Tx } from '../../db/tx.ts';
import type { ChangedMembership } from '../../organizations/events.ts';
import type { TokenEnds } from './service.ts';

/** All keys that the member made. Returns how many ended. */
export function endKeysOfLeaver(ends: TokenEnds, tx: Tx, { userId, email, by }: ChangedMembership): number {
  const message = `${email} created this access key and has left the organization. Ask an admin for a new one.`;
  return ends.endMemberIn(tx, by, { userId, message });
}

/** What a user in this role may not have made: all keys, or master keys with what those minted. Returns how many ended. */
export function endKeysBeyondRole(
  ends: TokenEnds,
  tx: Tx,
  { userId, email, role, by }: ChangedMembership & { readonly role: Role },
): number {
  if (roleMay(role, 'create', 'master_key')) return 0;
  const mastersOnly = roleMay(role, 'create', 'token');
  const what = mastersOnly ? 'this master key or the master key of this access key' : 'this access key';
  const message = `${email} created ${what}, but now has the role ${role}, which can't create keys. Ask an admin for a new one.`;
  return ends.endMemberIn(tx, by, { userId, message, mastersOnly });
}
