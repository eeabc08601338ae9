/** Queries of the webhook pages, and their intervals. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { type Attempt, type Delivery, isUnderWay, type StateFilter } from './delivery-labels.ts';
import type { Receiver } from './senders.ts';

const LIVE_MS = 3000;
/** A long list changes less by each delivery, and is asked for less often. */
const LONG_MS = 15_000;
/** Deliveries at first, and how many more "Show older" brings; more than this are for a program. */
const PAGE = 50;
const MOST = 300;
/** A body may have a megabyte: it is dropped soon after it is out of sight. */
const BODY_KEPT_MS = 10_000;

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

/**
 * Newest first, in one question without headers and bodies: it is asked again when the receiver's counters have moved, or something is on its way,
 * which is as long as the agent is away. All that are shown come with it, for the oldest are those that are sent on next.
 */
export function useDeliveries({ id, received, stored, waiting, failed }: Receiver, state: StateFilter) {
  const { client } = useApi();
  const queries = useQueryClient();
  const [limit, setLimit] = useState(PAGE);
  const query = useQuery({
    queryKey: [...RECEIVERS, id, 'events', limit, state],
    queryFn: ({ signal }) => {
      const params = {
        path: { id },
        query: { order: 'newest', brief: 'true', limit, ...(state === 'all' ? {} : { state }) },
      } as const;
      return answered<readonly Delivery[]>(client.GET('/webhook-receivers/{id}/events', { params, signal }));
    },
    refetchInterval: ({ state }) => {
      if (state.data?.some(isUnderWay) !== true) return false;
      return limit === PAGE ? LIVE_MS : LONG_MS;
    },
    placeholderData: keepPreviousData,
  });
  const counters = `${received} ${stored} ${waiting} ${failed}`;
  const seen = useRef(counters);
  useEffect(() => {
    if (seen.current === counters) return;
    seen.current = counters;
    void queries.invalidateQueries({ queryKey: [...RECEIVERS, id, 'events'] });
  }, [queries, id, counters]);
  const shown = query.data?.length ?? 0;
  return {
    ...query,
    // Of a state no one knows how many there are.
    hasOlder: state === 'all' ? shown > 0 && shown < stored : shown === limit,
    /** Undefined: no more are shown here. */
    showOlder: limit < MOST ? () => setLimit((most) => Math.min(most + PAGE, MOST)) : undefined,
  };
}

/** How it was tried. Asked again when its progress changes, and while it is in sight: a redelivery that is over by the next look leaves no other trace. */
export function useAttempts(receiverId: string, { id, forward: { attempts, state, delivered_at: at } }: Delivery) {
  const { client } = useApi();
  return useQuery({
    queryKey: [...RECEIVERS, receiverId, 'attempts', id, attempts, state, at],
    enabled: state !== 'none',
    queryFn: ({ signal }) => {
      const path = { id: receiverId, event_id: id };
      const params = { path };
      return answered<readonly Attempt[]>(
        client.GET('/webhook-receivers/{id}/events/{event_id}/attempts', { params, signal }),
      );
    },
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  });
}

/** One, with its headers and its body; none is asked for without an id. */
export function useDelivery(receiverId: string, id: string | undefined) {
  const { client } = useApi();
  return useQuery({
    queryKey: [...RECEIVERS, receiverId, 'delivery', id],
    enabled: id !== undefined,
    queryFn: ({ signal }) => {
      const path = { id: receiverId, event_id: id ?? '' };
      return answered<Delivery>(client.GET('/webhook-receivers/{id}/events/{event_id}', { params: { path }, signal }));
    },
    // The delivery itself never changes; the list has its progress.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: BODY_KEPT_MS,
  });
}
