/** Reserved names. */
import { Page } from '../../parts/page.tsx';

export function NamesPage() {
  return (
    <Page title="Reserved names">
      <div />
    </Page>
  );
}
