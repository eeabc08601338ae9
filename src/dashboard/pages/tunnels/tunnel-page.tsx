/** Tunnel. */
import { Page } from '../../parts/page.tsx';

export function TunnelPage() {
  return (
    <Page title="Tunnel">
      <div />
    </Page>
  );
}
