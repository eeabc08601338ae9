/** Private networks. */
import { Page } from '../../parts/page.tsx';

export function NetworksPage() {
  return (
    <Page title="Private networks">
      <div />
    </Page>
  );
}
