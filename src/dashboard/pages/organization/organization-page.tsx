/** The active organization: name, facts, all organizations of the user, and deletion. */
import { Anchor, Button, SimpleGrid } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { answered } from '../../api/client.ts';
import { useAccount, useApi, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { Fact } from '../../parts/fact.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { NameForm } from '../../parts/forms/name-form.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { PLAN_NAMES } from '../billing/plans.ts';
import { ROLE_NAMES, roleOf } from '../members/roles.ts';
import { ApprovalBadge } from './approval-badge.tsx';
import { DeletePanel } from './delete-panel.tsx';
import { NewDialog, OrgsPanel } from './orgs-panel.tsx';

export function OrganizationPage() {
  const { client } = useApi();
  const { id } = useAccount().active_org;
  const [making, { open, close }] = useDisclosure(false);
  const orgs = useQuery({
    queryKey: ['orgs'],
    queryFn: ({ signal }) => answered(client.GET('/orgs', { signal })),
  });
  return (
    <Page
      title="Organization"
      about="Members of an organization share its tunnels, keys, domains and networks."
      actions={
        <Button variant="default" leftSection={<IconPlus size={16} />} onClick={open}>
          New organization
        </Button>
      }
    >
      <Loaded query={orgs}>
        {(all) => {
          const active = all.find((org) => org.id === id);
          return (
            <>
              {active !== undefined && <AboutPanel key={`${active.id} ${active.name}`} org={active} />}
              {all.length > 1 && <OrgsPanel orgs={all} />}
              {active !== undefined && <DeletePanel org={active} isOnlyOne={all.length === 1} />}
            </>
          );
        }}
      </Loaded>
      <NewDialog opened={making} onClose={close} />
    </Page>
  );
}

type Organization = Schemas['Organization'];

/** Name and facts of the active organization. */
function AboutPanel({ org }: { readonly org: Organization }) {
  const { client } = useApi();
  const mayRename = useMay('admin');
  const { billing_mode: mode } = useAccount();
  return (
    <Panel title="About">
      <NameForm
        name={org.name}
        action="Rename"
        description={mayRename ? 'The slug does not change.' : 'Admins and owners can change the name.'}
        run={
          mayRename
            ? (body) => answered(client.PATCH('/orgs/{id}', { params: { path: { id: org.id } }, body }))
            : undefined
        }
        read={() => answered(client.GET('/orgs/{id}', { params: { path: { id: org.id } } }))}
        done={({ name }) => `Renamed to ${name}.`}
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
          {mode === 'none' ? (
            PLAN_NAMES[org.plan]
          ) : (
            <Anchor component={Link} href="/billing" size="sm" underline="always">
              {PLAN_NAMES[org.plan]}
            </Anchor>
          )}
        </Fact>
        <Fact title="Your role">{ROLE_NAMES[roleOf(org.role)]}</Fact>
        <Fact title="Created">
          <Ago at={org.created_at} />
        </Fact>
      </SimpleGrid>
    </Panel>
  );
}
