/** Domains. */
import { Page } from '../../parts/page.tsx';

export function DomainsPage() {
  return (
    <Page title="Domains">
      <div />
    </Page>
  );
}
