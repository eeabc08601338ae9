/** Webhooks. */
import { Page } from '../../parts/page.tsx';

export function ReceiversPage() {
  return (
    <Page title="Webhooks">
      <div />
    </Page>
  );
}
