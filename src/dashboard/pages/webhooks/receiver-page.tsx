/** Webhook receiver. */
import { Page } from '../../parts/page.tsx';

export function ReceiverPage() {
  return (
    <Page title="Webhook receiver">
      <div />
    </Page>
  );
}
