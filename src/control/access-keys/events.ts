/** Events of access keys: handled by owners of rows that name a key. */
import { event } from '../db/events.ts';

/** A rotation has put a new key in the place of an old one. Both are ids of rows. */
export const keyReplaced = event<{ readonly oldId: string; readonly newId: string }>('keyReplaced');

/** The limits of live keys have changed. By their ids. */
export const keyLimitsChanged = event<{ readonly orgId: string; readonly ids: readonly string[] }>('keyLimitsChanged');

/** Keys that have ended are about to lose their rows: a bounded number at once. Handlers let go of them. */
export const keysForgotten = event<{ readonly ids: readonly string[] }>('keysForgotten');
