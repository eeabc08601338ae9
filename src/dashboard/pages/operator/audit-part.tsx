/** The trail of all organizations, deleted ones too, in which operators are named. */
import { Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { ExportMenu } from '../audit/export-menu.tsx';
import { Filters } from '../audit/filters.tsx';
import { NO_FILTER } from '../audit/trail.ts';
import { TrailList } from '../audit/trail-list.tsx';
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
      <TrailList scope="server" filter={filter} names={names} />
    </Stack>
  );
}
