/** Public addresses of this server for agents and visitors (`GET /.well-known/culvert`). They change only with a restart. */
import { useQuery } from '@tanstack/react-query';
import { answered } from './client.ts';
import { useApi } from './context.tsx';

export function useServerPlace() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['server-place'],
    queryFn: ({ signal }) => answered(client.GET('/.well-known/culvert', { signal })),
    staleTime: Infinity,
  });
}
