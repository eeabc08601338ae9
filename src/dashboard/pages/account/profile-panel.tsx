/** What the account is called. */
import { Text } from '@mantine/core';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import { Ago } from '../../parts/ago.tsx';
import { NameForm } from '../../parts/name-form.tsx';
import { Panel } from '../../parts/panel.tsx';

export function ProfilePanel() {
  const { client } = useApi();
  const { user } = useAccount();
  return (
    <Panel title="You">
      <div>
        <Text size="xs" c="dimmed">
          E-mail address
        </Text>
        <Text size="sm" className="culvert-wrap">
          {user.email}
        </Text>
        <Text size="xs" c="dimmed">
          Account made <Ago at={user.created_at} />
        </Text>
      </div>
      <NameForm
        name={user.name}
        action="Save"
        autoComplete="name"
        maxLength={100}
        run={(body) => answered(client.PATCH('/auth/me', { body }))}
        done="Your name is changed."
        touches={[['me']]}
      />
    </Panel>
  );
}
