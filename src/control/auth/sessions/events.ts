/** Events of sessions: handled by owners of what may become a session. */
import { event } from '../../db/events.ts';

/** The sessions of a user are about to end, one of them perhaps spared. */
export const sessionsEnding = event<{ readonly userId: string }>('sessionsEnding');
