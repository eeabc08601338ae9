/** One private network: how to set it up and where one stands, what its relay does now, who is in, and what can be changed. */
import { Button } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useParams } from 'wouter';
import { useMay } from '../../api/context.tsx';
import { DetailPage } from '../../parts/detail-page.tsx';
import { Page } from '../../parts/page.tsx';
import { DeleteNetwork } from './delete-network.tsx';
import { DevicesPanel } from './devices-panel.tsx';
import { EditNetwork } from './edit-network.tsx';
import { GuidePanel } from './guide-panel.tsx';
import { useNetwork } from './network-queries.ts';
import type { Network } from './network-labels.ts';
import { OnlyHere } from './only-here.tsx';
import { RelayPanel } from './relay-panel.tsx';

export function NetworkPage() {
  const { id = '' } = useParams();
  return (
    <DetailPage query={useNetwork(id)} title="Private network" list="/networks">
      {(network) => <Shown key={id} network={network} />}
    </DetailPage>
  );
}

function Shown({ network }: { readonly network: Network }) {
  const mayChange = useMay('member');
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const close = (): void => setDialog(undefined);
  return (
    <Page
      title={network.name}
      about={
        <>
          Private network <span className="culvert-mono">{network.cidr}</span>
        </>
      }
      actions={
        mayChange && (
          <>
            <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setDialog('edit')}>
              Edit
            </Button>
            <Button
              variant="default"
              c="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} />}
              onClick={() => setDialog('delete')}
            >
              Delete
            </Button>
          </>
        )
      }
    >
      <OnlyHere network={network} />
      <GuidePanel network={network} />
      {network.reserved_udp_port !== null && <RelayPanel network={network} />}
      {network.server_public_key !== null && <DevicesPanel network={network} />}
      <EditNetwork network={network} opened={dialog === 'edit'} onClose={close} />
      <DeleteNetwork network={network} opened={dialog === 'delete'} onClose={close} />
    </Page>
  );
}
