/** The active organization: its name, the others of the person, and its end. */
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { AboutPanel } from './about-panel.tsx';
import { DeletePanel } from './delete-panel.tsx';
import { NewDialog } from './new-dialog.tsx';
import { OrgsPanel } from './orgs-panel.tsx';

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
      about="Tunnels, keys, domains and networks belong to an organization, and are shared with its members."
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
