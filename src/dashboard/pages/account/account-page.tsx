/** The user's own account: name, password, second factor, sessions and events. */
import { SimpleGrid, Stack } from '@mantine/core';
import { Page } from '../../parts/page.tsx';
import { PlanPanel } from '../overview/plan-panel.tsx';
import { FeedPanel } from './feed-panel.tsx';
import { IdentitiesPanel } from './identities-panel.tsx';
import { PasswordPanel } from './password-panel.tsx';
import { ProfilePanel } from './profile-panel.tsx';
import { SecondFactorPanel } from './second-factor-panel.tsx';
import { SessionsPanel } from './sessions-panel.tsx';

export function AccountPage() {
  return (
    <Page title="Account" about="Yours alone: it is the same in all your organizations.">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Stack gap="lg">
          <ProfilePanel />
          <PlanPanel />
        </Stack>
        <Stack gap="lg">
          <PasswordPanel />
          <SecondFactorPanel />
        </Stack>
      </SimpleGrid>
      <IdentitiesPanel />
      <SessionsPanel />
      <FeedPanel />
    </Page>
  );
}
