/** Name and facts of the active organization. */
import { Anchor, SimpleGrid } from '@mantine/core';
import { Link } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { Fact } from '../../parts/fact.tsx';
import { NameForm } from '../../parts/name-form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { PLAN_NAMES } from '../billing/plans.ts';
import { ROLE_NAMES, roleOf } from '../members/roles.ts';
import { ApprovalBadge } from './approval-badge.tsx';

type Organization = Schemas['Organization'];

export function AboutPanel({ org }: { readonly org: Organization }) {
  const { client } = useApi();
  const mayRename = useMay('admin');
  return (
    <Panel title="About">
      <NameForm
        name={org.name}
        action="Rename"
        description={mayRename ? 'The slug stays as it is.' : 'Admins and owners can change it.'}
        run={
          mayRename
            ? (body) => answered(client.PATCH('/orgs/{id}', { params: { path: { id: org.id } }, body }))
            : undefined
        }
        done={(_, { name }) => `It is called ${name} now.`}
        touches={[['orgs'], ['me']]}
      />
      <SimpleGrid cols={{ base: 2, sm: 3, md: 5 }} spacing="md" mt="xs">
        <Fact title="Slug">
          <span className="culvert-mono">{org.slug}</span>
        </Fact>
        <Fact title="Status">
          <ApprovalBadge status={org.approval_status} />
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
