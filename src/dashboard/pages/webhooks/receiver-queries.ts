/** What the pages of webhook receivers ask the API, and how often. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { isUnderWay } from './delivery-words.ts';
import type { Receiver } from './senders.ts';

const LIVE_MS = 3000;
/** Deliveries of one question: each comes with its body. */
const PAGE = 20;

export const RECEIVERS = ['webhook-receivers'] as const;

export function useReceivers() {
  const { client } = useApi();
  return useQuery({
    queryKey: RECEIVERS,
    queryFn: ({ signal }) => answered(client.GET('/webhook-receivers', { signal })),
    refetchInterval: LIVE_MS,
  });
}

export function useReceiver(id: string) {
  const { client } = useApi();
  const queries = useQueryClient();
  return useQuery<Receiver>({
    queryKey: [...RECEIVERS, id],
    queryFn: ({ signal }) => answered(client.GET('/webhook-receivers/{id}', { params: { path: { id } }, signal })),
    refetchInterval: LIVE_MS,
    placeholderData: () => queries.getQueryData<readonly Receiver[]>(RECEIVERS)?.find((one) => one.id === id),
  });
}

/** Newest first. Bodies are large: it is asked again when the receiver's counters have moved, or something is on its way. */
export function useDeliveries({ id, received, stored, waiting }: Receiver) {
  const { client } = useApi();
  const queries = useQueryClient();
  const queryKey = [...RECEIVERS, id, 'events'] as const;
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ signal, pageParam }) => {
      const asked = { order: 'newest', limit: PAGE, ...(pageParam === '' ? {} : { before: pageParam }) } as const;
      const params = { path: { id }, query: asked };
      return answered(client.GET('/webhook-receivers/{id}/events', { params, signal }));
    },
    initialPageParam: '',
    getNextPageParam: (last) => last.at(-1)?.id,
    refetchInterval: ({ state }) => (state.data?.pages.flat().some(isUnderWay) === true ? LIVE_MS : false),
  });
  const counters = `${received} ${stored} ${waiting}`;
  const seen = useRef(counters);
  useEffect(() => {
    if (seen.current === counters) return;
    seen.current = counters;
    void queries.invalidateQueries({ queryKey: [...RECEIVERS, id, 'events'] });
  }, [queries, id, counters]);
  return query;
}
