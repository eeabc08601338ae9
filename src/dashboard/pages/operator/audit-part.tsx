/** The audit log of all organizations, deleted ones too, in which operators are named. */
import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { answered, type ApiClient } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { AuditList, type Names } from '../audit/audit-list.tsx';
import { useAuditFilter } from '../audit/audit-log.ts';
import { ExportMenu } from '../audit/export-menu.tsx';
import { Filters } from '../audit/filters.tsx';

export function AuditPart() {
  const [filter, setFilter] = useAuditFilter();
  const names = useNames();
  return (
    <Stack>
      <Group align="flex-end" gap="sm">
        <div className="culvert-page-words">
          <Filters scope="server" filter={filter} onChange={setFilter} />
        </div>
        <ExportMenu scope="server" filter={filter} />
      </Group>
      <AuditList scope="server" filter={filter} names={names} />
    </Stack>
  );
}

/** Names change seldom. */
const STALE_MS = 60_000;
/** The most that the API gives at once. */
const LIMIT = 200;
const NONE: Names = new Map();

/** Names of organizations and accounts by their ids, for the audit log of the server, whose events tell ids alone. The first two hundred of each; others stay ids. */
function useNames(): Names {
  const { client } = useApi();
  const names = useQuery({
    queryKey: ['superadmin', 'names'],
    queryFn: ({ signal }) => askNames(client, signal),
    staleTime: STALE_MS,
    structuralSharing: false,
  });
  return names.data ?? NONE;
}

async function askNames(client: ApiClient, signal: AbortSignal): Promise<Names> {
  const orgs = (deleted: 'true' | 'false') =>
    answered(client.GET('/superadmin/orgs', { params: { query: { limit: LIMIT, deleted } }, signal }));
  const [live, gone, users] = await Promise.all([
    orgs('false'),
    orgs('true'),
    answered(client.GET('/superadmin/users', { params: { query: { limit: LIMIT } }, signal })),
  ]);
  return new Map([
    ...[...live, ...gone].map(({ id, name }) => [id, name] as const),
    ...users.map(({ id, email }) => [id, email] as const),
  ]);
}
