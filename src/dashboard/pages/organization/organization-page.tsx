/** Organization. */
import { Page } from '../../parts/page.tsx';

export function OrganizationPage() {
  return (
    <Page title="Organization">
      <div />
    </Page>
  );
}
