/** The organization's keys, asked for again while the page is in sight: agents use them, they spend, they run out. */
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';

export const TOKENS = ['tokens'] as const;
const AGAIN_MS = 10_000;

export function useTokens() {
  const { client } = useApi();
  return useQuery({
    queryKey: TOKENS,
    queryFn: ({ signal }) => answered(client.GET('/tokens', { signal })),
    refetchInterval: AGAIN_MS,
  });
}

/** One key with the agents that use it now; fetched only while it is visible. */
export function useToken(nonce: string | undefined, isInSight: boolean) {
  const { client } = useApi();
  return useQuery({
    queryKey: [...TOKENS, nonce],
    enabled: nonce !== undefined && isInSight,
    queryFn: ({ signal }) =>
      answered(client.GET('/tokens/{nonce}', { params: { path: { nonce: nonce ?? '' } }, signal })),
    refetchInterval: AGAIN_MS,
  });
}

/** Set in the settings of the server: the same until it starts again. */
export function usePricing() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['pricing'],
    queryFn: ({ signal }) => answered(client.GET('/tokens/pricing', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Unix seconds, as the API counts for keys. */
export function nowSeconds(): number {
  return Date.now() / 1000;
}
