/** The audit log of all organizations, deleted ones too, in which operators are named. */
import { Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { ExportMenu } from '../audit/export-menu.tsx';
import { Filters } from '../audit/filters.tsx';
import { NO_FILTER } from '../audit/audit-log.ts';
import { AuditList } from '../audit/audit-list.tsx';
import { useNames } from './names.ts';

export function AuditPart() {
  const [filter, setFilter] = useState(NO_FILTER);
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
