/** Private network. */
import { Page } from '../../parts/page.tsx';

export function NetworkPage() {
  return (
    <Page title="Private network">
      <div />
    </Page>
  );
}
