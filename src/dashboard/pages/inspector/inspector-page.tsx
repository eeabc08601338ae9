/** Inspector. */
import { Page } from '../../parts/page.tsx';

export function InspectorPage() {
  return (
    <Page title="Inspector">
      <div />
    </Page>
  );
}
