/** Logs out: for the menu, and for pages opened by a link with the wrong account. */
import { answered } from './client.ts';
import { useApi } from './context.tsx';
import { failureFrom } from './failure.ts';

/**
 * Ends the session on the server and here.
 * @throws Failure when the server did not respond: then the session goes on.
 */
export function useLeaving(): () => Promise<void> {
  const { client, session } = useApi();
  return async () => {
    try {
      await answered(client.POST('/auth/logout'));
    } catch (error) {
      if (failureFrom(error).status !== 401) throw error;
    }
    session.end();
  };
}
