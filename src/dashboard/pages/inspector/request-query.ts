/** One recorded request, by its ID. */
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Detail } from './messages.ts';

/** A record does not change, and the bodies of many are large. */
export function useRequest(id: string): UseQueryResult<Detail> {
  const { client } = useApi();
  return useQuery({
    queryKey: ['inspector', id],
    queryFn: ({ signal }) => answered(client.GET('/inspector/{id}', { params: { path: { id } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}
