/** Operator. */
import { Page } from '../../parts/page.tsx';

export function OperatorPage() {
  return (
    <Page title="Operator">
      <div />
    </Page>
  );
}
