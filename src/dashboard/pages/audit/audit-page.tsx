/** The audit log of the organization. */
import { Page } from '../../parts/page.tsx';
import { ExportMenu } from './export-menu.tsx';
import { Filters } from './filters.tsx';
import { useAuditFilter } from './audit-log.ts';
import { AuditList } from './audit-list.tsx';

export function AuditPage() {
  const [filter, setFilter] = useAuditFilter();
  return (
    <Page
      title="Audit log"
      about="Every change in the organization, with actor, time and IP address. Entries can't be edited."
      actions={<ExportMenu scope="organization" filter={filter} />}
    >
      <Filters scope="organization" filter={filter} onChange={setFilter} />
      <AuditList scope="organization" filter={filter} />
    </Page>
  );
}
