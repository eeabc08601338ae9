/** Request. */
import { Page } from '../../parts/page.tsx';

export function RequestPage() {
  return (
    <Page title="Request">
      <div />
    </Page>
  );
}
