/** Where agents and visitors find this server (`GET /.well-known/culvert`). It changes with the settings, hence with a restart alone. */
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
