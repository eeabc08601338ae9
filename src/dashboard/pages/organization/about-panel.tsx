/** Name and facts of the active organization. */
import { Anchor, Button, Group, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { Link } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { useDeed } from '../../parts/deed.ts';
import { Fact } from '../../parts/fact.tsx';
import { showFaults } from '../../parts/form-failure.ts';
import { Panel } from '../../parts/panel.tsx';
import { Refused } from '../../parts/refused.tsx';
import { PLAN_NAMES } from '../billing/plans.ts';
import { ROLE_NAMES, roleOf } from '../members/roles.ts';
import { Standing } from './standing.tsx';

type Organization = Schemas['Organization'];

export function AboutPanel({ org }: { readonly org: Organization }) {
  return (
    <Panel title="About">
      <NameForm org={org} />
      <SimpleGrid cols={{ base: 2, sm: 3, md: 5 }} spacing="md" mt="xs">
        <Fact title="Slug">
          <span className="culvert-mono">{org.slug}</span>
        </Fact>
        <Fact title="Standing">
          <Standing status={org.approval_status} />
        </Fact>
        <Fact title="Plan">
          <Anchor component={Link} href="/billing" size="sm" underline="always">
            {PLAN_NAMES[org.plan]}
          </Anchor>
        </Fact>
        <Fact title="Your role">{ROLE_NAMES[roleOf(org.role)]}</Fact>
        <Fact title="Made">
          <Ago at={org.created_at} />
        </Fact>
      </SimpleGrid>
    </Panel>
  );
}

function NameForm({ org }: { readonly org: Organization }) {
  const { client } = useApi();
  const mayRename = useMay('admin');
  const [rest, setRest] = useState<string>();
  const form = useForm({ initialValues: { name: org.name } });
  const rename = useDeed({
    run: (body: { name: string }) => answered(client.PATCH('/orgs/{id}', { params: { path: { id: org.id } }, body })),
    done: ({ name }) => `It is called ${name} now.`,
    touches: [['orgs'], ['me']],
    tellsFailure: true,
  });
  const save = (values: { name: string }): void => {
    setRest(undefined);
    rename.mutate(values, { onError: (error) => setRest(showFaults(form, error)) });
  };
  return (
    <form onSubmit={form.onSubmit(save)} noValidate>
      <Stack gap="xs">
        <Group align="flex-end" gap="xs">
          <TextInput
            label="Name"
            description={mayRename ? 'The slug stays as it is.' : 'Admins and owners can change it.'}
            readOnly={!mayRename}
            flex="1 1 240px"
            maw={420}
            {...form.getInputProps('name')}
          />
          {mayRename && (
            <Button type="submit" variant="default" loading={rename.isPending} disabled={!form.isDirty()}>
              Rename
            </Button>
          )}
        </Group>
        <Refused>{rest}</Refused>
      </Stack>
    </form>
  );
}
