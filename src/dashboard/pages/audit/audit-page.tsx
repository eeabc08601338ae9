/** Who did what in the organization, when and from where. */
import { useState } from 'react';
import { Page } from '../../parts/page.tsx';
import { ExportMenu } from './export-menu.tsx';
import { Filters } from './filters.tsx';
import { NO_FILTER } from './audit-log.ts';
import { AuditList } from './audit-list.tsx';

export function AuditPage() {
  const [filter, setFilter] = useState(NO_FILTER);
  return (
    <Page
      title="Audit"
      about="Every change in the organization, with its author, time and address. Entries can't be edited."
      actions={<ExportMenu scope="organization" filter={filter} />}
    >
      <Filters scope="organization" filter={filter} onChange={setFilter} />
      <AuditList scope="organization" filter={filter} />
    </Page>
  );
}
