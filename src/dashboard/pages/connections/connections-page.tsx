/** Connections. */
import { Page } from '../../parts/page.tsx';

export function ConnectionsPage() {
  return (
    <Page title="Connections">
      <div />
    </Page>
  );
}
