/** The organization's domains, and the tunnels that may answer for them. */
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { isMoving } from './domain-state.ts';

export const DOMAINS = ['domains'] as const;
const AGAIN_MS = 15_000;
/** While a certificate is being made, which takes seconds. */
const SOON_MS = 2000;

export function useDomains() {
  const { client } = useApi();
  return useQuery({
    queryKey: DOMAINS,
    queryFn: ({ signal }) => answered(client.GET('/domains', { signal })),
    refetchInterval: ({ state }) => (state.data?.some(isMoving) === true ? SOON_MS : AGAIN_MS),
  });
}

export function useTunnels() {
  const { client } = useApi();
  return useQuery({ queryKey: ['tunnels'], queryFn: ({ signal }) => answered(client.GET('/tunnels', { signal })) });
}
