/** Fetches an invitation. In no cache of queries: signing in, the next step, clears those. */
import { useEffect, useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';

export type ShownInvitation = Schemas['ShownInvitation'];

export type Lookup =
  | { readonly state: 'looking' }
  | { readonly state: 'found'; readonly invitation: ShownInvitation }
  | { readonly state: 'failed'; readonly error: unknown };

/** Asks once, where it is drawn first. */
export function useInvitation(token: string): Lookup {
  const { client } = useApi();
  const [lookup, setLookup] = useState<Lookup>({ state: 'looking' });
  useEffect(() => {
    const gone = new AbortController();
    const look = async (): Promise<void> => {
      const call = client.POST('/orgs/invitations/lookup', { body: { token }, signal: gone.signal });
      const next: Lookup = await answered(call).then(
        (invitation) => ({ state: 'found', invitation }),
        (error: unknown) => ({ state: 'failed', error }),
      );
      if (!gone.signal.aborted) setLookup(next);
    };
    void look();
    return () => gone.abort();
  }, [client, token]);
  return lookup;
}
