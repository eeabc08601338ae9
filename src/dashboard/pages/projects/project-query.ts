/** The organization's projects. */
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';

export const PROJECTS = ['projects'] as const;
export const AGAIN_MS = 15_000;

export function useProjects() {
  const { client } = useApi();
  return useQuery({
    queryKey: PROJECTS,
    queryFn: ({ signal }) => answered(client.GET('/projects', { signal })),
    refetchInterval: AGAIN_MS,
  });
}

/** Tunnels of the organization, of every project. */
export function useTunnels() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['tunnels'],
    queryFn: ({ signal }) => answered(client.GET('/tunnels', { signal })),
    refetchInterval: AGAIN_MS,
  });
}
