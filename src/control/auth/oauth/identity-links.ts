/**
 * Adding an identity of a provider to an account that is there already: at once, or, where the account has a second factor, when the log-in
 * that brought it is complete. Until then it travels sealed in the challenge (auth/sessions/challenges.ts), and nothing is stored or told.
 */
import type { PendingLink } from '../sessions/pending-link.ts';
import type { Tx } from '../../db/tx.ts';
import { addIdentity, findByIdentity } from './identity-rows.ts';
import type { Outbox } from '../../core/mail/outbox.ts';
import { recordOutside, type UserRow } from '../accounts/rows.ts';
import type { Visit } from '../../core/rules/caller.ts';

/** The email reports a change; a week later it is out of date. */
const EMAIL_SECONDS = 7 * 24 * 3600;

/**
 * Adds the identity to the account, and tells the owner by mail that there is another way in now. Nothing to do when it is there already:
 * two tabs. False when it belongs to another account by now.
 */
export function linkIdentity(
  tx: Tx,
  outbox: Outbox,
  { user, link, visit }: { user: UserRow; link: PendingLink; visit: Visit },
): boolean {
  const owner = findByIdentity(tx, link.person);
  if (owner !== undefined) return owner.id === user.id;
  addIdentity(tx, user, link);
  recordOutside(tx, user, { action: 'auth.identity_link', visit });
  outbox.post(tx, { to: user.email, kind: 'identity_linked', provider: link.providerName }, EMAIL_SECONDS);
  return true;
}
