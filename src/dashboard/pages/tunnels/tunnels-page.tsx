/** Tunnels. */
import { Page } from '../../parts/page.tsx';

export function TunnelsPage() {
  return (
    <Page title="Tunnels">
      <div />
    </Page>
  );
}
