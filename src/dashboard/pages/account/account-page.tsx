/** The user's own account: profile, password, second factor, sessions and events. */
import { SimpleGrid, Stack, Text } from '@mantine/core';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import { Ago } from '../../parts/time/ago.tsx';
import { InstallLine } from '../../parts/connect/install-line.tsx';
import { NameForm } from '../../parts/forms/name-form.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { PlanPanel } from '../overview/plan-panel.tsx';
import { FeedPanel } from './feed-panel.tsx';
import { IdentitiesPanel } from './identities-panel.tsx';
import { PasswordPanel } from './password-panel.tsx';
import { SecondFactorPanel } from './second-factor-panel.tsx';
import { SessionsPanel } from './sessions-panel.tsx';

export function AccountPage() {
  return (
    <Page title="Account" about="Your own account, shared by all your organizations.">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Stack gap="lg">
          <ProfilePanel />
          <PlanPanel />
          <Panel title="This machine">
            <InstallLine />
          </Panel>
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

/** What the account is called. */
function ProfilePanel() {
  const { client } = useApi();
  const { user } = useAccount();
  return (
    <Panel title="Profile">
      <div>
        <Text size="xs" c="dimmed">
          Email address
        </Text>
        <Text size="sm" className="culvert-wrap">
          {user.email}
        </Text>
        <Text size="xs" c="dimmed">
          Account created <Ago at={user.created_at} />
        </Text>
      </div>
      <NameForm
        name={user.name}
        action="Save"
        autoComplete="name"
        maxLength={100}
        run={async (body) => (await answered(client.PATCH('/auth/me', { body }))).user}
        read={async () => (await answered(client.GET('/auth/me'))).user}
        done={() => 'Name saved.'}
        touches={[['me']]}
      />
    </Panel>
  );
}
