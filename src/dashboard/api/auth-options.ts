/** What a server shows before a login: its name, its login options, and whether it sends mail. */
import { useQuery } from '@tanstack/react-query';
import { answered } from './client.ts';
import { useApi } from './context.tsx';

/** The same for all users. */
export function useAuthOptions() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['auth-options'],
    queryFn: ({ signal }) => answered(client.GET('/auth/providers', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What the operator calls this server. */
export function useServerName(): string {
  return useAuthOptions().data?.name ?? 'Culvert';
}

/** True where codes and links are in the log of the server, and no email leaves. */
export function useMailOff(): boolean {
  return useAuthOptions().data?.mail === 'off';
}
