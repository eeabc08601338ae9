/** What the account is called. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import { Ago } from '../../parts/ago.tsx';
import { useDeed } from '../../parts/deed.ts';
import { showFaults } from '../../parts/form-failure.ts';
import { Panel } from '../../parts/panel.tsx';
import { Refused } from '../../parts/refused.tsx';

export function ProfilePanel() {
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
      <NameForm key={user.name} name={user.name} />
    </Panel>
  );
}

function NameForm({ name }: { readonly name: string }) {
  const { client } = useApi();
  const [problem, setProblem] = useState<string>();
  const form = useForm({ initialValues: { name } });
  const rename = useDeed({
    run: (body: { name: string }) => answered(client.PATCH('/auth/me', { body })),
    done: 'Your name is changed.',
    touches: [['me']],
    tellsFailure: true,
  });
  const save = (values: { name: string }): void => {
    setProblem(undefined);
    rename.mutate(values, { onError: (error) => setProblem(showFaults(form, error)) });
  };
  return (
    <form onSubmit={form.onSubmit(save)} noValidate>
      <Stack gap="xs">
        <Group align="flex-end" gap="xs">
          <TextInput
            label="Name"
            autoComplete="name"
            maxLength={100}
            flex="1 1 200px"
            {...form.getInputProps('name')}
          />
          <Button type="submit" variant="default" loading={rename.isPending} disabled={!form.isDirty()}>
            Save
          </Button>
        </Group>
        <Refused>{problem}</Refused>
      </Stack>
    </form>
  );
}
