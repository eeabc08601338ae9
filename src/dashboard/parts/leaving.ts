/** The way out: of the menu, and for whoever came by a link as somebody else. */
import { answered } from '../api/client.ts';
import { useApi } from '../api/context.tsx';
import { failureFrom } from '../api/failure.ts';

/**
 * Ends the session on the server and here.
 * @throws Failure when the server could not be told: then the session goes on.
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
