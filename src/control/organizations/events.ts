/** Events of organizations: handled by owners of what is in an organization. */
import { event } from '../db/events.ts';

/** Its row and its owner are there. */
export const orgCreated = event<{ readonly orgId: string }>('orgCreated');

/** Organizations that were never used are about to lose their rows. Handlers delete theirs. */
export const orgForgotten = event<{ readonly orgIds: readonly string[] }>('orgForgotten');
