/** Events of accounts: handled by owners of what an account has. */
import type { Actor } from '../../core/rules/actor.ts';
import { event } from '../../db/events.ts';

/** `spared`: the session that goes on, of the user who changed it; none where it was reset. */
export const passwordChanged = event<{ readonly userId: string; readonly by: Actor; readonly spared?: string }>(
  'passwordChanged',
);
